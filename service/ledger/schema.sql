-- The ledger: rows are only ever added. Names of the exam world are the keys; `row` numbers a
-- table's records, and `log` puts the records of all tables into the one order in which they
-- were written. Texts that a person may ask to erase stand in columns of their own that may
-- become NULL; nothing is derived from them but the salted ids and the keys of `result`.

-- A graph remembers by this name how far it has read.
CREATE TABLE ledger (
    ledger_id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
INSERT INTO ledger VALUES (lower(hex(randomblob(16))));

CREATE TABLE question (
    exam_id     TEXT NOT NULL,
    question_id TEXT NOT NULL,
    PRIMARY KEY (exam_id, question_id)
) STRICT, WITHOUT ROWID;

-- A version that only came with an answer is not `registered`: it never speaks for the question.
CREATE TABLE question_version (
    row         INTEGER PRIMARY KEY,
    registered  INTEGER NOT NULL,
    exam_id     TEXT NOT NULL,
    question_id TEXT NOT NULL,
    domain      TEXT NOT NULL,
    text        TEXT NOT NULL,
    gold_answer TEXT NOT NULL,
    rubric      TEXT NOT NULL,
    gold_type   TEXT NOT NULL,
    min_score   REAL NOT NULL,
    max_points  REAL NOT NULL,
    step        REAL NOT NULL,
    FOREIGN KEY (exam_id, question_id) REFERENCES question (exam_id, question_id)
) STRICT;
CREATE INDEX versions_of_question ON question_version (exam_id, question_id);

CREATE TABLE criterion (
    version  INTEGER NOT NULL REFERENCES question_version (row),
    position INTEGER NOT NULL,
    text     TEXT NOT NULL,
    weight   INTEGER NOT NULL,
    PRIMARY KEY (version, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE misconception (
    version  INTEGER NOT NULL REFERENCES question_version (row),
    position INTEGER NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (version, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE answer (
    exam_id     TEXT NOT NULL,
    answer_id   TEXT NOT NULL,
    question_id TEXT NOT NULL,
    student_id  TEXT NOT NULL,
    PRIMARY KEY (exam_id, answer_id),
    FOREIGN KEY (exam_id, question_id) REFERENCES question (exam_id, question_id)
) STRICT, WITHOUT ROWID;

-- Without its salt, nobody can tell which text an id of the answer was made from.
CREATE TABLE salt (
    exam_id   TEXT NOT NULL,
    answer_id TEXT NOT NULL,
    salt      BLOB NOT NULL,
    PRIMARY KEY (exam_id, answer_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE rating (
    row       INTEGER PRIMARY KEY,
    exam_id   TEXT NOT NULL,
    answer_id TEXT NOT NULL,
    rater     TEXT NOT NULL,
    score     REAL NOT NULL,
    FOREIGN KEY (exam_id, answer_id) REFERENCES answer (exam_id, answer_id)
) STRICT;
CREATE INDEX ratings_of_answer ON rating (exam_id, answer_id, rater);

CREATE TABLE submission (
    row           INTEGER PRIMARY KEY,
    submission_id TEXT NOT NULL UNIQUE,
    exam_id       TEXT NOT NULL,
    answer_id     TEXT NOT NULL,
    attack_type   TEXT NOT NULL,
    text          TEXT,
    received_at   TEXT NOT NULL,
    FOREIGN KEY (exam_id, answer_id) REFERENCES answer (exam_id, answer_id)
) STRICT;
CREATE INDEX submissions_of_answer ON submission (answer_id, exam_id);

CREATE TABLE judgement (
    row                 INTEGER PRIMARY KEY,
    judgement_id        TEXT NOT NULL UNIQUE,
    submission_id       TEXT NOT NULL REFERENCES submission (submission_id),
    stage               TEXT NOT NULL,
    prompt              TEXT,
    raw_output          TEXT,
    justification       TEXT,
    cleaned_answer      TEXT,
    finish_reason       TEXT NOT NULL,
    min_score           REAL NOT NULL,
    max_points          REAL NOT NULL,
    step                REAL NOT NULL,
    model_fingerprint   TEXT NOT NULL,
    prompt_version      TEXT NOT NULL,
    decoding            TEXT NOT NULL,
    created_at          TEXT NOT NULL,
    latency_ms          REAL NOT NULL,
    predicted_score     REAL,
    raw_score           TEXT,
    score_source        TEXT,
    expected_score      REAL,
    score_probabilities TEXT,
    filter_stable       INTEGER,
    reused_from         TEXT,
    based_on            TEXT REFERENCES judgement (judgement_id)
) STRICT;
CREATE INDEX judgements_of_submission ON judgement (submission_id);

CREATE TABLE removed_span (
    judgement_id TEXT NOT NULL REFERENCES judgement (judgement_id),
    position     INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    end_offset   INTEGER NOT NULL,
    text         TEXT,
    confidence   REAL NOT NULL,
    PRIMARY KEY (judgement_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    row        INTEGER PRIMARY KEY,
    run_id     TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    pipeline   TEXT NOT NULL,
    started_at TEXT NOT NULL
) STRICT;

CREATE TABLE inclusion (
    row          INTEGER PRIMARY KEY,
    run_id       TEXT NOT NULL REFERENCES run (run_id),
    judgement_id TEXT NOT NULL REFERENCES judgement (judgement_id),
    UNIQUE (run_id, judgement_id)
) STRICT;

CREATE TABLE log (
    seq  INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    row  INTEGER NOT NULL,
    UNIQUE (kind, row)
) STRICT;
