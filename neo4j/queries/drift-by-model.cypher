// Do grades wander from one model version to the next?
//
// One row for every version that graded (the fingerprint of model and adapter, the version of the
// prompt, the way of decoding): how many guarded grades it made and when, their mean as a share of
// the scale (0 is the least score, 1 the highest), the mean difference to the unguarded grades of
// the same runs, and how many have no score or a forced one.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param attack_type => ''

MATCH (run:Run)-[:INCLUDES]->(judgement:Judgement)-[:JUDGES]->(submission:Submission)
WHERE judgement.stage IN ['baseline', 'filtered']
  AND ($exam_id = '' OR judgement.exam_id = $exam_id)
  AND ($attack_type = '' OR judgement.attack_type = $attack_type)
WITH run, submission, collect(judgement) AS judgements
UNWIND [grade IN judgements WHERE grade.stage = 'baseline'] AS baseline
UNWIND [grade IN judgements WHERE grade.stage = 'filtered'] AS filtered
WITH DISTINCT baseline, filtered
WITH filtered,
     1.0 * (filtered.predicted_score - filtered.min_score)
       / (filtered.max_points - filtered.min_score) AS share,
     filtered.predicted_score - baseline.predicted_score AS drift
RETURN filtered.model_fingerprint AS model,
       filtered.prompt_version AS prompt_version,
       filtered.decoding AS decoding,
       count(*) AS grades,
       min(filtered.created_at) AS first_made,
       max(filtered.created_at) AS last_made,
       avg(share) AS mean_share,
       avg(drift) AS mean_drift,
       sum(CASE filtered.score_source WHEN 'none' THEN 1 ELSE 0 END) AS without_score,
       sum(CASE filtered.score_source WHEN 'forced' THEN 1 ELSE 0 END) AS forced
ORDER BY first_made, model, prompt_version, decoding
