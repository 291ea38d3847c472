"""The paper's procedure: greedy `generate`, one call for each prompt, nothing shared or kept."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.calls import Call, PaperCalls
from benchmarks.texts import Text
from service.engine.language_model import LanguageModel


class PaperPipeline:
    """Filters and grades as the paper does, with the weights and prompts of the product.

    Args:
        model: the weights.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._calls = PaperCalls(model.encoder)

    def filter(self, texts: Sequence[Text], batch_size: int) -> None:
        """Write the cleaned answers, those of like length in one batch."""
        ordered = sorted(texts, key=lambda text: len(text.answer.text))
        for start in range(0, len(ordered), batch_size):
            self._write([self._calls.filter(text) for text in ordered[start : start + batch_size]])

    def grade(self, texts: Sequence[Text]) -> None:
        """Three calls an answer: grade it, filter it, grade what is left; scores alone."""
        for text in texts:
            for call in self._calls.scores(text):
                self._write([call])
            self.filter([text], 1)

    def justify(self, texts: Sequence[Text], tokens: int) -> None:
        """The same with at most `tokens` for a justification and its score."""
        for text in texts:
            for call in self._calls.justifications(text, tokens):
                self._write([call])
            self.filter([text], 1)

    def _write(self, calls: Sequence[Call]) -> None:
        """Write on the prompts of calls of one kind."""
        batch = self._model.pad([call.prompt for call in calls])
        tokens = max(call.tokens for call in calls)
        config = self._model.greedy(
            max_new_tokens=tokens, min_new_tokens=tokens if calls[0].exactly else None
        )
        with self._model.as_role(calls[0].role):
            written = self._model.model.generate(
                input_ids=batch["input_ids"],
                attention_mask=batch["attention_mask"],
                generation_config=config,
            )
        written.tolist()  # An accelerator has finished only now.
