// What does the grade of this answer rest on, as a picture?
//
// Neo4j Browser draws the answer, its student and question, every text that was received for it,
// the Judgements of each (filtered BASED_ON filter), and the scores that people gave. One row for
// every such path; on the command line a path is a list of nodes and relationships.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param answer_id => 'a1'

MATCH (answer:Answer {answer_id: $answer_id})
WHERE $exam_id = '' OR answer.exam_id = $exam_id
CALL (answer) {
  MATCH path = (:Student)-[:GAVE]->(answer)-[:ANSWERS]->(:Question)
  RETURN path
UNION ALL
  MATCH path = (:HumanScore)-[:SCORES]->(answer)
  RETURN path
UNION ALL
  MATCH path = (answer)<-[:OF]-(:Submission)<-[:JUDGES]-(:Judgement)
  RETURN path
UNION ALL
  MATCH (answer)<-[:OF]-(:Submission)<-[:JUDGES]-(filtered:Judgement)
  MATCH path = (filtered)-[:BASED_ON]->(:Judgement)
  RETURN path
}
RETURN path
ORDER BY answer.exam_id, length(path) DESC
