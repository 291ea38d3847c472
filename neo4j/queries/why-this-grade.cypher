// Why is the grade of this answer what it is?
//
// One row for every guarded grade that the answer ever got, newest first: the final score beside
// the score of the raw answer, what the student sent, what the filter removed, what was graded,
// the grader's own words, and the whole prompt, question and rubric of that time in it.
// `baseline_score` is the raw answer's score from the same run.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param answer_id => 'a1'
//
// exam_id may stay empty where no other exam has an answer of that id.

MATCH (answer:Answer {answer_id: $answer_id})<-[:OF]-(submission:Submission)
      <-[:JUDGES]-(filtered:Judgement {stage: 'filtered'})-[:BASED_ON]->(filter:Judgement)
WHERE $exam_id = '' OR answer.exam_id = $exam_id
CALL (submission, filtered) {
  OPTIONAL MATCH (submission)<-[:JUDGES]-(baseline:Judgement {stage: 'baseline'})
  WHERE EXISTS { MATCH (baseline)<-[:INCLUDES]-(:Run)-[:INCLUDES]->(filtered) }
  RETURN baseline ORDER BY baseline.created_at DESC, baseline.judgement_id LIMIT 1
}
RETURN answer.exam_id AS exam_id,
       answer.answer_id AS answer_id,
       submission.attack_type AS attack_type,
       filtered.predicted_score AS final_score,
       filtered.max_points AS max_points,
       filtered.score_source AS score_source,
       filtered.expected_score AS expected_score,
       baseline.predicted_score AS baseline_score,
       submission.text AS received,
       filter.removed_texts AS removed,
       filter.cleaned_answer AS graded,
       filtered.justification AS justification,
       filtered.raw_output AS raw_output,
       filtered.prompt AS prompt,
       filtered.model_fingerprint AS model,
       filtered.prompt_version AS prompt_version,
       filtered.created_at AS created_at,
       filtered.judgement_id AS judgement_id
ORDER BY created_at DESC, exam_id, attack_type, judgement_id
