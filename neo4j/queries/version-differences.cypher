// Which texts did another version grade differently?
//
// One row for every two guarded grades that one text got one after the other and that are at least
// min_difference points apart, or of which only one has a score: both scores, and what changed in
// between.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param min_difference => 1

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (grade:Judgement {exam_id: exam.exam_id, stage: 'filtered'})-[:JUDGES]->(submission:Submission)
WITH submission, collect({
       score: grade.predicted_score,
       created_at: grade.created_at,
       judgement_id: grade.judgement_id
     }) AS grades
WHERE size(grades) > 1
UNWIND grades AS grade
WITH submission, grade ORDER BY grade.created_at, grade.judgement_id
WITH submission, collect(grade) AS grades
UNWIND range(1, size(grades) - 1) AS place
WITH submission, grades[place - 1] AS one, grades[place] AS next
WHERE coalesce(
  abs(next.score - one.score) >= $min_difference,
  next.score IS NOT NULL OR one.score IS NOT NULL
)
MATCH (older:Judgement {judgement_id: one.judgement_id})
MATCH (newer:Judgement {judgement_id: next.judgement_id})
MATCH (older)-[:BASED_ON]->(older_filter:Judgement)
MATCH (newer)-[:BASED_ON]->(newer_filter:Judgement)
RETURN submission.exam_id AS exam_id,
       submission.question_id AS question_id,
       submission.answer_id AS answer_id,
       submission.student_id AS student_id,
       submission.attack_type AS attack_type,
       older.predicted_score AS older_score,
       newer.predicted_score AS newer_score,
       newer.predicted_score - older.predicted_score AS difference,
       CASE WHEN older.model_fingerprint <> newer.model_fingerprint THEN ['model'] ELSE [] END
       + CASE WHEN older.prompt_version <> newer.prompt_version THEN ['prompt_version'] ELSE [] END
       + CASE WHEN older.decoding <> newer.decoding THEN ['decoding'] ELSE [] END
       + CASE WHEN older_filter.model_fingerprint <> newer_filter.model_fingerprint
                OR older_filter.prompt_version <> newer_filter.prompt_version
                OR older_filter.decoding <> newer_filter.decoding
              THEN ['filter'] ELSE [] END
       + CASE WHEN older.prompt <> newer.prompt THEN ['prompt'] ELSE [] END AS changed,
       older.created_at AS older_made,
       newer.created_at AS newer_made,
       older.judgement_id AS older_id,
       newer.judgement_id AS newer_id
ORDER BY abs(difference) DESC, exam_id, question_id, answer_id, attack_type, newer_made, newer_id
