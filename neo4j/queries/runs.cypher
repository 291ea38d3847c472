// Which runs made or found these grades?
//
// One row for every run, newest first: its kind and pipeline, how many Judgements of each stage it
// includes, how many of all were taken over from earlier ones, how many guarded grades have no
// score, and the mean of the others as a share of the scale (0 is the least score, 1 the highest).
//
// Parameters and their defaults:
// :param exam_id => ''
// :param kind => ''

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (judgement:Judgement {exam_id: exam.exam_id})<-[:INCLUDES]-(run:Run)
WHERE $kind = '' OR run.kind = $kind
WITH run, judgement.stage AS stage, judgement.reused_from AS reused_from,
     CASE judgement.stage
       WHEN 'filtered' THEN 1.0 * (judgement.predicted_score - judgement.min_score)
                            / (judgement.max_points - judgement.min_score)
     END AS share
WITH run,
     sum(CASE stage WHEN 'baseline' THEN 1 ELSE 0 END) AS baseline,
     sum(CASE stage WHEN 'filter' THEN 1 ELSE 0 END) AS filter,
     sum(CASE stage WHEN 'filtered' THEN 1 ELSE 0 END) AS filtered,
     count(reused_from) AS reused,
     count(share) AS scored,
     avg(share) AS mean_share
RETURN run.started_at AS started_at, run.kind AS kind, run.pipeline AS pipeline,
       baseline, filter, filtered, reused, filtered - scored AS without_score, mean_share,
       run.run_id AS run_id
ORDER BY started_at DESC, run_id
