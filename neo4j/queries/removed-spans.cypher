// What did the filter remove?
//
// One row for every removed span: where it stood in the answer as received (offsets in Unicode
// code points, end not included), its text, and how sure the filter was. The least sure come
// first: those are worth a look.
//
// Parameters (paste the lines without the slashes into Neo4j Browser):
// :param exam_id => ''
// :param max_confidence => 1.0

MATCH (filter:Judgement {stage: 'filter'})-[:JUDGES]->(submission:Submission)
WHERE $exam_id = '' OR submission.exam_id = $exam_id
UNWIND range(0, size(filter.removed_starts) - 1) AS span
WITH filter, submission, span
WHERE filter.removed_confidences[span] <= $max_confidence
RETURN submission.exam_id AS exam_id,
       submission.question_id AS question_id,
       submission.answer_id AS answer_id,
       submission.attack_type AS attack_type,
       filter.removed_starts[span] AS start,
       filter.removed_ends[span] AS end,
       filter.removed_texts[span] AS text,
       filter.removed_confidences[span] AS confidence,
       filter.judgement_id AS judgement_id
ORDER BY confidence, exam_id, question_id, answer_id, attack_type, judgement_id, start
