from __future__ import annotations

from filter_training.examples import Example, derived_group, split_groups
from service.prompts import Prompt


def an_example(group_id: str) -> Example:
    return Example(group_id, "clean", Prompt("head", "tail"), "target")


def test_the_split_is_by_group_and_seeded() -> None:
    examples = [an_example(f"DS/{number % 10}") for number in range(30)]
    training, validation = split_groups(examples, validation_share=0.2, seed=7)
    assert not {e.group_id for e in training} & {e.group_id for e in validation}
    assert len({e.group_id for e in validation}) == 2
    assert len(training) + len(validation) == len(examples)
    assert split_groups(examples, validation_share=0.2, seed=7) == (training, validation)


def test_groups_made_from_one_answer_stay_together() -> None:
    origins = [f"DS/{number}" for number in range(20)]
    groups = [*origins, *(derived_group(origin, "order") for origin in origins[::2])]
    for seed in range(20):
        training, validation = split_groups(
            [an_example(group) for group in groups], validation_share=0.3, seed=seed
        )
        sides = [{e.group_id.partition("~")[0] for e in part} for part in (training, validation)]
        assert not sides[0] & sides[1]
        assert len(sides[1]) == 6
