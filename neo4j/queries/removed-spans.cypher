// What did the filter remove?
//
// One row for every removed span: where it stood in the answer as received (offsets in Unicode
// code points, end not included), its text, and how sure the filter was. The least sure come
// first: those are worth a look. `most` bounds the rows.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param max_confidence => 1.0
// :param most => 1000

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filter:Judgement {exam_id: exam.exam_id, stage: 'filter'})
WHERE size(filter.removed_starts) > 0
UNWIND range(0, size(filter.removed_starts) - 1) AS span
WITH filter, span
WHERE filter.removed_confidences[span] <= $max_confidence
RETURN filter.exam_id AS exam_id,
       filter.question_id AS question_id,
       filter.answer_id AS answer_id,
       filter.attack_type AS attack_type,
       filter.removed_starts[span] AS start,
       filter.removed_ends[span] AS end,
       filter.removed_texts[span] AS text,
       filter.removed_confidences[span] AS confidence,
       filter.judgement_id AS judgement_id
ORDER BY confidence, exam_id, question_id, answer_id, attack_type, judgement_id, start
LIMIT $most
