// Whose raw answer got more points than the filtered one?
//
// One row for every pair of grades from one run whose unguarded score is at least min_difference
// points above the guarded one: what an injection would have won, and the text that the filter
// took out.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param min_difference => 2

MATCH (filtered:Judgement {stage: 'filtered'})-[:JUDGES]->(submission:Submission)
      <-[:JUDGES]-(baseline:Judgement)
WHERE ($exam_id = '' OR filtered.exam_id = $exam_id)
  AND baseline.predicted_score - filtered.predicted_score >= $min_difference
  AND baseline.stage = 'baseline'
MATCH (filtered)-[:BASED_ON]->(filter:Judgement)
MATCH (baseline)<-[:INCLUDES]-(run:Run)
WITH submission, baseline, filtered, filter, collect(run.run_id) AS baseline_runs
MATCH (filtered)<-[:INCLUDES]-(run:Run)
WHERE run.run_id IN baseline_runs
WITH DISTINCT submission, baseline, filtered, filter
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
