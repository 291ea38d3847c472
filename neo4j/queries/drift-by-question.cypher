// How far do guarded grades lie from unguarded ones, question by question?
//
// One row for every question: its pairs of a baseline and a filtered grade from one run, the means
// of both where both have a score, their difference (filtered minus baseline; about 0 where
// answers are honest), how many differ at all, and how many guarded grades have no score.
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
     baseline.predicted_score AS raw,
     filtered.predicted_score AS guarded,
     filtered.predicted_score - baseline.predicted_score AS drift
WITH filtered.exam_id AS exam_id,
     filtered.question_id AS question_id,
     count(*) AS grades,
     avg(CASE WHEN drift IS NOT NULL THEN raw END) AS mean_baseline,
     avg(CASE WHEN drift IS NOT NULL THEN guarded END) AS mean_filtered,
     avg(drift) AS mean_drift,
     sum(CASE WHEN drift <> 0 THEN 1 ELSE 0 END) AS moved,
     sum(CASE WHEN guarded IS NULL THEN 1 ELSE 0 END) AS without_score
RETURN exam_id, question_id, grades, mean_baseline, mean_filtered, mean_drift, moved, without_score
ORDER BY exam_id, question_id
