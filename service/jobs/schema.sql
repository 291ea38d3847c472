-- Jobs, their questions and answers. What is graded stands in the ledger; here are only the ids of
-- its Judgements. A text that came with a job is deleted as soon as its answer is settled.
CREATE TABLE job (
    job_id     TEXT PRIMARY KEY,
    created_by TEXT,
    digest     BLOB NOT NULL,
    state      TEXT NOT NULL,
    created_at TEXT NOT NULL,
    started_at TEXT,
    ended_at   TEXT,
    rate       REAL,
    problem    TEXT
) STRICT;

CREATE TABLE job_question (
    job_id   TEXT NOT NULL REFERENCES job (job_id) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    exam_id  TEXT NOT NULL,
    question TEXT NOT NULL,
    PRIMARY KEY (job_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE item (
    job_id        TEXT NOT NULL,
    position      INTEGER NOT NULL,
    number        INTEGER NOT NULL,
    answer_id     TEXT NOT NULL,
    student_id    TEXT NOT NULL,
    attack_type   TEXT NOT NULL,
    text          TEXT,
    submission_id TEXT,
    state         TEXT NOT NULL DEFAULT 'waiting',
    tries         INTEGER NOT NULL DEFAULT 0,
    baseline_id   TEXT,
    filtered_id   TEXT,
    reason        TEXT,
    detail        TEXT,
    PRIMARY KEY (job_id, position),
    FOREIGN KEY (job_id, number) REFERENCES job_question (job_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX items_by_state ON item (job_id, state, number, reason);
