// Which answers never were filtered?
//
// One row for every text that no filter ever read, with the stages that did happen and the score
// of the raw text where there is one: nothing guards such a score.
//
// Parameters and their defaults:
// :param exam_id => ''

MATCH (submission:Submission)
WHERE $exam_id = '' OR submission.exam_id = $exam_id
OPTIONAL MATCH (submission)<-[:JUDGES]-(judgement:Judgement)
WITH submission,
     collect(DISTINCT judgement.stage) AS stages,
     max(CASE judgement.stage WHEN 'baseline' THEN judgement.predicted_score END) AS baseline_score
WHERE NOT 'filter' IN stages
RETURN submission.exam_id AS exam_id,
       submission.question_id AS question_id,
       submission.answer_id AS answer_id,
       submission.student_id AS student_id,
       submission.attack_type AS attack_type,
       stages,
       baseline_score,
       submission.received_at AS received_at,
       submission.submission_id AS submission_id
ORDER BY exam_id, question_id, answer_id, received_at, submission_id
