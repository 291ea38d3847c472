// Whose raw answer got more points than the filtered one?
//
// One row for every pair of grades from one run whose unguarded score is at least min_difference
// points above the guarded one: what an injection would have won, and the text that the filter
// took out. The largest differences come first; `most` bounds the rows.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param min_difference => 2
// :param most => 1000

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filtered:Judgement {exam_id: exam.exam_id, stage: 'filtered'})
MATCH (filtered)-[:JUDGES]->(:Submission)<-[:JUDGES]-(baseline:Judgement {stage: 'baseline'})
WHERE baseline.predicted_score - filtered.predicted_score >= $min_difference
MATCH (filtered)<-[:INCLUDES]-(run:Run)
MATCH (baseline)<-[:INCLUDES]-(run_of_baseline:Run)
WHERE run_of_baseline = run
WITH DISTINCT filtered.exam_id AS exam_id,
     filtered.question_id AS question_id,
     filtered.answer_id AS answer_id,
     filtered.student_id AS student_id,
     filtered.attack_type AS attack_type,
     baseline.predicted_score AS baseline_score,
     filtered.predicted_score AS filtered_score,
     baseline.predicted_score - filtered.predicted_score AS difference,
     filtered.max_points AS max_points,
     baseline.judgement_id AS baseline_id,
     filtered.judgement_id AS judgement_id
ORDER BY difference DESC, exam_id, question_id, answer_id, attack_type, judgement_id
LIMIT $most
MATCH (:Judgement {judgement_id: judgement_id})-[:BASED_ON]->(filter:Judgement)
RETURN exam_id, question_id, answer_id, student_id, attack_type,
       baseline_score, filtered_score, difference, max_points,
       filter.removed_texts AS removed,
       judgement_id
ORDER BY difference DESC, exam_id, question_id, answer_id, attack_type, judgement_id
