// Which answers have a newer grade than the one that counts?
//
// One row for every answer whose newest guarded grade is another one than its grade of record and
// has another score: a regrade never moves the grade of record, only a publication does.
//
// Parameters and their defaults:
// :param exam_id => ''

MATCH (answer:Answer)
WHERE $exam_id = '' OR answer.exam_id = $exam_id
MATCH (answer)-[:GRADE_OF_RECORD]->(counting:Judgement)
WITH answer, counting.attack_type AS attack_type, {
       score: counting.predicted_score,
       created_at: counting.created_at,
       judgement_id: counting.judgement_id
     } AS of_record
MATCH (answer)<-[:OF]-(:Submission)<-[:JUDGES]-(filtered:Judgement {stage: 'filtered'})
WHERE filtered.attack_type = attack_type
WITH of_record, collect({
       score: filtered.predicted_score,
       created_at: filtered.created_at,
       judgement_id: filtered.judgement_id
     }) AS grades
WITH of_record,
     reduce(newest = of_record, grade IN grades |
       CASE WHEN grade.created_at > newest.created_at
                OR grade.created_at = newest.created_at
                   AND grade.judgement_id < newest.judgement_id
           THEN grade ELSE newest END
     ) AS latest
WHERE latest.judgement_id <> of_record.judgement_id
  AND coalesce(
    latest.score <> of_record.score,
    latest.score IS NOT NULL OR of_record.score IS NOT NULL
  )
MATCH (record:Judgement {judgement_id: of_record.judgement_id})
MATCH (newest:Judgement {judgement_id: latest.judgement_id})
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
