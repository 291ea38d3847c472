// From which students' answers was text removed again and again?
//
// One row for every student with removed text in at least min_answers answers, and the removed
// texts. A removed text is what a filter took for an attack, not proof of one: read it first.
// Experiments are left out unless attack_type names one ('' for all).
//
// Parameters and their defaults:
// :param exam_id => ''
// :param attack_type => 'unlabelled'
// :param min_answers => 2

MATCH (filter:Judgement {stage: 'filter'})
WHERE ($exam_id = '' OR filter.exam_id = $exam_id)
  AND ($attack_type = '' OR filter.attack_type = $attack_type)
  AND size(filter.removed_texts) > 0
WITH filter ORDER BY filter.answer_id, filter.created_at, filter.judgement_id
UNWIND range(0, size(filter.removed_texts) - 1) AS span
WITH filter.exam_id AS exam_id,
     filter.student_id AS student_id,
     collect(DISTINCT filter.answer_id) AS answers,
     collect(DISTINCT filter.removed_texts[span]) AS removed,
     max(filter.removed_confidences[span]) AS highest_confidence
WHERE size(answers) >= $min_answers
RETURN exam_id, student_id, size(answers) AS how_many, answers, removed, highest_confidence
ORDER BY how_many DESC, exam_id, student_id
