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

MATCH (run:Run)-[:INCLUDES]->(judgement:Judgement)-[:JUDGES]->(submission:Submission)
WHERE judgement.stage IN ['baseline', 'filtered']
  AND ($exam_id = '' OR judgement.exam_id = $exam_id)
  AND ($question_id = '' OR judgement.question_id = $question_id)
  AND ($attack_type = '' OR judgement.attack_type = $attack_type)
WITH run, submission, collect(judgement) AS judgements
UNWIND [grade IN judgements WHERE grade.stage = 'baseline'] AS baseline
UNWIND [grade IN judgements WHERE grade.stage = 'filtered'] AS filtered
WITH DISTINCT baseline, filtered
WITH date.truncate('week', date(filtered.created_at)) AS week,
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
