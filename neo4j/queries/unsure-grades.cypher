// Of which grades was the model itself unsure?
//
// One row for every guarded grade whose own score had a probability of at most max_probability,
// the least sure first; expected_score is the mean over all scores that the model weighed. Grades
// whose engine gives no probabilities are not here. `most` bounds the rows.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param max_probability => 0.4
// :param most => 1000

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filtered:Judgement {exam_id: exam.exam_id, stage: 'filtered'})
WHERE filtered.predicted_score IS NOT NULL
  AND filtered.probabilities IS NOT NULL
WITH filtered.exam_id AS exam_id,
     filtered.question_id AS question_id,
     filtered.answer_id AS answer_id,
     filtered.student_id AS student_id,
     filtered.attack_type AS attack_type,
     filtered.predicted_score AS predicted_score,
     filtered.expected_score AS expected_score,
     filtered.probability_scores AS scores,
     filtered.probabilities AS probabilities,
     filtered.judgement_id AS judgement_id
WITH exam_id, question_id, answer_id, student_id, attack_type, predicted_score, expected_score,
     scores, probabilities, judgement_id,
     [place IN range(0, size(scores) - 1)
      WHERE scores[place] = predicted_score | probabilities[place]] AS own
WITH exam_id, question_id, answer_id, student_id, attack_type, predicted_score, expected_score,
     scores, probabilities, judgement_id, own[0] AS probability
WHERE probability <= $max_probability
RETURN exam_id, question_id, answer_id, student_id, attack_type, predicted_score,
       probability, expected_score, scores, probabilities, judgement_id
ORDER BY probability, exam_id, question_id, answer_id, attack_type, judgement_id
LIMIT $most
