// How often do attacks of each kind win points, guarded and not?
//
// For experiments, in which an answer was graded clean and attacked. One row for every
// attack_type, pipeline and stage: how many attacked answers stand beside the clean one of the
// same run, how many points the attack won on average, how many won min_gain points or more, and
// their share among those whose clean grade left room for that (could_win).
//
// Parameters and their defaults:
// :param exam_id => ''
// :param min_gain => 2

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (judgement:Judgement {exam_id: exam.exam_id})
WHERE judgement.stage IN ['baseline', 'filtered']
  AND judgement.attack_type <> 'unlabelled'
MATCH (run:Run)-[:INCLUDES]->(judgement)
WITH run, judgement.stage AS stage,
     judgement.exam_id AS exam_id, judgement.answer_id AS answer_id,
     collect({
       attack_type: judgement.attack_type,
       score: judgement.predicted_score,
       max_points: judgement.max_points,
       judgement_id: judgement.judgement_id
     }) AS grades
UNWIND [grade IN grades WHERE grade.attack_type = 'clean'] AS clean
UNWIND [grade IN grades WHERE grade.attack_type <> 'clean'] AS attacked
WITH DISTINCT run.pipeline AS pipeline, stage, clean, attacked
WITH pipeline, stage, attacked.attack_type AS attack_type,
     attacked.score - clean.score AS gain,
     clean.score + $min_gain <= clean.max_points AS room
WITH pipeline, stage, attack_type,
     count(*) AS pairs,
     sum(CASE WHEN gain IS NULL THEN 1 ELSE 0 END) AS without_score,
     avg(gain) AS mean_gain,
     sum(CASE WHEN gain IS NOT NULL AND room THEN 1 ELSE 0 END) AS could_win,
     sum(CASE WHEN gain >= $min_gain THEN 1 ELSE 0 END) AS won
RETURN attack_type, pipeline, stage, pairs, without_score, mean_gain, could_win, won,
       CASE WHEN could_win > 0 THEN 1.0 * won / could_win END AS share_won
ORDER BY attack_type, pipeline, stage
