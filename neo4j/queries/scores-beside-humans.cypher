// How do the final scores compare with the human ones, question by question?
//
// One row for every text of every answer that people scored too: its newest guarded score, each
// rater's score, their mean, and the difference (guarded minus mean).
//
// Parameters (paste the lines without the slashes into Neo4j Browser):
// :param exam_id => ''

MATCH (human:HumanScore)-[:SCORES]->(answer:Answer)
WHERE $exam_id = '' OR answer.exam_id = $exam_id
WITH answer, human ORDER BY human.rater
WITH answer, collect(human.rater) AS raters, collect(human.score) AS human_scores,
     avg(human.score) AS human_mean
MATCH (question:Question)<-[:ANSWERS]-(answer)<-[:OF]-(submission:Submission)
CALL (submission) {
  MATCH (submission)<-[:JUDGES]-(filtered:Judgement {stage: 'filtered'})
  RETURN filtered ORDER BY filtered.created_at DESC, filtered.judgement_id LIMIT 1
}
RETURN question.exam_id AS exam_id,
       question.question_id AS question_id,
       answer.answer_id AS answer_id,
       submission.attack_type AS attack_type,
       filtered.predicted_score AS final_score,
       filtered.max_points AS max_points,
       raters,
       human_scores,
       human_mean,
       filtered.predicted_score - human_mean AS difference,
       filtered.judgement_id AS judgement_id
ORDER BY exam_id, question_id, answer_id, attack_type, judgement_id
