// The graph's schema: constraints first, then indexes. Running it again changes nothing.
// It is applied when the service opens a graph; by hand:
//   cypher-shell -u neo4j -p PASSWORD -f schema.cypher
// Ids of questions, answers and students count within their exam, so those nodes carry a `key`
// that is unique in the whole graph: the exam's id, `/`, the id (`%` and `/` inside an id are
// written `%25` and `%2F`).

CREATE CONSTRAINT course_name IF NOT EXISTS
FOR (course:Course) REQUIRE course.name IS UNIQUE;

CREATE CONSTRAINT exam_id IF NOT EXISTS
FOR (exam:Exam) REQUIRE exam.exam_id IS UNIQUE;

CREATE CONSTRAINT question_key IF NOT EXISTS
FOR (question:Question) REQUIRE question.key IS UNIQUE;

CREATE CONSTRAINT student_key IF NOT EXISTS
FOR (student:Student) REQUIRE student.key IS UNIQUE;

CREATE CONSTRAINT answer_key IF NOT EXISTS
FOR (answer:Answer) REQUIRE answer.key IS UNIQUE;

CREATE CONSTRAINT submission_id IF NOT EXISTS
FOR (submission:Submission) REQUIRE submission.submission_id IS UNIQUE;

CREATE CONSTRAINT judgement_id IF NOT EXISTS
FOR (judgement:Judgement) REQUIRE judgement.judgement_id IS UNIQUE;

CREATE CONSTRAINT run_id IF NOT EXISTS
FOR (run:Run) REQUIRE run.run_id IS UNIQUE;

CREATE CONSTRAINT human_score_key IF NOT EXISTS
FOR (score:HumanScore) REQUIRE score.key IS UNIQUE;

CREATE CONSTRAINT publication_id IF NOT EXISTS
FOR (publication:Publication) REQUIRE publication.publication_id IS UNIQUE;

CREATE CONSTRAINT ledger_id IF NOT EXISTS
FOR (ledger:Ledger) REQUIRE ledger.ledger_id IS UNIQUE;

CREATE INDEX answer_id IF NOT EXISTS
FOR (answer:Answer) ON (answer.answer_id);

CREATE INDEX judgement_stage IF NOT EXISTS
FOR (judgement:Judgement) ON (judgement.stage);

CREATE INDEX judgement_exam IF NOT EXISTS
FOR (judgement:Judgement) ON (judgement.exam_id, judgement.stage);
