// What moved the grade of record, by whom, when, and why?
//
// One row for every time that a publication set the grade of record of an answer, oldest first:
// the score that counted before and the one that counted from then on, the run that was published,
// and whether it counts still.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param answer_id => ''

MATCH (publication:Publication)-[:PUBLISHES]->(grade:Judgement)
WHERE ($exam_id = '' OR grade.exam_id = $exam_id)
  AND ($answer_id = '' OR grade.answer_id = $answer_id)
OPTIONAL MATCH (grade)<-[:GRADE_OF_RECORD]-(answer:Answer)
WITH publication, grade, count(answer) > 0 AS of_record
ORDER BY publication.published_at, publication.publication_id
WITH grade.exam_id AS exam_id, grade.question_id AS question_id,
     grade.answer_id AS answer_id, grade.student_id AS student_id,
     collect({publication: publication, grade: grade, of_record: of_record}) AS moves
UNWIND range(0, size(moves) - 1) AS place
WITH exam_id, question_id, answer_id, student_id,
     moves[place].publication AS publication, moves[place].grade AS grade,
     CASE WHEN place > 0 THEN moves[place - 1].grade END AS before,
     moves[place].of_record AND place = size(moves) - 1 AS counts
RETURN exam_id, question_id, answer_id, student_id,
       before.predicted_score AS score_before,
       grade.predicted_score AS score,
       grade.predicted_score - before.predicted_score AS difference,
       publication.published_by AS published_by,
       publication.reason AS reason,
       publication.published_at AS published_at,
       publication.run_id AS run_id,
       counts,
       grade.model_fingerprint AS model,
       grade.judgement_id AS judgement_id
ORDER BY exam_id, question_id, answer_id, published_at, judgement_id
