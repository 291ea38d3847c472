// What happened to this answer, in order?
//
// One row for every Judgement of every text that the answer ever had, oldest first, and the kinds
// of the runs that it is part of. exam_id may stay empty where no other exam has an answer of that
// id.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param answer_id => 'a1'

MATCH (answer:Answer {answer_id: $answer_id})<-[:OF]-(submission:Submission)
      <-[:JUDGES]-(judgement:Judgement)
WHERE $exam_id = '' OR answer.exam_id = $exam_id
OPTIONAL MATCH (run:Run)-[:INCLUDES]->(judgement)
WITH submission, judgement, collect(DISTINCT run.kind) AS kinds
RETURN submission.exam_id AS exam_id,
       submission.answer_id AS answer_id,
       submission.received_at AS received_at,
       submission.attack_type AS attack_type,
       judgement.created_at AS created_at,
       judgement.stage AS stage,
       judgement.predicted_score AS predicted_score,
       judgement.score_source AS score_source,
       judgement.removed_texts AS removed,
       judgement.model_fingerprint AS model,
       judgement.prompt_version AS prompt_version,
       judgement.decoding AS decoding,
       kinds AS runs,
       judgement.reused_from AS reused_from,
       submission.submission_id AS submission_id,
       judgement.judgement_id AS judgement_id
ORDER BY exam_id, received_at, submission_id, created_at, stage, judgement_id
