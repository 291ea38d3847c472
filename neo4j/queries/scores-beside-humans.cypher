// How do the final scores compare with the human ones, answer by answer?
//
// One row for every text of every answer that people scored too: its newest guarded score, each
// rater's score, their mean, and the difference (guarded minus mean). `most` bounds the rows.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param most => 1000

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filtered:Judgement {exam_id: exam.exam_id, stage: 'filtered'})
MATCH (filtered)-[:JUDGES]->(submission:Submission)-[:OF]->(answer:Answer)
WITH submission, answer, collect({
       score: filtered.predicted_score,
       max_points: filtered.max_points,
       created_at: filtered.created_at,
       judgement_id: filtered.judgement_id
     }) AS grades
WITH submission, answer,
     reduce(newest = grades[0], grade IN grades |
       CASE WHEN grade.created_at > newest.created_at
                OR grade.created_at = newest.created_at
                   AND grade.judgement_id < newest.judgement_id
           THEN grade ELSE newest END
     ) AS filtered
MATCH (human:HumanScore)-[:SCORES]->(answer)
WITH submission.exam_id AS exam_id,
     submission.question_id AS question_id,
     submission.answer_id AS answer_id,
     submission.attack_type AS attack_type,
     filtered, human.rater AS rater, human.score AS score
ORDER BY rater
WITH exam_id, question_id, answer_id, attack_type, filtered,
     collect(rater) AS raters, collect(score) AS human_scores, avg(score) AS human_mean
RETURN exam_id, question_id, answer_id, attack_type,
       filtered.score AS final_score,
       filtered.max_points AS max_points,
       raters,
       human_scores,
       human_mean,
       filtered.score - human_mean AS difference,
       filtered.judgement_id AS judgement_id
ORDER BY exam_id, question_id, answer_id, attack_type, judgement_id
LIMIT $most
