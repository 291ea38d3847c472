// What moved the grade of record, by whom, when, and why?
//
// One row for every time that a publication set the grade of record of an answer, oldest first:
// the score that counted before and the one that counted from then on, the run that was published,
// and whether it counts still. `most` bounds the rows.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param answer_id => ''
// :param most => 1000

MATCH (publication:Publication)-[:PUBLISHES]->(grade:Judgement)
WHERE ($exam_id = '' OR grade.exam_id = $exam_id)
  AND ($answer_id = '' OR grade.answer_id = $answer_id)
OPTIONAL MATCH (grade)<-[:GRADE_OF_RECORD]-(answer:Answer)
WITH publication.published_at AS published_at,
     publication.publication_id AS publication_id,
     grade.exam_id AS exam_id, grade.question_id AS question_id,
     grade.answer_id AS answer_id, grade.student_id AS student_id,
     {
       score: grade.predicted_score,
       published_by: publication.published_by,
       reason: publication.reason,
       published_at: publication.published_at,
       run_id: publication.run_id,
       of_record: answer IS NOT NULL,
       model: grade.model_fingerprint,
       judgement_id: grade.judgement_id
     } AS move
ORDER BY published_at, publication_id
WITH exam_id, question_id, answer_id, student_id, collect(move) AS moves
UNWIND range(0, size(moves) - 1) AS place
WITH exam_id, question_id, answer_id, student_id, moves[place] AS move,
     CASE WHEN place > 0 THEN moves[place - 1].score END AS score_before,
     place = size(moves) - 1 AS last
RETURN exam_id, question_id, answer_id, student_id,
       score_before,
       move.score AS score,
       move.score - score_before AS difference,
       move.published_by AS published_by,
       move.reason AS reason,
       move.published_at AS published_at,
       move.run_id AS run_id,
       move.of_record AND last AS counts,
       move.model AS model,
       move.judgement_id AS judgement_id
ORDER BY exam_id, question_id, answer_id, published_at, judgement_id
LIMIT $most
