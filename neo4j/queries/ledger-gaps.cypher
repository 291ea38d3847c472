// What does the graph lack that the ledger should have sent?
//
// One row for every node that another record speaks of but whose own record, or a relationship
// that always comes with it, is missing. While the graph is catching up there may be some; when
// all of it was sent, there are none. `most` bounds the rows.
//
// Parameters and their defaults:
// :param most => 1000

CALL () {
  MATCH (judgement:Judgement)
  OPTIONAL MATCH (judgement)-[:JUDGES]->(submission:Submission)
  WITH judgement, count(submission) AS submissions
  OPTIONAL MATCH (run:Run)-[:INCLUDES]->(judgement)
  WITH judgement, submissions, count(run) AS runs
  OPTIONAL MATCH (judgement)-[:BASED_ON]->(filter:Judgement)
  WITH judgement, submissions, runs, count(filter) AS filters
  UNWIND CASE WHEN judgement.stage IS NULL THEN ['record'] ELSE [] END
         + CASE WHEN submissions = 0 THEN ['JUDGES'] ELSE [] END
         + CASE WHEN runs = 0 THEN ['INCLUDES'] ELSE [] END
         + CASE WHEN judgement.stage = 'filtered' AND filters = 0 THEN ['BASED_ON'] ELSE [] END
         AS missing
  RETURN 'Judgement' AS node, judgement.judgement_id AS id, missing
UNION ALL
  MATCH (submission:Submission)
  WHERE submission.received_at IS NULL
  RETURN 'Submission' AS node, submission.submission_id AS id, 'record' AS missing
UNION ALL
  MATCH (run:Run)
  WHERE run.kind IS NULL
  RETURN 'Run' AS node, run.run_id AS id, 'record' AS missing
UNION ALL
  MATCH (question:Question)
  WHERE question.text IS NULL
  RETURN 'Question' AS node, question.key AS id, 'record' AS missing
UNION ALL
  MATCH (answer:Answer)
  WHERE answer.answer_id IS NULL
  RETURN 'Answer' AS node, answer.key AS id, 'record' AS missing
}
RETURN node, id, missing
ORDER BY node, id, missing
LIMIT $most
