// Which grades must a person look at?
//
// One row for every guarded grade with a reason to look, and the reasons in the words of the API:
// `no_score` and `forced_score` (the model wrote no `Answer:` line), `filter_unstable` (the filter
// was still removing text when it stopped), `filter_truncated` (it hit its limit on new tokens),
// `removed_everything` (it left nothing of the answer).
//
// Parameters and their defaults:
// :param exam_id => ''

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filtered:Judgement {exam_id: exam.exam_id, stage: 'filtered'})
MATCH (filtered)-[:BASED_ON]->(filter:Judgement)
WHERE filtered.score_source IN ['none', 'forced']
   OR filter.filter_stable = false
   OR filter.finish_reason = 'length'
   OR trim(filter.cleaned_answer) = ''
MATCH (filtered)-[:JUDGES]->(submission:Submission)
WITH submission, filtered, filter,
     CASE WHEN filtered.score_source = 'none' THEN ['no_score'] ELSE [] END
     + CASE WHEN filtered.score_source = 'forced' THEN ['forced_score'] ELSE [] END
     + CASE WHEN filter.filter_stable = false THEN ['filter_unstable'] ELSE [] END
     + CASE WHEN filter.finish_reason = 'length' THEN ['filter_truncated'] ELSE [] END
     + CASE WHEN trim(filter.cleaned_answer) = '' AND trim(submission.text) <> ''
            THEN ['removed_everything'] ELSE [] END AS reasons
WHERE size(reasons) > 0
RETURN submission.exam_id AS exam_id,
       submission.question_id AS question_id,
       submission.answer_id AS answer_id,
       submission.student_id AS student_id,
       submission.attack_type AS attack_type,
       reasons,
       filtered.predicted_score AS predicted_score,
       filtered.raw_score AS raw_score,
       filtered.finish_reason AS finish_reason,
       filtered.raw_output AS raw_output,
       filter.removed_texts AS removed,
       filtered.created_at AS created_at,
       filtered.judgement_id AS judgement_id
ORDER BY exam_id, question_id, answer_id, attack_type, created_at, judgement_id
