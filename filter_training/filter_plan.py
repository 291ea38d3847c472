"""What a dataset for the filter is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import ConfigDict, with_config

from filter_training.attacks import FAMILIES, PAPER_ATTACKS
from service.errors import SettingsError


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class FilterPlan:
    """What a dataset is made of. The defaults make the paper's dataset.

    Attributes:
        variants: texts in a group, the clean one among them.
        families: `paper`: the paper's four texts and nothing else, so `variants` is 5;
            `all`: draws from all families of attacks and from the paper's four texts.
        leave_out: families that are never drawn.
        max_answer_chars: longest answer that is drawn from an exam; None takes all.
        benign_share: share of the groups whose text says what an answer says in another form.
        trap_share: share whose text is an answer with an honest passage that looks like an attack.
        hard_negative_share: share of our own questions and answers that look like attacks.
        empty_share: share without any answer: all of the text is the attack.
    """

    variants: int = 5
    families: Literal["paper", "all"] = "paper"
    leave_out: tuple[str, ...] = ()
    max_answer_chars: int | None = None
    benign_share: float = 0.0
    trap_share: float = 0.0
    hard_negative_share: float = 0.0
    empty_share: float = 0.0

    def __post_init__(self) -> None:
        if unknown := set(self.leave_out) - FAMILIES.keys():
            raise SettingsError(f"leave_out names no families: {', '.join(sorted(unknown))}")
        if self.families == "paper" and (self.leave_out or self.variants != len(PAPER_ATTACKS) + 1):
            raise SettingsError("the paper's families have 5 variants; none can be left out")
        if self.variants < 2:
            raise SettingsError("a group has a clean and at least one attacked variant")
        if not self.drawn_families:
            raise SettingsError("leave_out leaves no family")
        shares = (self.benign_share, self.trap_share, self.hard_negative_share, self.empty_share)
        if min(shares) < 0 or sum(shares) > 1:
            raise SettingsError("shares are 0 or more, and at most 1 together")

    @property
    def drawn_families(self) -> tuple[str, ...]:
        """Names of the families that may be drawn."""
        return tuple(family for family in FAMILIES if family not in self.leave_out)

    @property
    def paper_classes(self) -> tuple[str, ...]:
        """Those of the paper's four whose exact texts may be drawn."""
        return tuple(name for name in PAPER_ATTACKS if name not in self.leave_out)
