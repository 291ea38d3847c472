// Did the same text get different grades?
//
// One row for every text that was handed in for a question more than once, word for word, and
// whose guarded grades of one version (model, prompt version, decoding) differ: its scores,
// students and answers.
//
// Parameters and their defaults:
// :param exam_id => ''

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filtered:Judgement {exam_id: exam.exam_id, stage: 'filtered'})
WHERE filtered.predicted_score IS NOT NULL
MATCH (filtered)-[:JUDGES]->(submission:Submission)
WHERE submission.text IS NOT NULL
WITH submission.exam_id AS exam_id,
     submission.question_id AS question_id,
     submission.text AS text,
     filtered.model_fingerprint AS model,
     filtered.prompt_version AS prompt_version,
     filtered.decoding AS decoding,
     count(*) AS grades,
     min(filtered.predicted_score) AS lowest,
     max(filtered.predicted_score) AS highest,
     collect(DISTINCT submission.student_id) AS students,
     collect(DISTINCT submission.answer_id) AS answers
WHERE highest > lowest
RETURN exam_id, question_id, text, lowest, highest, highest - lowest AS difference, grades,
       students, answers, model, prompt_version, decoding
ORDER BY difference DESC, exam_id, question_id, text, model, prompt_version, decoding
