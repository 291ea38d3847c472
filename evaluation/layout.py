"""What tables and figures set side by side, and the groups of answers that they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.bootstrap import Estimate, estimates
from evaluation.metrics import Floats, PairSums, absolute_error, paired_difference, shift
from evaluation.paper_numbers import BASELINE, GUARDED, PaperExam
from evaluation.scores import Scores
from filter_training.attacks import CLEAN, PAPER_ATTACKS


@dataclass(frozen=True)
class Layout:
    """What is compared with what.

    Attributes:
        pipelines: the first is the one that the others are compared with.
        attacks: with the clean answer they make up a pair's group of variants.
        further_attacks: others, which have rows of their own and belong to no group.
        benign: variants that keep an answer's meaning.
        peers: exam → the exam of the paper whose figures stand beside it.
        seed: of all draws.
    """

    pipelines: tuple[str, ...] = (BASELINE, GUARDED)
    attacks: tuple[str, ...] = tuple(PAPER_ATTACKS)
    further_attacks: tuple[str, ...] = ()
    benign: tuple[str, ...] = ()
    peers: Mapping[str, PaperExam] = field(default_factory=dict)
    seed: int = 1

    @property
    def variants(self) -> tuple[str, ...]:
        """A pair's group of variants, clean first."""
        return (CLEAN, *self.attacks)


@dataclass(frozen=True)
class Population:
    """Answers that a row or a picture is of; all scores are points of ten."""

    name: str
    paper: PaperExam | None
    scores: Scores

    @property
    def gold(self) -> Floats:
        """Mean human score [N]."""
        return self.scores.on_ten(self.scores.gold)

    @property
    def raters(self) -> dict[str, Floats]:
        """The scores of each rater who scored any of the answers [N]."""
        human = self.scores.on_ten(self.scores.human)
        columns = zip(self.scores.raters, human.T, strict=True)
        return {rater: scores for rater, scores in columns if PairSums.of(scores).count.any()}

    def points(self, pipeline: str, variants: Sequence[str]) -> Floats:
        """Predicted scores [N, V]."""
        return self.scores.on_ten(self.scores.of_pipeline(pipeline, variants))

    def clean(self, pipeline: str) -> Floats:
        """Predicted scores of the clean answers [N]."""
        return self.points(pipeline, (CLEAN,))[:, 0]

    def delta(self, pipeline: str, attacks: Sequence[str]) -> Floats:
        """Δ [N, A]."""
        return shift(self.points(pipeline, attacks), self.clean(pipeline))

    def drift(self, pipeline: str, reference: str) -> Floats:
        """What a pipeline gives clean answers more than the reference does [N]."""
        return paired_difference(self.clean(reference), self.clean(pipeline))

    def error(self, pipeline: str, variants: Sequence[str]) -> Floats:
        """Absolute errors [N, V]."""
        return absolute_error(self.points(pipeline, variants), self.gold)

    def estimates(self, samples: Sequence[PairSums], layout: Layout) -> list[Estimate]:
        """The mean of each sample with its intervals."""
        return estimates(samples, self.scores.question_number, seed=layout.seed)


def populations(scores: Scores, layout: Layout) -> list[Population]:
    """Each exam, and all of them pooled where there are several."""
    exams = [
        Population(exam, layout.peers.get(exam), scores.among(scores.exam == exam))
        for exam in scores.exams
    ]
    return exams if len(exams) == 1 else [*exams, Population("All", PaperExam.ALL, scores)]
