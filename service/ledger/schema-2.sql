-- The first Judgement of each result, so that the same model is not asked the same again. The key
-- is a hash of texts: whoever erases those of a Judgement deletes its row here.
CREATE TABLE result (
    key          BLOB PRIMARY KEY,
    judgement_id TEXT NOT NULL REFERENCES judgement (judgement_id)
) STRICT, WITHOUT ROWID;
