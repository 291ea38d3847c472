// Do grades wander over time?
//
// One row for every week (by its Monday, UTC) and exam in which guarded grades were made: how
// many, their mean as a share of the scale (0 is the least score, 1 the highest), the mean
// difference to the unguarded grades of the same runs, and how many have no score or a forced one.
// With question_id only one question counts, so that no easier question of a later week looks like
// drift.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param question_id => ''
// :param attack_type => ''

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filtered:Judgement {exam_id: exam.exam_id, stage: 'filtered'})
WHERE ($question_id = '' OR filtered.question_id = $question_id)
  AND ($attack_type = '' OR filtered.attack_type = $attack_type)
MATCH (filtered)-[:JUDGES]->(:Submission)<-[:JUDGES]-(baseline:Judgement {stage: 'baseline'})
MATCH (filtered)<-[:INCLUDES]-(run:Run)
MATCH (baseline)<-[:INCLUDES]-(run_of_baseline:Run)
WHERE run_of_baseline = run
WITH DISTINCT filtered.judgement_id AS filtered_id, baseline.judgement_id AS baseline_id,
     date.truncate('week', date(filtered.created_at)) AS week,
     filtered.exam_id AS exam_id,
     filtered.score_source AS source,
     1.0 * (filtered.predicted_score - filtered.min_score)
       / (filtered.max_points - filtered.min_score) AS share,
     filtered.predicted_score - baseline.predicted_score AS drift
RETURN week,
       exam_id,
       count(*) AS grades,
       avg(share) AS mean_share,
       avg(drift) AS mean_drift,
       sum(CASE source WHEN 'none' THEN 1 ELSE 0 END) AS without_score,
       sum(CASE source WHEN 'forced' THEN 1 ELSE 0 END) AS forced
ORDER BY week, exam_id
