// Which texts does the filter remove most?
//
// One row for every removed text, upper and lower case and blanks at the ends alike: how often it
// was removed, from how many students, how often from answers that are known to be clean, and how
// sure the filter was. The most frequent ones; `most` says how many.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param most => 100

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filter:Judgement {exam_id: exam.exam_id, stage: 'filter'})
WHERE size(filter.removed_texts) > 0
UNWIND range(0, size(filter.removed_texts) - 1) AS span
WITH toLower(trim(filter.removed_texts[span])) AS text,
     filter.removed_confidences[span] AS confidence,
     filter.student_id AS student_id,
     filter.attack_type AS attack_type
RETURN text,
       count(*) AS times,
       count(DISTINCT student_id) AS students,
       sum(CASE attack_type WHEN 'clean' THEN 1 ELSE 0 END) AS from_clean,
       min(confidence) AS least_confidence,
       avg(confidence) AS mean_confidence
ORDER BY times DESC, text
LIMIT $most
