from __future__ import annotations

from contextlib import closing

from benchmarks.subject import Subject
from benchmarks.synthetic import answers
from benchmarks.texts import Text, clean, grade
from filter_training.attacks import PAPER_ATTACKS, attacked
from service.engine.base import Role
from service.grader import Grader
from service.pipeline import GradingPipeline


def test_the_tiny_filter_is_one_that_the_service_accepts(subject: Subject) -> None:
    with closing(subject.engine()) as engine:
        pipeline = GradingPipeline(engine)
        pipeline.check()
        [item] = answers(1, exam_id="tiny")
        texts = [attacked(item.answer.text, kind) for kind in PAPER_ATTACKS]
        filtered = pipeline.clean_many([(item.question, text) for text in texts])
        assert {each.cleaned for each in filtered} == {item.answer.text}


def test_a_pipeline_grades_and_filters_what_a_bench_gives_it(subject: Subject) -> None:
    texts = [
        Text(item.question, item.answer, item.answer.text) for item in answers(12, exam_id="tiny")
    ]
    with subject.pipeline() as pipeline:
        clean(pipeline, texts)
        grade(pipeline, texts)
        [found] = pipeline.grade_many([(texts[0].question, texts[0].answer)])
        assert found.final_score is not None


def test_justifications_are_written_by_the_bare_base_behind_the_same_filter(
    subject: Subject,
) -> None:
    justifying = subject.justifying(5)
    [item] = answers(1, exam_id="tiny")
    with (
        closing(subject.engine()) as marks,
        closing(justifying.engine()) as writes,
    ):
        bare = subject.without_adapters().language_model().fingerprint(Role.GRADE)
        assert writes.fingerprint(Role.GRADE) == bare != marks.fingerprint(Role.GRADE)
        assert writes.fingerprint(Role.FILTER) == marks.fingerprint(Role.FILTER)
        [written] = Grader(writes).grade([(item.question, item.answer.text)])
        assert not written.raw_output.startswith("Answer:")
