-- What happened, in order. `hash` covers the hash of the entry before and every other column.
CREATE TABLE entries (
    seq     INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL, -- microseconds since 1970, UTC
    session TEXT NOT NULL,
    call    TEXT,
    kind    TEXT NOT NULL,
    tool    TEXT,
    body    TEXT NOT NULL,    -- a JSON object, keys sorted
    hash    BLOB NOT NULL
) STRICT;

CREATE INDEX entries_call ON entries (call) WHERE call IS NOT NULL;

-- Calls that were requested and have not ended, and the run of a process that answers for them.
CREATE TABLE open_calls (
    run     TEXT NOT NULL,
    session TEXT NOT NULL,
    call    TEXT NOT NULL,
    tool    TEXT,
    started INTEGER NOT NULL,
    PRIMARY KEY (run, session, call)
) STRICT, WITHOUT ROWID;
