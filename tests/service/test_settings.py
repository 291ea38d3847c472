from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import SettingsError
from service.settings import Settings, load_settings


def test_an_override_wins_over_the_environment_and_that_over_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STEADYEVAL_PROFILE", "mistral-7b")
    monkeypatch.setenv("STEADYEVAL_BATCH_SIZE", "4")
    settings = load_settings(batch_size=16, home=tmp_path)
    assert (settings.profile, settings.batch_size, settings.decoding) == ("mistral-7b", 16, "copy")


@pytest.mark.parametrize("graph", ["", "Embedded", "off", "http://127.0.0.1:7474", "bolt+x://a"])
def test_a_graph_that_is_none_is_refused(graph: str) -> None:
    with pytest.raises(SettingsError, match=r"STEADYEVAL_GRAPH: .*must be embedded, none or a URI"):
        load_settings(graph=graph)


@pytest.mark.parametrize("graph", ["embedded", "none", "bolt://a:7687", "neo4j+ssc://a"])
def test_a_graph_may_be_embedded_absent_or_a_server(graph: str) -> None:
    assert load_settings(graph=graph).graph == graph


def test_everything_lives_under_home(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    places = (settings.models_dir, settings.ledger_path, settings.graph_dir)
    assert all(tmp_path in place.parents for place in places)


@pytest.mark.parametrize("name", ["graph_password", "engine_api_key"])
def test_a_secret_comes_from_its_file(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("s3cret\n", encoding="utf-8")
    monkeypatch.setenv(f"STEADYEVAL_{name.upper()}_FILE", str(tmp_path / "secret"))
    secret = getattr(load_settings(), name)
    assert secret.get_secret_value() == "s3cret"
    assert "s3cret" not in repr(load_settings())


def test_a_secret_file_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STEADYEVAL_GRAPH_PASSWORD_FILE", str(tmp_path / "none"))
    with pytest.raises(SettingsError, match=r"STEADYEVAL_GRAPH_PASSWORD_FILE.*none"):
        load_settings()


def test_every_faulty_setting_is_named_and_no_value_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STEADYEVAL_BATCH_SIZE", "lots")
    monkeypatch.setenv("STEADYEVAL_DECODING", "paraphrase")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert "STEADYEVAL_BATCH_SIZE" in str(caught.value)
    assert "STEADYEVAL_DECODING" in str(caught.value)
    assert "lots" not in str(caught.value)
