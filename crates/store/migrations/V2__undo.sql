-- Calls whose changes are kept, in the order they began.
CREATE TABLE watches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    call TEXT NOT NULL,
    session TEXT NOT NULL,
    -- Milliseconds since 1970.
    at INTEGER NOT NULL,
    -- The folders of the workspace, separated by NUL.
    roots BLOB NOT NULL,
    -- The folders that are compared, the same way; NULL when single files are.
    folders BLOB,
    -- The content that tells how they were before, until they are compared.
    manifest TEXT,
    -- Who runs the call, until it is over.
    runner TEXT,
    -- Whether this took back other calls.
    is_undo INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX watches_by_call ON watches (call);
CREATE INDEX watches_by_session ON watches (session);

-- What each of them changed; versions in JSON, NULL where nothing stood.
CREATE TABLE changes (
    watch INTEGER NOT NULL,
    path BLOB NOT NULL,
    before TEXT,
    after TEXT,
    PRIMARY KEY (watch, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_by_path ON changes (path);

-- What was taken back by what. What takes back can be taken back itself.
CREATE TABLE undone (
    watch INTEGER NOT NULL,
    by INTEGER NOT NULL,
    PRIMARY KEY (watch, by)
) STRICT, WITHOUT ROWID;

-- Hashes of files that did not change since.
CREATE TABLE stamps (
    path BLOB PRIMARY KEY,
    stamp TEXT NOT NULL,
    hash TEXT NOT NULL,
    used INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Named points between calls of a workspace.
CREATE TABLE checkpoints (
    root BLOB NOT NULL,
    name TEXT NOT NULL,
    watch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (root, name)
) STRICT, WITHOUT ROWID;
