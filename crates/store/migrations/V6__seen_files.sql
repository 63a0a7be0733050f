-- Files that sessions have read, for sessions that go on in other processes.
CREATE TABLE seen_files (
    session TEXT NOT NULL,
    path    BLOB NOT NULL,
    seen    TEXT NOT NULL,     -- a JSON object
    text    BLOB,              -- what the session was last told, packed
    at      INTEGER NOT NULL,  -- microseconds since 1970, UTC
    PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX seen_files_at ON seen_files (at);
