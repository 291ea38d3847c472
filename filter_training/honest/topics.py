"""Our own questions and what honest students say about them, read from the data files.

A file holds topics and rules. Both belong either to the seen or to the held-out part, so what
one part draws the other cannot.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field

from filter_training.marked import Part
from service.exam import Criterion, Question, ScoreScale

EXAM_ID = "steadyeval-honest"

_FULL_SCORE = 10


class Topic(BaseModel):
    """A subject of an exam with the statements that answers are put together from.

    Attributes:
        part: where the topic belongs.
        domain: the course.
        questions: wordings of the question.
        points: what the rubric asks for.
        wrong: misconceptions.
        plain: unremarkable statements, in the order in which a text would have them.
        odd: statements that look like an attack and are none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    part: Part
    domain: str
    questions: tuple[str, ...] = Field(min_length=1)
    points: tuple[str, ...] = Field(min_length=1)
    wrong: tuple[str, ...] = ()
    plain: tuple[str, ...] = Field(min_length=1)
    odd: tuple[str, ...] = ()


class TopicFile(BaseModel):
    """A data file: `rules` maps a part to its rules."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    topic: tuple[Topic, ...] = ()
    rules: Mapping[Part, Mapping[str, tuple[str, ...]]] = Field(default_factory=dict)

    def topics(self, part: Part) -> tuple[Topic, ...]:
        """The topics of a part."""
        return tuple(topic for topic in self.topic if topic.part is part)


@cache
def read(name: str) -> TopicFile:
    """The data file `name`.toml."""
    resource = files("filter_training.honest").joinpath("data", f"{name}.toml")
    return TopicFile.model_validate(tomllib.loads(resource.read_text(encoding="utf-8")))


def as_question(topic: Topic, kind: str, wording: int) -> Question:
    """The topic's question in one of its wordings; the id says kind, part, topic and wording."""
    number = read(kind).topic.index(topic) + 1
    share, rest = divmod(_FULL_SCORE, len(topic.points))
    return Question(
        exam_id=EXAM_ID,
        question_id=f"{kind}-{topic.part}-{number:02}-{wording + 1}",
        domain=topic.domain,
        text=topic.questions[wording],
        gold_answer=" ".join(f"{point.removesuffix('.')}." for point in topic.points),
        rubric="technical",
        gold_type="factual",
        gold_points=tuple(
            Criterion(point, share + (index < rest)) for index, point in enumerate(topic.points)
        ),
        banned_misconceptions=topic.wrong,
        scale=ScoreScale(1, _FULL_SCORE),
    )
