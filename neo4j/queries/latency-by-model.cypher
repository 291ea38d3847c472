// What made the Judgements, and how long did it take?
//
// One row for every stage and every version of model, prompt and decoding: how many Judgements,
// when the first and the last, how many were taken over from an earlier result, and, of those that
// were not, the median and the 95th percentile of their milliseconds.
//
// Parameters and their defaults:
// :param exam_id => ''

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (judgement:Judgement {exam_id: exam.exam_id})
WITH judgement.stage AS stage,
     judgement.model_fingerprint AS model,
     judgement.prompt_version AS prompt_version,
     judgement.decoding AS decoding,
     judgement.created_at AS created_at,
     CASE WHEN judgement.reused_from IS NULL THEN judgement.latency_ms END AS latency_ms
RETURN stage, model, prompt_version, decoding,
       count(*) AS judgements,
       count(*) - count(latency_ms) AS reused,
       percentileCont(latency_ms, 0.5) AS median_ms,
       percentileCont(latency_ms, 0.95) AS p95_ms,
       min(created_at) AS first_made,
       max(created_at) AS last_made
ORDER BY stage, first_made, model, prompt_version, decoding
