// How do the final scores compare with the human ones, answer by answer?
//
// One row for every text of every answer that people scored too: its newest guarded score, each
// rater's score, their mean, and the difference (guarded minus mean).
//
// Parameters and their defaults:
// :param exam_id => ''

MATCH (human:HumanScore)-[:SCORES]->(answer:Answer)
WHERE $exam_id = '' OR human.exam_id = $exam_id
WITH answer, human ORDER BY human.rater
WITH answer, collect(human.rater) AS raters, collect(human.score) AS human_scores,
     avg(human.score) AS human_mean
MATCH (answer)<-[:OF]-(submission:Submission)<-[:JUDGES]-(filtered:Judgement)
WHERE filtered.stage = 'filtered'
WITH submission, raters, human_scores, human_mean, collect(filtered) AS grades
WITH submission, raters, human_scores, human_mean,
     reduce(newest = grades[0], grade IN grades |
       CASE WHEN grade.created_at > newest.created_at
                OR grade.created_at = newest.created_at
                   AND grade.judgement_id < newest.judgement_id
           THEN grade ELSE newest END
     ) AS filtered
RETURN submission.exam_id AS exam_id,
       submission.question_id AS question_id,
       submission.answer_id AS answer_id,
       submission.attack_type AS attack_type,
       filtered.predicted_score AS final_score,
       filtered.max_points AS max_points,
       raters,
       human_scores,
       human_mean,
       filtered.predicted_score - human_mean AS difference,
       filtered.judgement_id AS judgement_id
ORDER BY exam_id, question_id, answer_id, attack_type, judgement_id
