"""The paper's procedure: greedy `generate`, one call for each prompt, nothing shared or kept."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.texts import Text
from service.detection_view import detection_view
from service.engine.base import REWRITE_TOKENS, Role
from service.engine.language_model import LanguageModel
from service.exam import format_score
from service.prompts import ANSWER_CUE, Prompt, filter_prompt, grading_prompt


class PaperPipeline:
    """Filters and grades as the paper does, with the weights and prompts of the product.

    A filter here writes exactly as many tokens as a right one would: those of the cleaned answer
    and the end of the turn, at most `REWRITE_TOKENS`. So its time is that of the paper's filter,
    also where the adapter at hand was taught to mark and what it writes is no answer.

    Args:
        model: the weights.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def filter(self, texts: Sequence[Text], batch_size: int) -> None:
        """Write the cleaned answers, those of like length in one batch."""
        ordered = sorted(texts, key=lambda text: len(text.answer.text))
        for start in range(0, len(ordered), batch_size):
            batch = ordered[start : start + batch_size]
            prompts = [
                filter_prompt(text.question, detection_view(text.answer.text).text)
                for text in batch
            ]
            tokens = max(self._length(text.clean) for text in batch)
            self._write(Role.FILTER, prompts, min(tokens, REWRITE_TOKENS), at_least=True)

    def grade(self, texts: Sequence[Text]) -> None:
        """Three calls an answer: grade it, filter it, grade what is left; scores alone."""
        for text in texts:
            score = f"{ANSWER_CUE} {format_score(text.question.scale.max_points)}"
            tokens = self._length(score)
            for answer in (text.answer.text, text.clean):
                prompt = grading_prompt(text.question, answer, justify=False)
                self._write(Role.GRADE, [prompt], tokens, at_least=True)
            self.filter([text], 1)

    def justify(self, texts: Sequence[Text], tokens: int) -> None:
        """The same with at most `tokens` for a justification and its score."""
        for text in texts:
            for answer in (text.answer.text, text.clean):
                prompt = grading_prompt(text.question, answer, justify=True)
                self._write(Role.GRADE, [prompt], tokens, at_least=False)
            self.filter([text], 1)

    def _length(self, text: str) -> int:
        """Tokens of a text and of the end of the turn."""
        return len(self._model.encoder.plain_ids(text)) + 1

    def _write(self, role: Role, prompts: Sequence[Prompt], tokens: int, *, at_least: bool) -> None:
        batch = self._model.pad([self._model.encoder.prompt_ids(prompt) for prompt in prompts])
        config = self._model.greedy(
            max_new_tokens=tokens, min_new_tokens=tokens if at_least else None
        )
        with self._model.as_role(role):
            written = self._model.model.generate(
                input_ids=batch["input_ids"],
                attention_mask=batch["attention_mask"],
                generation_config=config,
            )
        written.tolist()  # An accelerator has finished only now.
