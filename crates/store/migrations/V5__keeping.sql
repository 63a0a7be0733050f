-- What models keep. A workspace is the real path of its folder; moments are microseconds since
-- 1970, UTC. Order is that of ids, whatever clocks say.

-- Values by key.
CREATE TABLE memory (
    id        INTEGER PRIMARY KEY,
    workspace BLOB NOT NULL,
    key       TEXT NOT NULL,
    bytes     INTEGER NOT NULL, -- how many the value has
    changed   INTEGER NOT NULL,
    value     TEXT NOT NULL,
    UNIQUE (workspace, key)
) STRICT;

-- Single lines. Those of the user, which hold everywhere, have an empty workspace.
CREATE TABLE facts (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace BLOB NOT NULL,
    fact      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    UNIQUE (workspace, fact)
) STRICT;

-- Lists of things to do, and the number the next thing gets.
CREATE TABLE todo_lists (
    id        INTEGER PRIMARY KEY,
    workspace BLOB NOT NULL,
    owner     TEXT NOT NULL, -- empty for the workspace's own, `session:ID` for a session's
    next      INTEGER NOT NULL,
    UNIQUE (workspace, owner)
) STRICT;

CREATE TABLE todos (
    list        INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    task        TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed')),
    active_form TEXT,
    created     INTEGER NOT NULL,
    PRIMARY KEY (list, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE goals (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace   BLOB NOT NULL,
    title       TEXT NOT NULL,
    description TEXT,
    criteria    TEXT NOT NULL, -- a JSON array of texts
    status      TEXT NOT NULL CHECK (status IN ('active', 'paused', 'completed')),
    summary     TEXT,
    session     TEXT NOT NULL, -- the one that added it
    created     INTEGER NOT NULL,
    changed     INTEGER NOT NULL
) STRICT;

CREATE INDEX goals_workspace ON goals (workspace);
CREATE UNIQUE INDEX goals_active ON goals (workspace) WHERE status = 'active';

-- Points on the way to a goal; `checkpoints` has what an undo needs.
CREATE TABLE goal_checkpoints (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    goal        INTEGER NOT NULL,
    name        TEXT NOT NULL,
    description TEXT,
    at          INTEGER NOT NULL
) STRICT;

CREATE INDEX goal_checkpoints_goal ON goal_checkpoints (goal);

CREATE TABLE decisions (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    goal         INTEGER NOT NULL,
    decision     TEXT NOT NULL,
    rationale    TEXT,
    alternatives TEXT NOT NULL, -- a JSON array of texts
    at           INTEGER NOT NULL
) STRICT;

CREATE INDEX decisions_goal ON decisions (goal);

-- What models thought, by session.
CREATE TABLE reasoning (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace BLOB NOT NULL,
    session   TEXT NOT NULL,
    at        INTEGER NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('thought', 'decision')),
    text      TEXT NOT NULL
) STRICT;

CREATE INDEX reasoning_session ON reasoning (session, workspace);
