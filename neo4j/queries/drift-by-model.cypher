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

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filtered:Judgement {exam_id: exam.exam_id, stage: 'filtered'})
WHERE $attack_type = '' OR filtered.attack_type = $attack_type
MATCH (filtered)-[:JUDGES]->(:Submission)<-[:JUDGES]-(baseline:Judgement {stage: 'baseline'})
MATCH (filtered)<-[:INCLUDES]-(run:Run)
MATCH (baseline)<-[:INCLUDES]-(run_of_baseline:Run)
WHERE run_of_baseline = run
WITH DISTINCT filtered.judgement_id AS filtered_id, baseline.judgement_id AS baseline_id,
     filtered.model_fingerprint AS model,
     filtered.prompt_version AS prompt_version,
     filtered.decoding AS decoding,
     filtered.created_at AS created_at,
     filtered.score_source AS source,
     1.0 * (filtered.predicted_score - filtered.min_score)
       / (filtered.max_points - filtered.min_score) AS share,
     filtered.predicted_score - baseline.predicted_score AS drift
RETURN model, prompt_version, decoding,
       count(*) AS grades,
       min(created_at) AS first_made,
       max(created_at) AS last_made,
       avg(share) AS mean_share,
       avg(drift) AS mean_drift,
       sum(CASE source WHEN 'none' THEN 1 ELSE 0 END) AS without_score,
       sum(CASE source WHEN 'forced' THEN 1 ELSE 0 END) AS forced
ORDER BY first_made, model, prompt_version, decoding
