// Which students' answers share the same injected text?
//
// One row for every removed text of at least min_chars characters that came from min_students
// students or more; upper and lower case and blanks at the ends make no difference. In an
// experiment (any other attack_type; '' for all) the same text in all answers says nothing about
// students.
//
// Parameters and their defaults:
// :param exam_id => ''
// :param attack_type => 'unlabelled'
// :param min_students => 2
// :param min_chars => 10

MATCH (filter:Judgement {stage: 'filter'})
WHERE ($exam_id = '' OR filter.exam_id = $exam_id)
  AND ($attack_type = '' OR filter.attack_type = $attack_type)
UNWIND filter.removed_texts AS removed
WITH toLower(trim(removed)) AS text, filter
WHERE size(text) >= $min_chars
WITH text, filter ORDER BY filter.exam_id, filter.student_id, filter.answer_id
WITH text,
     collect(DISTINCT filter.student_id) AS students,
     collect(DISTINCT filter.exam_id) AS exams,
     collect(DISTINCT filter.answer_id) AS answers
WHERE size(students) >= $min_students
RETURN text, size(students) AS how_many, students, exams, answers
ORDER BY how_many DESC, text
