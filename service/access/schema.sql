CREATE TABLE api_key (
    prefix TEXT PRIMARY KEY,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    name TEXT NOT NULL,
    roles TEXT NOT NULL CHECK (json_array_length(roles) > 0),
    exams TEXT CHECK (exams IS NULL OR json_array_length(exams) > 0),
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    revoked_at TEXT
) STRICT
