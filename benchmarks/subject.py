"""The model that is measured, opened as the product opens it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.plan import Plan
from benchmarks.synthetic import answers
from benchmarks.tiny import KnowingEngine, write_tiny_profile
from service.engine.base import Engine, Role
from service.engine.language_model import LanguageModel
from service.engine.transformers_engine import TransformersEngine
from service.ledger import Ledger
from service.model_store import ModelFiles, locate
from service.pipeline import GradingPipeline
from service.profile import ModelProfile, load_profile
from service.settings import Settings, load_settings


@dataclass(frozen=True)
class Subject:
    """A profile with its weights.

    Attributes:
        profile: how the model is run.
        files: where its weights lie.
        settings: device and size of batches.
        engine_type: what runs it.
    """

    profile: ModelProfile
    files: ModelFiles
    settings: Settings
    engine_type: type[TransformersEngine]

    def __str__(self) -> str:
        return (
            f"{self.profile.name}, filter: {self.profile.filter_decoding}, "
            f"grade: {self.profile.grade_decoding}, batches of {self.settings.batch_size}"
        )

    def engine(self) -> Engine:
        """The product's engine."""
        return self.engine_type(
            self.profile,
            self.files,
            device=self.settings.device,
            batch_size=self.settings.batch_size,
        )

    def language_model(self) -> LanguageModel:
        """The same weights for a peer that calls `generate`."""
        return LanguageModel(self.profile, self.files, self.settings.device)

    def justifying(self, tokens: int) -> Subject:
        """The same filter; the bare base grades, and writes up to `tokens` of prose first."""
        profile = replace(
            self.profile,
            adapters={Role.FILTER: self.profile.adapters[Role.FILTER]},
            grade_decoding="write",
            justification="prose",
            max_grade_tokens=tokens,
        )
        adapters = {Role.FILTER: self.files.adapters[Role.FILTER]}
        return replace(self, profile=profile, files=replace(self.files, adapters=adapters))

    def without_adapters(self) -> Subject:
        """The bare base."""
        profile = replace(self.profile, adapters={})
        return replace(self, profile=profile, files=replace(self.files, adapters={}))

    def in_bfloat16(self) -> Subject:
        """The same in the precision for which accelerators, and new processors, are built."""
        profile = replace(self.profile, dtype_cpu="bfloat16", dtype_gpu="bfloat16")
        return replace(self, profile=profile)

    @contextmanager
    def pipeline(self) -> Iterator[GradingPipeline]:
        """A pipeline with a new ledger, that has graded one answer of another exam."""
        with TemporaryDirectory() as folder:
            ledger = Ledger(Path(folder) / "ledger.sqlite3")
            pipeline = GradingPipeline(self.engine(), ledger=ledger)
            try:
                [first] = answers(1, exam_id="warm-up")
                pipeline.grade(first.question, first.answer)
                yield pipeline
            finally:
                pipeline.close()
                ledger.close()


@contextmanager
def open_subject(plan: Plan) -> Iterator[Subject]:
    """The profile of the plan, or the tiny random one, which is written for this."""
    if plan.profile is not None:
        yield _subject(load_settings(profile=plan.profile), TransformersEngine)
        return
    with tiny_subject() as subject:
        yield subject


@contextmanager
def tiny_subject() -> Iterator[Subject]:
    """The tiny random model."""
    with TemporaryDirectory() as home:
        yield _subject(tiny_settings(Path(home)), KnowingEngine)


def tiny_settings(home: Path) -> Settings:
    """Settings for a tiny random model that is written into `home`, without a graph."""
    folder = home / "tiny-random"
    write_tiny_profile(folder)
    return Settings(home=home, profile=str(folder), device="cpu", graph="none")


def open_knowing_engine(settings: Settings) -> Engine:
    """The engine of `tiny_settings`."""
    return _subject(settings, KnowingEngine).engine()


def _subject(settings: Settings, engine_type: type[TransformersEngine]) -> Subject:
    profile = load_profile(settings.profile, settings)
    return Subject(profile, locate(profile, settings), settings, engine_type)
