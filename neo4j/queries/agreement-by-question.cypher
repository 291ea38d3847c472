// How well do the grades agree with people, question by question?
//
// One row for every question that people scored: how many answers, the mean absolute difference
// between the newest guarded grade of the honest text and the mean of the raters, the mean
// difference (above 0: more generous than people), how many are within half a point, and, where an
// answer has several raters, how far they lie apart (mean of highest minus lowest).
//
// Parameters and their defaults:
// :param exam_id => ''
// :param honest_types => ['clean', 'unlabelled']

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filtered:Judgement {exam_id: exam.exam_id, stage: 'filtered'})
WHERE filtered.attack_type IN $honest_types
MATCH (filtered)-[:JUDGES]->(:Submission)-[:OF]->(answer:Answer)
WITH answer, collect({
       question_id: filtered.question_id,
       score: filtered.predicted_score,
       created_at: filtered.created_at,
       judgement_id: filtered.judgement_id
     }) AS grades
WITH answer,
     reduce(newest = grades[0], grade IN grades |
       CASE WHEN grade.created_at > newest.created_at
                OR grade.created_at = newest.created_at
                   AND grade.judgement_id < newest.judgement_id
           THEN grade ELSE newest END
     ) AS filtered
MATCH (human:HumanScore)-[:SCORES]->(answer)
WITH answer, filtered, avg(human.score) AS human_mean,
     CASE WHEN count(human) > 1 THEN max(human.score) - min(human.score) END AS human_range
WITH answer.exam_id AS exam_id, filtered.question_id AS question_id, human_range,
     filtered.score - human_mean AS difference
RETURN exam_id, question_id,
       count(*) AS answers,
       count(difference) AS scored,
       avg(abs(difference)) AS mean_absolute_difference,
       avg(difference) AS mean_difference,
       sum(CASE WHEN abs(difference) <= 0.5 THEN 1 ELSE 0 END) AS within_half_a_point,
       avg(human_range) AS mean_human_range
ORDER BY exam_id, question_id
