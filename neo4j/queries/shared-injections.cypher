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

MATCH (exam:Exam)
WHERE $exam_id = '' OR exam.exam_id = $exam_id
MATCH (filter:Judgement {exam_id: exam.exam_id, stage: 'filter'})
WHERE $attack_type = '' OR filter.attack_type = $attack_type
UNWIND filter.removed_texts AS removed
WITH toLower(trim(removed)) AS text,
     filter.exam_id AS exam_id, filter.student_id AS student_id, filter.answer_id AS answer_id
WHERE size(text) >= $min_chars
WITH text, exam_id, student_id, answer_id ORDER BY exam_id, student_id, answer_id
WITH text,
     collect(DISTINCT student_id) AS students,
     collect(DISTINCT exam_id) AS exams,
     collect(DISTINCT answer_id) AS answers
WHERE size(students) >= $min_students
RETURN text, size(students) AS how_many, students, exams, answers
ORDER BY how_many DESC, text
