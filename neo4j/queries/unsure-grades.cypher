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

MATCH (filtered:Judgement {stage: 'filtered'})
WHERE ($exam_id = '' OR filtered.exam_id = $exam_id)
  AND filtered.predicted_score IS NOT NULL
  AND filtered.probabilities IS NOT NULL
WITH filtered,
     [place IN range(0, size(filtered.probabilities) - 1)
      WHERE filtered.probability_scores[place] = filtered.predicted_score
      | filtered.probabilities[place]] AS own
WITH filtered, own[0] AS probability
WHERE probability <= $max_probability
RETURN filtered.exam_id AS exam_id,
       filtered.question_id AS question_id,
       filtered.answer_id AS answer_id,
       filtered.student_id AS student_id,
       filtered.attack_type AS attack_type,
       filtered.predicted_score AS predicted_score,
       probability,
       filtered.expected_score AS expected_score,
       filtered.probability_scores AS scores,
       filtered.probabilities AS probabilities,
       filtered.judgement_id AS judgement_id
ORDER BY probability, exam_id, question_id, answer_id, attack_type, judgement_id
LIMIT $most
