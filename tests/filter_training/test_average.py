from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from filter_training.average import average_adapters
from filter_training.cli import train_app
from service.errors import InputError


def adapter(folder: Path, value: float, rows: int = 2, alpha: int = 32) -> Path:
    folder.mkdir()
    config = {"r": rows, "lora_alpha": alpha, "base_model_name_or_path": folder.name}
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    matrix = torch.full((rows, 3), value, dtype=torch.bfloat16)
    save_file({"q.lora_A": matrix}, folder / "adapter_model.safetensors")
    return folder


def test_the_mean_has_the_settings_of_the_first(tmp_path: Path) -> None:
    folders = [adapter(tmp_path / name, value) for name, value in (("a", 1.0), ("b", 4.0))]
    out = tmp_path / "mean"
    result = CliRunner().invoke(train_app, ["average", *map(str, folders), "--out", str(out)])
    assert result.exit_code == 0, result.output
    [mean] = load_file(out / "adapter_model.safetensors").values()
    assert mean.dtype == torch.bfloat16
    assert mean.tolist() == [[2.5] * 3] * 2
    assert (out / "adapter_config.json").read_bytes() == (
        folders[0] / "adapter_config.json"
    ).read_bytes()


def test_an_adapter_alone_stays_what_it_is(tmp_path: Path) -> None:
    average_adapters([adapter(tmp_path / "a", 3.0)], tmp_path / "mean")
    [mean] = load_file(tmp_path / "mean" / "adapter_model.safetensors").values()
    assert mean.unique().tolist() == [3.0]


@pytest.mark.parametrize("other", [{"rows": 4}, {"alpha": 16}])
def test_adapters_of_other_shapes_are_named(tmp_path: Path, other: dict[str, int]) -> None:
    folders = [adapter(tmp_path / "a", 1.0), adapter(tmp_path / "b", 1.0, **other)]
    with pytest.raises(InputError, match=r"b is not of the shape of .*a"):
        average_adapters(folders, tmp_path / "mean")
    assert not (tmp_path / "mean").exists()


def test_what_is_no_adapter_and_what_is_there_already_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing holds no adapter"):
        average_adapters([tmp_path / "nothing"], tmp_path / "mean")
    with pytest.raises(InputError, match="exists"):
        average_adapters([adapter(tmp_path / "a", 1.0)], tmp_path)
