-- Questions to a person, and their answers. What was asked is forgotten once it is settled.
CREATE TABLE approvals (
    id          TEXT NOT NULL PRIMARY KEY,
    run         TEXT NOT NULL,    -- the run of the process that waits
    request     TEXT NOT NULL,    -- a JSON object
    asked_at    INTEGER NOT NULL, -- microseconds since 1970, UTC
    expires_at  INTEGER,
    answer      TEXT,             -- a JSON object, once there is one
    answered_by TEXT,             -- once it is settled
    settled_at  INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX approvals_waiting ON approvals (run) WHERE settled_at IS NULL;

-- Rules people gave for a session, some minutes or some uses.
CREATE TABLE grants (
    id          TEXT NOT NULL PRIMARY KEY,
    session     TEXT NOT NULL,
    workspace   TEXT NOT NULL,    -- as the question showed it
    permissions TEXT NOT NULL,    -- a JSON array, as a policy file has them
    expires     INTEGER,          -- seconds since 1970
    uses        INTEGER,          -- how many are left
    given_at    INTEGER NOT NULL, -- microseconds since 1970, UTC
    given_for   TEXT NOT NULL     -- the call it was given for, in words
) STRICT, WITHOUT ROWID;

CREATE INDEX grants_session ON grants (session);
