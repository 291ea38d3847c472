// How far do guarded grades lie from unguarded ones, question by question?
//
// One row for every question: its pairs of a baseline and a filtered grade from one run, the means
// of both where both have a score, their difference (filtered minus baseline; about 0 where
// answers are honest), how many differ at all, and how many guarded grades have no score.
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
     filtered.exam_id AS exam_id,
     filtered.question_id AS question_id,
     baseline.predicted_score AS raw,
     filtered.predicted_score AS guarded,
     filtered.predicted_score - baseline.predicted_score AS drift
RETURN exam_id, question_id,
       count(*) AS grades,
       avg(CASE WHEN drift IS NOT NULL THEN raw END) AS mean_baseline,
       avg(CASE WHEN drift IS NOT NULL THEN guarded END) AS mean_filtered,
       avg(drift) AS mean_drift,
       sum(CASE WHEN drift <> 0 THEN 1 ELSE 0 END) AS moved,
       sum(CASE WHEN guarded IS NULL THEN 1 ELSE 0 END) AS without_score
ORDER BY exam_id, question_id
