// Which grades must a person look at?
//
// One row for every guarded grade without a score, or whose score was forced because the model
// wrote no `Answer:` line.
//
// Parameters (paste the lines without the slashes into Neo4j Browser):
// :param exam_id => ''

MATCH (filtered:Judgement {stage: 'filtered'})-[:JUDGES]->(submission:Submission)
WHERE ($exam_id = '' OR submission.exam_id = $exam_id)
  AND (filtered.predicted_score IS NULL OR filtered.score_source = 'forced')
RETURN submission.exam_id AS exam_id,
       submission.question_id AS question_id,
       submission.answer_id AS answer_id,
       submission.student_id AS student_id,
       submission.attack_type AS attack_type,
       CASE WHEN filtered.predicted_score IS NULL THEN 'no score' ELSE 'forced score' END AS reason,
       filtered.predicted_score AS predicted_score,
       filtered.raw_score AS raw_score,
       filtered.finish_reason AS finish_reason,
       filtered.raw_output AS raw_output,
       filtered.created_at AS created_at,
       filtered.judgement_id AS judgement_id
ORDER BY reason DESC, exam_id, question_id, answer_id, attack_type, created_at, judgement_id
