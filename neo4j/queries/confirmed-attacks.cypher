// Which removed texts did a person confirm to be an attack?
//
// One row for every filter Judgement that somebody confirmed by setting spans_confirmed_by: who,
// and what was removed. `steadyeval train dataset --from-graph` learns from these.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param confirmed_by => ''

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filter:Judgement {exam_id: exam.exam_id, stage: 'filter'})
WHERE filter.spans_confirmed_by IS NOT NULL
  AND ($confirmed_by = '' OR filter.spans_confirmed_by = $confirmed_by)
RETURN filter.exam_id AS exam_id,
       filter.question_id AS question_id,
       filter.answer_id AS answer_id,
       filter.student_id AS student_id,
       filter.spans_confirmed_by AS confirmed_by,
       filter.removed_texts AS removed,
       filter.removed_confidences AS confidences,
       filter.judgement_id AS judgement_id
ORDER BY confirmed_by, exam_id, question_id, answer_id, judgement_id
