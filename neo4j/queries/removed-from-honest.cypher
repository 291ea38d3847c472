// What did the filter take from answers that are known to be honest?
//
// One row for every span removed from an answer whose attack_type is among honest_types: in an
// experiment these are the clean variants; add 'unlabelled' for a course whose answers are known
// to be honest. The surest cuts come first; `most` bounds the rows.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param honest_types => ['clean']
// :param most => 1000

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filter:Judgement {exam_id: exam.exam_id, stage: 'filter'})
WHERE filter.attack_type IN $honest_types
  AND size(filter.removed_starts) > 0
UNWIND range(0, size(filter.removed_starts) - 1) AS span
RETURN filter.exam_id AS exam_id,
       filter.question_id AS question_id,
       filter.answer_id AS answer_id,
       filter.student_id AS student_id,
       filter.attack_type AS attack_type,
       filter.removed_texts[span] AS text,
       filter.removed_starts[span] AS start,
       filter.removed_ends[span] AS end,
       filter.removed_confidences[span] AS confidence,
       filter.judgement_id AS judgement_id
ORDER BY confidence DESC, exam_id, question_id, answer_id, judgement_id, start
LIMIT $most
