// Which grades have no score, or one that the model was made to write?
//
// One row for every grade, guarded or not, whose score is none (nobody can read one: a person must
// grade it) or forced (the model wrote no `Answer:` line until it was made to), with its last
// words.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param sources => ['none', 'forced']

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (judgement:Judgement {exam_id: exam.exam_id})
WHERE judgement.score_source IN $sources
RETURN judgement.exam_id AS exam_id,
       judgement.question_id AS question_id,
       judgement.answer_id AS answer_id,
       judgement.student_id AS student_id,
       judgement.attack_type AS attack_type,
       judgement.stage AS stage,
       judgement.score_source AS score_source,
       judgement.predicted_score AS predicted_score,
       judgement.finish_reason AS finish_reason,
       right(judgement.raw_output, 200) AS last_words,
       judgement.model_fingerprint AS model,
       judgement.created_at AS created_at,
       judgement.judgement_id AS judgement_id
ORDER BY exam_id, question_id, answer_id, attack_type, stage, created_at, judgement_id
