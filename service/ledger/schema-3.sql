-- What a person may ask to erase is bound into the chain by `texts_hash`, a keyed hash under the
-- answer's salt. Erasing sets texts to NULL and deletes the salt; the hash stays and says nothing.
ALTER TABLE submission ADD COLUMN texts_hash BLOB;
ALTER TABLE judgement ADD COLUMN texts_hash BLOB;

-- The text for the same answer that came before.
ALTER TABLE submission ADD COLUMN previous TEXT REFERENCES submission (submission_id);

-- A decision to let the grades of a run count.
CREATE TABLE publication (
    row            INTEGER PRIMARY KEY,
    publication_id TEXT NOT NULL UNIQUE,
    run_id         TEXT NOT NULL REFERENCES run (run_id),
    published_by   TEXT NOT NULL,
    reason         TEXT NOT NULL,
    published_at   TEXT NOT NULL
) STRICT;

-- The Judgement that counts for an answer: the newest row of the answer.
CREATE TABLE grade_of_record (
    row            INTEGER PRIMARY KEY,
    publication_id TEXT NOT NULL REFERENCES publication (publication_id),
    exam_id        TEXT NOT NULL,
    answer_id      TEXT NOT NULL,
    judgement_id   TEXT NOT NULL REFERENCES judgement (judgement_id),
    UNIQUE (publication_id, exam_id, answer_id),
    FOREIGN KEY (exam_id, answer_id) REFERENCES answer (exam_id, answer_id)
) STRICT;
CREATE INDEX grades_of_answer ON grade_of_record (answer_id, exam_id);

-- All texts of an answer that were there at that time are gone.
CREATE TABLE erasure (
    row       INTEGER PRIMARY KEY,
    exam_id   TEXT NOT NULL,
    answer_id TEXT NOT NULL,
    erased_by TEXT NOT NULL,
    reason    TEXT NOT NULL,
    erased_at TEXT NOT NULL,
    FOREIGN KEY (exam_id, answer_id) REFERENCES answer (exam_id, answer_id)
) STRICT;

CREATE INDEX answers_of_student ON answer (student_id, exam_id);

-- `hash` is that of the row before, of `seq`, and of all that is kept of the record.
ALTER TABLE log RENAME TO unchained_log;
CREATE TABLE log (
    seq  INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    row  INTEGER NOT NULL,
    hash BLOB NOT NULL,
    UNIQUE (kind, row)
) STRICT;
