from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

import service
from service.engine.base import Cut, Engine, GradeCompletion, GradeRequest
from service.errors import EngineError, InputError, LedgerError, PromptTooLongError
from service.exam import Answer, Question
from service.filter import VERSION as FILTER_VERSION
from service.judgement import FinishReason, Judgement, ScoreSource, Stage
from service.ledger import Ledger
from service.pipeline import GradedAnswer, GradingPipeline
from service.prompts import filter_prompt, grading_prompt
from service.records import Inclusion, Record, RunKind
from tests.service.exam_world import QUESTION, answer, question, run
from tests.service.scripted_engine import ATTACK, ScriptedEngine, by_length, score_line

TEXT = "The Moon pulls."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    ledger = Ledger(path)
    yield ledger
    ledger.close()


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine()


@pytest.fixture
def pipeline(engine: ScriptedEngine, ledger: Ledger) -> GradingPipeline:
    return GradingPipeline(engine, ledger=ledger)


def records(ledger: Ledger) -> list[Record]:
    return [logged.record for logged in ledger.after(0, 1000)]


def kinds(ledger: Ledger) -> Counter[str]:
    return Counter(type(record).__name__ for record in records(ledger))


def judged(graded: GradedAnswer) -> list[Judgement]:
    return [graded.baseline, graded.filter, graded.filtered]


def ids(graded: GradedAnswer) -> list[str]:
    return [one.judgement_id for one in judged(graded)]


# --- what a grade is ---


def test_the_final_score_is_the_one_of_the_cleaned_answer(pipeline: GradingPipeline) -> None:
    attacked = pipeline.grade(QUESTION, answer(TEXT + ATTACK))
    clean = pipeline.grade(QUESTION, answer(TEXT, "a2", "s2"))
    assert attacked.final_score == attacked.filtered.predicted_score == clean.final_score
    assert attacked.baseline.predicted_score != attacked.final_score
    assert attacked.cleaned_answer == TEXT
    assert [span.text for span in attacked.removed_spans] == [ATTACK]
    assert (attacked.status, attacked.max_points, attacked.provisional) == ("graded", 10, True)


def test_every_stage_has_a_complete_record_of_its_own(
    pipeline: GradingPipeline, engine: ScriptedEngine, ledger: Ledger
) -> None:
    given = answer(TEXT + ATTACK, attack_type="stealth")
    graded = pipeline.grade(QUESTION, given)
    assert [judgement.stage for judgement in judged(graded)] == list(Stage)
    prompts = [
        (graded.baseline, grading_prompt(QUESTION, given.text, justify=True)),
        (graded.filter, filter_prompt(QUESTION, given.text)),
        (graded.filtered, grading_prompt(QUESTION, TEXT, justify=True)),
    ]
    for judgement, prompt in prompts:
        assert ledger.judgement(judgement.judgement_id) == judgement
        assert judgement.prompt == engine.render(prompt)
        assert judgement.submission_id == graded.submission.submission_id
        assert (judgement.exam_id, judgement.question_id) == ("Tides", "q1")
        assert (judgement.answer_id, judgement.student_id) == ("a1", "s1")
        assert (judgement.attack_type, judgement.scale) == ("stealth", QUESTION.scale)
        assert judgement.reused_from is None
    assert graded.filtered.based_on == graded.filter.judgement_id
    assert (graded.baseline.based_on, graded.filter.based_on) == (None, None)
    assert graded.baseline.justification == graded.filtered.justification == "It names the point."
    assert (graded.filter.raw_output, graded.filter.filter_stable) == (TEXT, True)
    assert (graded.filter.model_fingerprint, graded.filter.decoding) == (
        "scripted-filter",
        f"copy/{FILTER_VERSION}",
    )
    assert (graded.baseline.model_fingerprint, graded.baseline.decoding) == (
        "scripted-grade",
        "greedy/256",
    )


def test_a_grade_is_recorded_when_it_is_returned(pipeline: GradingPipeline, ledger: Ledger) -> None:
    graded = pipeline.grade(QUESTION, answer(TEXT))
    assert kinds(ledger) == {
        "Question": 1,
        "Run": 1,
        "Submission": 1,
        "Judgement": 3,
        "Inclusion": 3,
    }
    assert QUESTION in records(ledger)
    assert graded.submission in records(ledger)


@pytest.mark.parametrize("text", ["", ATTACK, "\n \n"])
def test_an_answer_of_which_nothing_is_left_is_graded_as_an_empty_one(
    text: str, pipeline: GradingPipeline, engine: ScriptedEngine
) -> None:
    graded = pipeline.grade(QUESTION, answer(text))
    empty = grading_prompt(QUESTION, graded.cleaned_answer, justify=True)
    assert not graded.cleaned_answer.strip()
    assert graded.filtered.prompt == engine.render(empty)
    assert graded.final_score is not None
    assert graded.review_reasons == (("removed_everything",) if text == ATTACK else ())


# --- when a person must look ---


def test_a_grade_without_a_score_needs_review(engine: ScriptedEngine) -> None:
    engine.grade_by = lambda _: GradeCompletion("Answer: ten\n", FinishReason.STOP, None, "4", 1.0)
    graded = GradingPipeline(engine).grade(QUESTION, answer(TEXT))
    assert (graded.final_score, graded.status) == (None, "needs_review")
    assert graded.review_reasons == ("no_score",)


def test_a_forced_score_needs_review(engine: ScriptedEngine) -> None:
    engine.grade_by = lambda _: GradeCompletion("Good.", FinishReason.LENGTH, None, "4", 1.0)
    graded = GradingPipeline(engine).grade(QUESTION, answer(TEXT))
    assert (graded.final_score, graded.filtered.score_source) == (4.0, ScoreSource.FORCED)
    assert graded.review_reasons == ("forced_score",)


def test_only_the_final_grade_sends_an_answer_to_review(engine: ScriptedEngine) -> None:
    def confused_by_the_attack(request: GradeRequest) -> GradeCompletion:
        if "IGNORE" in request.prompt.tail:
            return GradeCompletion("Answer: ten\n", FinishReason.STOP, None, None, 1.0)
        return score_line(4)

    engine.grade_by = confused_by_the_attack
    graded = GradingPipeline(engine).grade(QUESTION, answer(TEXT + ATTACK))
    assert graded.baseline.predicted_score is None
    assert (graded.final_score, graded.status) == (4.0, "graded")


def test_a_filter_that_does_not_come_to_rest_needs_review() -> None:
    engine = ScriptedEngine(cut_by=lambda raw: (Cut(0, 1, 0.6),) if raw else ())
    graded = GradingPipeline(engine).grade(QUESTION, answer("an answer that melts away"))
    assert graded.review_reasons == ("filter_unstable",)


def test_a_rewriting_filter_that_hits_its_limit_needs_review(engine: ScriptedEngine) -> None:
    graded = GradingPipeline(engine, decoding="free").grade(QUESTION, answer(TEXT))
    assert "filter_truncated" in graded.review_reasons
    assert graded.filter.decoding == f"free/{FILTER_VERSION}"


def test_an_engine_that_cannot_copy_is_recorded_as_decoding_freely(
    engine: ScriptedEngine,
) -> None:
    engine.cuts_by = None
    graded = GradingPipeline(engine, decoding="copy").grade(QUESTION, answer(TEXT))
    assert graded.filter.decoding == f"free/{FILTER_VERSION}"


# --- never compute twice ---


def test_an_untouched_answer_is_graded_once(
    pipeline: GradingPipeline, engine: ScriptedEngine
) -> None:
    graded = pipeline.grade(QUESTION, answer(TEXT))
    assert len(engine.graded) == 1
    assert graded.filtered.prompt == graded.baseline.prompt
    assert graded.filtered.predicted_score == graded.baseline.predicted_score
    assert graded.filtered.reused_from == graded.baseline.judgement_id
    assert graded.filtered.latency_ms == 0
    assert graded.filtered.judgement_id != graded.baseline.judgement_id


def test_an_attacked_answer_takes_over_the_grade_of_its_clean_twin(
    pipeline: GradingPipeline, engine: ScriptedEngine
) -> None:
    clean, attacked = pipeline.grade_many(
        [
            (QUESTION, answer(TEXT, attack_type="clean")),
            (QUESTION, answer(TEXT + ATTACK, attack_type="stealth")),
        ]
    )
    assert len(engine.graded) == 2
    assert attacked.filtered.reused_from == clean.baseline.judgement_id
    assert attacked.filtered.attack_type == "stealth"
    assert attacked.final_score == clean.final_score


def test_equal_answers_of_two_students_are_computed_once_and_name_no_one(
    pipeline: GradingPipeline, engine: ScriptedEngine
) -> None:
    first, second = pipeline.grade_many(
        [(QUESTION, answer(TEXT)), (QUESTION, answer(TEXT, "a2", "s2"))]
    )
    assert (len(engine.graded), len(engine.filtered)) == (1, 1)
    assert first.baseline.reused_from is None
    assert (second.baseline.reused_from, second.filter.reused_from) == ("cache", "cache")
    assert second.filtered.reused_from == second.baseline.judgement_id
    assert second.filtered.student_id == second.baseline.student_id == "s2"
    assert second.final_score == first.final_score
    assert not set(ids(first)) & set(ids(second))


@pytest.mark.parametrize("together", [True, False])
def test_answers_that_look_the_same_to_the_filter_keep_their_own_text(
    together: bool, pipeline: GradingPipeline, engine: ScriptedEngine
) -> None:
    hidden = "\u00ad".join(ATTACK)
    first, second = answer(TEXT + ATTACK), answer("The\u00ad Moon pulls." + hidden, "a2", "s2")
    items = [(QUESTION, first), (QUESTION, second)]
    plain, disguised = (
        pipeline.grade_many(items) if together else [pipeline.grade(*item) for item in items]
    )
    assert plain.filter.prompt == disguised.filter.prompt
    assert plain.filter.prompt == engine.render(filter_prompt(QUESTION, first.text))
    assert plain.cleaned_answer == TEXT
    assert disguised.cleaned_answer == "The\u00ad Moon pulls."
    assert [span.text for span in disguised.removed_spans] == [hidden]


def test_equal_answers_of_two_requests_are_computed_once(
    pipeline: GradingPipeline, engine: ScriptedEngine, ledger: Ledger
) -> None:
    text = TEXT + ATTACK
    first = pipeline.grade(QUESTION, answer(text))
    calls = (len(engine.graded), len(engine.filtered))
    again = pipeline.grade(QUESTION, answer(text, "a2"))
    other = pipeline.grade(QUESTION, answer(text, "a3", "s2"))
    assert (len(engine.graded), len(engine.filtered)) == calls
    assert [one.reused_from for one in judged(again)] == ids(first)
    assert [one.reused_from for one in judged(other)] == ["cache"] * 3
    assert first.final_score == again.final_score == other.final_score
    assert len({*ids(first), *ids(again), *ids(other)}) == 9
    assert all(ledger.judgement(one.judgement_id) == one for one in judged(other))


def test_equal_answers_are_computed_once_across_restarts(path: Path) -> None:
    text = TEXT + ATTACK
    graded: list[GradedAnswer] = []
    asked: list[tuple[int, int]] = []
    for student in ("s1", "s2", "s1"):
        engine, ledger = ScriptedEngine(), Ledger(path)
        pipeline = GradingPipeline(engine, ledger=ledger)
        graded.append(pipeline.grade(QUESTION, answer(text, f"a{len(graded)}", student)))
        assert all(ledger.judgement(one.judgement_id) == one for one in judged(graded[-1]))
        asked.append((len(engine.graded), len(engine.filtered)))
        ledger.close()
    assert asked == [(2, 2), (0, 0), (0, 0)]
    first, other, again = graded
    assert [one.reused_from for one in judged(other)] == ["cache"] * 3
    assert [one.reused_from for one in judged(again)] == ids(first)
    assert first.final_score == other.final_score == again.final_score
    assert len({*ids(first), *ids(other), *ids(again)}) == 9


def test_a_clean_twin_of_an_earlier_run_lends_its_grade(path: Path) -> None:
    for text in (TEXT, TEXT + ATTACK, TEXT + "\u00ad".join(ATTACK)):
        engine, ledger = ScriptedEngine(), Ledger(path)
        graded = GradingPipeline(engine, ledger=ledger).grade(QUESTION, answer(text, text))
        assert graded.cleaned_answer == TEXT
        assert len(engine.graded) == 1
        ledger.close()


@pytest.mark.parametrize("with_ledger", [True, False])
def test_another_model_computes_for_itself(with_ledger: bool, ledger: Ledger) -> None:
    for name in ("one", "two"):
        engine = ScriptedEngine(name=name)
        pipeline = GradingPipeline(engine, ledger=ledger if with_ledger else None)
        pipeline.grade(QUESTION, answer(TEXT))
        assert (len(engine.graded), len(engine.filtered)) == (1, 1)
        pipeline.grade(QUESTION, answer(TEXT, "a2", "s2"))
        assert (len(engine.graded), len(engine.filtered)) == (1, 1)


def test_answers_to_one_question_reach_the_model_together(
    pipeline: GradingPipeline, engine: ScriptedEngine
) -> None:
    questions = [replace(question(name), text=f"Question {name}?") for name in ("q1", "q2", "q3")]
    heads: list[str] = []

    def note(request: GradeRequest) -> GradeCompletion:
        heads.append(request.prompt.head)
        return by_length(request)

    engine.grade_by = note
    graded = pipeline.grade_many(
        [
            (asked, answer(f"{TEXT} {student}{ATTACK}", f"{asked.question_id}-{student}", student))
            for student in ("s1", "s2", "s3", "s4")
            for asked in questions
        ]
    )
    assert [one.question for one in graded] == questions * 4
    assert len(heads) == 24
    assert len(list(groupby(heads))) == 3


def test_what_was_not_recorded_is_computed_again(
    pipeline: GradingPipeline,
    engine: ScriptedEngine,
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise LedgerError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(ledger, "record", fail)
        with pytest.raises(LedgerError):
            pipeline.grade(QUESTION, answer(TEXT))
    engine.grade_by = lambda _: score_line(9)
    assert pipeline.grade(QUESTION, answer(TEXT, "a2", "s2")).final_score == 9


def test_the_same_answer_to_two_questions_is_graded_twice(
    pipeline: GradingPipeline, engine: ScriptedEngine
) -> None:
    other = replace(question("q2"), text="Why are spring tides higher?")
    pipeline.grade_many([(QUESTION, answer(TEXT)), (other, answer(TEXT, "a2"))])
    assert (len(engine.graded), len(engine.filtered)) == (2, 2)


def test_a_batch_is_one_call_of_the_model(
    pipeline: GradingPipeline, engine: ScriptedEngine
) -> None:
    items = [(QUESTION, answer(f"{TEXT} {n}{ATTACK}", f"a{n}", f"s{n}")) for n in range(20)]
    graded = pipeline.grade_many(items)
    assert [one.submission.answer_id for one in graded] == [f"a{n}" for n in range(20)]
    assert (engine.grade_calls, len(engine.graded)) == (1, 40)


def test_an_answer_that_comes_twice_in_a_batch_is_one_record(
    pipeline: GradingPipeline, ledger: Ledger
) -> None:
    first, second = pipeline.grade_many([(QUESTION, answer(TEXT))] * 2)
    assert ids(first) == ids(second)
    assert kinds(ledger)["Judgement"] == 3


def test_a_request_that_was_answered_finds_its_result(
    pipeline: GradingPipeline, engine: ScriptedEngine, ledger: Ledger
) -> None:
    first = pipeline.grade(QUESTION, answer(TEXT + ATTACK))
    engine.grade_by = lambda _: score_line(1)
    calls, before = engine.grade_calls, ledger.last_seq()
    second = pipeline.grade(QUESTION, answer(TEXT + ATTACK))
    assert engine.grade_calls == calls
    assert len(engine.filtered) == 2, "one answer, and once more to see that it is at rest"
    assert judged(second) == judged(first)
    added = [logged.record for logged in ledger.after(before, 100)]
    assert Counter(type(record).__name__ for record in added) == {"Run": 1, "Inclusion": 3}


def test_the_same_run_again_adds_nothing_at_all(pipeline: GradingPipeline, ledger: Ledger) -> None:
    items = [(QUESTION, answer(TEXT)), (QUESTION, answer(TEXT + ATTACK, "a2"))]
    pipeline.grade_many(items, run=run())
    before = records(ledger)
    pipeline.grade_many(items, run=run())
    assert records(ledger) == before


def test_a_run_includes_what_it_found(pipeline: GradingPipeline, ledger: Ledger) -> None:
    graded = pipeline.grade(QUESTION, answer(TEXT))
    pipeline.grade_many([(QUESTION, answer(TEXT))], run=run("later"))
    included = {
        record.judgement_id
        for record in records(ledger)
        if isinstance(record, Inclusion) and record.run_id == "later"
    }
    assert included == set(ids(graded))


# --- identity ---


def test_ids_outlive_a_restart(path: Path) -> None:
    found = []
    for _ in range(2):
        ledger = Ledger(path)
        found.append(
            ids(GradingPipeline(ScriptedEngine(), ledger=ledger).grade(QUESTION, answer()))
        )
        ledger.close()
    assert found[0] == found[1]


def test_an_edited_rubric_is_graded_anew(
    pipeline: GradingPipeline, engine: ScriptedEngine, ledger: Ledger
) -> None:
    old = pipeline.grade(QUESTION, answer(TEXT))
    points = (replace(QUESTION.gold_points[0], text="names the Moon"), *QUESTION.gold_points[1:])
    edited = replace(QUESTION, gold_points=points)
    engine.grade_by = lambda _: score_line(9)
    new = pipeline.grade(edited, answer(TEXT))
    assert new.final_score == 9
    assert new.submission.submission_id == old.submission.submission_id
    assert not set(ids(old)) & set(ids(new))
    assert ledger.judgement(old.filtered.judgement_id) == old.filtered
    assert edited in records(ledger)


def test_whatever_else_decides_a_grade_makes_another_judgement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def grade() -> list[str]:
        return ids(GradingPipeline(engine).grade(QUESTION, answer(TEXT)))

    engine = ScriptedEngine()
    made = [grade()]
    monkeypatch.setattr("service.stages.PROMPT_VERSION", "next")
    made.append(grade())
    monkeypatch.setattr("service.filter.VERSION", "next")
    made.append(grade())
    engine.max_grade_tokens = 16
    made.append(grade())
    baselines, filters, filtered = (len(set(stage)) for stage in zip(*made, strict=True))
    assert (baselines, filters, filtered) == (3, 3, 4)


@pytest.mark.parametrize(
    "other",
    [
        GradingPipeline(ScriptedEngine(name="another model")),
        GradingPipeline(ScriptedEngine(), decoding="free"),
    ],
)
def test_another_filter_makes_other_judgements(other: GradingPipeline) -> None:
    one = GradingPipeline(ScriptedEngine()).grade(QUESTION, answer(TEXT))
    two = other.grade(QUESTION, answer(TEXT))
    assert one.filter.judgement_id != two.filter.judgement_id
    assert one.filtered.judgement_id != two.filtered.judgement_id


def test_without_a_ledger_ids_are_the_same_everywhere() -> None:
    one, two = (GradingPipeline(ScriptedEngine()).grade(QUESTION, answer(TEXT)) for _ in "ab")
    assert ids(one) == ids(two)


def test_with_a_ledger_ids_are_salted(pipeline: GradingPipeline) -> None:
    plain = GradingPipeline(ScriptedEngine()).grade(QUESTION, answer(TEXT))
    assert not set(ids(plain)) & set(ids(pipeline.grade(QUESTION, answer(TEXT))))


# --- what cannot be graded ---

LONG = "x" * 500


def bad_items() -> list[tuple[Question, Answer]]:
    return [
        (QUESTION, answer(LONG, "long")),
        (QUESTION, answer("broken \udc80", "surrogate")),
        (QUESTION, answer(TEXT, "a1", "not its student")),
    ]


def test_refused_answers_do_not_stop_the_others(ledger: Ledger) -> None:
    pipeline = GradingPipeline(ScriptedEngine(longest=400), ledger=ledger)
    good = [(QUESTION, answer(f"{TEXT} {n}", f"a{n}", f"s{n}")) for n in range(5)]
    refused: dict[str, InputError] = {}
    graded = pipeline.grade_many(
        [*good[:2], *bad_items(), *good[2:]],
        on_refused=lambda _, answer, error: refused.update({answer.answer_id: error}),
    )
    assert [one.submission.answer_id for one in graded] == [f"a{n}" for n in range(5)]
    assert kinds(ledger)["Judgement"] == 15
    assert set(refused) == {"long", "surrogate", "a1"}
    assert isinstance(refused["long"], PromptTooLongError)
    assert "Unicode" in str(refused["surrogate"])
    assert "'s1'" in str(refused["a1"])


def test_where_all_are_refused_there_is_no_run(ledger: Ledger) -> None:
    pipeline = GradingPipeline(ScriptedEngine(longest=400), ledger=ledger)
    refused: list[str] = []
    item = (QUESTION, answer(LONG, "long"))
    assert (
        pipeline.grade_many([item], on_refused=lambda _, one, __: refused.append(one.answer_id))
        == []
    )
    assert refused == ["long"]
    assert kinds(ledger)["Run"] == 0


def test_without_somebody_to_tell_a_refused_answer_stops_the_batch(ledger: Ledger) -> None:
    pipeline = GradingPipeline(ScriptedEngine(longest=400), ledger=ledger)
    with pytest.raises(PromptTooLongError):
        pipeline.grade_many([(QUESTION, answer(TEXT)), (QUESTION, answer(LONG, "long"))])
    assert records(ledger) == []


def test_a_failing_model_leaves_no_record(
    pipeline: GradingPipeline, engine: ScriptedEngine, ledger: Ledger
) -> None:
    def fail(_: GradeRequest) -> GradeCompletion:
        raise EngineError("out of memory")

    engine.grade_by = fail
    with pytest.raises(EngineError):
        pipeline.grade(QUESTION, answer(TEXT + ATTACK))
    assert records(ledger) == []
    engine.grade_by = by_length
    assert pipeline.grade(QUESTION, answer(TEXT + ATTACK)).status == "graded"


# --- many at once ---


def test_identical_requests_at_once_yield_one_record(path: Path) -> None:
    ledgers = [Ledger(path), Ledger(path)]
    pipelines = [GradingPipeline(ScriptedEngine(), ledger=ledger) for ledger in ledgers]
    with ThreadPoolExecutor(8) as pool:
        graded = list(
            pool.map(
                lambda number: pipelines[number % 2].grade(QUESTION, answer(TEXT + ATTACK)),
                range(16),
            )
        )
    assert kinds(ledgers[0]) == {
        "Question": 1,
        "Submission": 1,
        "Judgement": 3,
        "Run": 16,
        "Inclusion": 48,
    }
    assert all(judged(one) == judged(graded[0]) for one in graded)
    for ledger in ledgers:
        ledger.close()


@pytest.mark.parametrize("score", [3, 7])
def test_whoever_records_first_binds(score: float, engine: ScriptedEngine, ledger: Ledger) -> None:
    rival = GradingPipeline(ScriptedEngine(lambda _: score_line(7)), ledger=ledger)
    rivals: list[GradedAnswer] = []

    def while_the_rival_is_faster(_: GradeRequest) -> GradeCompletion:
        rivals.append(rival.grade(QUESTION, answer(TEXT + ATTACK)))
        return score_line(score)

    engine.grade_by = while_the_rival_is_faster
    graded = GradingPipeline(engine, ledger=ledger).grade(QUESTION, answer(TEXT + ATTACK))
    assert judged(graded) == judged(rivals[0])
    assert graded.final_score == 7
    assert kinds(ledger)["Judgement"] == 3


def test_a_recorded_grade_stays_even_where_an_equal_answer_got_another(
    pipeline: GradingPipeline, ledger: Ledger
) -> None:
    items = [(QUESTION, answer(TEXT)), (QUESTION, answer(TEXT, "a2", "s2"))]
    rival = GradingPipeline(ScriptedEngine(lambda _: score_line(7)), ledger=ledger)

    def while_the_rival_grades_the_other(_: GradeRequest) -> GradeCompletion:
        assert rival.grade(*items[0]).final_score == 7
        return score_line(3)

    slow = ScriptedEngine(while_the_rival_grades_the_other)
    assert GradingPipeline(slow, ledger=ledger).grade(*items[1]).final_score == 3
    assert [graded.final_score for graded in pipeline.grade_many(items)] == [7, 3]


# --- the rest of the surface ---


def test_cleaning_records_nothing(pipeline: GradingPipeline, ledger: Ledger) -> None:
    [filtered] = pipeline.clean_many([(QUESTION, TEXT + ATTACK)])
    assert filtered.cleaned == TEXT
    assert records(ledger) == []


def test_a_single_answer_is_a_request_and_more_are_a_batch(
    pipeline: GradingPipeline, ledger: Ledger
) -> None:
    pipeline.grade(QUESTION, answer(TEXT))
    pipeline.grade_many([(QUESTION, answer(TEXT)), (QUESTION, answer(TEXT, "a2"))])
    runs = [record for record in records(ledger) if type(record).__name__ == "Run"]
    assert [record.kind for record in runs] == [RunKind.REQUEST, RunKind.BATCH]  # type: ignore[union-attr]
    assert {record.pipeline for record in runs} == {"guarded-copy"}  # type: ignore[union-attr]


def test_a_run_says_how_the_filter_really_decodes(engine: ScriptedEngine) -> None:
    engine.cuts_by = None
    pipeline = GradingPipeline(engine, decoding="copy")
    one, two = (pipeline.new_run(RunKind.EVALUATION) for _ in "ab")
    assert (one.kind, one.pipeline) == (RunKind.EVALUATION, "guarded-free")
    assert one.run_id != two.run_id


def test_closing_releases_the_model(pipeline: GradingPipeline, engine: ScriptedEngine) -> None:
    pipeline.close()
    assert engine.closed


def test_all_that_a_user_needs_is_in_the_package() -> None:
    assert {name: getattr(service, name) for name in service.__all__}
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = service.nothing_like_it


def test_a_real_model_grades_and_finds_its_grades_again(
    tiny_engine: Engine, ledger: Ledger
) -> None:
    pipeline = GradingPipeline(tiny_engine, ledger=ledger)
    items = [
        (QUESTION, answer(text, f"a{number}", f"s{number}"))
        for number, text in enumerate([TEXT, "", TEXT + ATTACK, "潮汐 🌊 </s> [INST]"])
    ]
    first = pipeline.grade_many(items, run=run())
    before = ledger.last_seq()
    second = pipeline.grade_many(items, run=run())
    assert [judged(one) for one in second] == [judged(one) for one in first]
    assert ledger.last_seq() == before
    assert kinds(ledger)["Judgement"] == 12


def test_five_lines_of_python_grade_an_answer(
    tiny_profile_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    monkeypatch.setenv("STEADYEVAL_DEVICE", "cpu")
    pipeline = GradingPipeline.from_profile(str(tiny_profile_dir))
    graded = pipeline.grade(QUESTION, answer(TEXT))
    assert graded.filtered.based_on == graded.filter.judgement_id
    pipeline.close()
