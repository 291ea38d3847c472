// Which answers have a newer grade than the one that counts?
//
// One row for every answer whose newest guarded grade is another one than its grade of record and
// has another score: a regrade never moves the grade of record, only a publication does.
//
// Parameters and their defaults:
// :param exam_id => ''

MATCH (answer:Answer)-[:GRADE_OF_RECORD]->(record:Judgement)
WHERE $exam_id = '' OR answer.exam_id = $exam_id
MATCH (answer)<-[:OF]-(:Submission)<-[:JUDGES]-(filtered:Judgement)
WHERE filtered.stage = 'filtered' AND filtered.attack_type = record.attack_type
WITH record, collect(filtered) AS grades
WITH record,
     reduce(newest = record, grade IN grades |
       CASE WHEN grade.created_at > newest.created_at
                OR grade.created_at = newest.created_at
                   AND grade.judgement_id < newest.judgement_id
           THEN grade ELSE newest END
     ) AS newest
WHERE newest.judgement_id <> record.judgement_id
  AND coalesce(
    newest.predicted_score <> record.predicted_score,
    newest.predicted_score IS NOT NULL OR record.predicted_score IS NOT NULL
  )
RETURN record.exam_id AS exam_id,
       record.question_id AS question_id,
       record.answer_id AS answer_id,
       record.student_id AS student_id,
       record.predicted_score AS score_of_record,
       newest.predicted_score AS newest_score,
       newest.predicted_score - record.predicted_score AS difference,
       record.model_fingerprint AS model_of_record,
       newest.model_fingerprint AS newest_model,
       record.judgement_id AS record_id,
       newest.judgement_id AS newest_id
ORDER BY exam_id, question_id, answer_id
