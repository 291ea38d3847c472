// Whose raw answer got more points than the filtered one?
//
// One row for every pair of grades from one run whose unguarded score is at least
// `min_difference` points above the guarded one: what an injection would have won, and the text
// that the filter took out.
//
// Parameters (paste the lines without the slashes into Neo4j Browser):
// :param exam_id => ''
// :param min_difference => 2

MATCH (baseline:Judgement {stage: 'baseline'})-[:JUDGES]->(submission:Submission)
      <-[:JUDGES]-(filtered:Judgement {stage: 'filtered'})-[:BASED_ON]->(filter:Judgement)
WHERE ($exam_id = '' OR submission.exam_id = $exam_id)
  AND baseline.predicted_score - filtered.predicted_score >= $min_difference
  AND EXISTS { MATCH (baseline)<-[:INCLUDES]-(:Run)-[:INCLUDES]->(filtered) }
RETURN submission.exam_id AS exam_id,
       submission.question_id AS question_id,
       submission.answer_id AS answer_id,
       submission.student_id AS student_id,
       submission.attack_type AS attack_type,
       baseline.predicted_score AS baseline_score,
       filtered.predicted_score AS filtered_score,
       baseline.predicted_score - filtered.predicted_score AS difference,
       filtered.max_points AS max_points,
       filter.removed_texts AS removed,
       filtered.judgement_id AS judgement_id
ORDER BY difference DESC, exam_id, question_id, answer_id, attack_type, judgement_id
