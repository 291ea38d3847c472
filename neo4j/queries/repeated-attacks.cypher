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

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filter:Judgement {exam_id: exam.exam_id, stage: 'filter'})
WHERE ($attack_type = '' OR filter.attack_type = $attack_type)
  AND size(filter.removed_texts) > 0
WITH filter.exam_id AS exam_id,
     filter.student_id AS student_id,
     filter.answer_id AS answer_id,
     filter.created_at AS created_at,
     filter.judgement_id AS judgement_id,
     filter.removed_texts AS texts,
     filter.removed_confidences AS confidences
ORDER BY answer_id, created_at, judgement_id
UNWIND range(0, size(texts) - 1) AS span
WITH exam_id, student_id,
     collect(DISTINCT answer_id) AS answers,
     collect(DISTINCT texts[span]) AS removed,
     max(confidences[span]) AS highest_confidence
WHERE size(answers) >= $min_answers
RETURN exam_id, student_id, size(answers) AS how_many, answers, removed, highest_confidence
ORDER BY how_many DESC, exam_id, student_id
