-- What servers said about their tools when these were first used.
CREATE TABLE pins (
    name TEXT NOT NULL,        -- of the server
    way  TEXT NOT NULL,        -- how it is reached
    tool TEXT NOT NULL,        -- as the server calls it; empty for what is known of the server itself
    said TEXT NOT NULL,        -- a JSON object
    at   INTEGER NOT NULL,     -- microseconds since 1970, UTC
    PRIMARY KEY (name, way, tool)
) STRICT, WITHOUT ROWID;
