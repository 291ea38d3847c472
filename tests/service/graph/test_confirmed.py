from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from filter_training.cli import train_app
from filter_training.dataset import Source
from filter_training.dataset_file import read_dataset
from service.graph import GraphStore
from service.graph.confirmed import ConfirmedSpans, confirmed_spans
from tests.filter_training.world import write_exam
from tests.service.graph import sample
from tests.service.graph.conftest import Server

CONFIRM = "MATCH (j:Judgement {judgement_id: $judgement_id}) SET j.spans_confirmed_by = 'Prof. Ebb'"


def test_only_what_a_person_confirmed(store: GraphStore, server: Server) -> None:
    store.write(sample.records())
    assert confirmed_spans(store) == []
    for judgement_id in ("sub-attacked-filter", "sub-clean-filter"):
        server.run(CONFIRM, judgement_id=judgement_id)
    text = "The Moon pulls." + sample.ATTACK
    expected = [ConfirmedSpans(sample.QUESTION, text, ((15, len(text)),))]
    assert confirmed_spans(store) == expected
    # Writing the ledger again forgets no confirmation.
    store.write(sample.records())
    assert confirmed_spans(store) == expected


def test_what_is_confirmed_can_be_trained_on(
    store: GraphStore, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store.write(sample.records())
    server.run(CONFIRM, judgement_id="sub-attacked-filter")
    monkeypatch.setenv("STEADYEVAL_GRAPH", server.uri)
    monkeypatch.setenv("STEADYEVAL_GRAPH_USER", server.user)
    monkeypatch.setenv("STEADYEVAL_GRAPH_PASSWORD", server.password)
    monkeypatch.setenv("STEADYEVAL_GRAPH_DATABASE", server.database)
    exam = write_exam(tmp_path / "exam.jsonl")
    arguments = ["dataset", str(exam), "--out", str(tmp_path / "made"), "--from-graph"]
    CliRunner().invoke(train_app, arguments, catch_exceptions=False)
    [path] = (tmp_path / "made").glob("*.jsonl")
    found = [each for each in read_dataset(path).variants if each.source is Source.GRAPH]
    assert [(each.output, each.example.target) for each in found] == [
        ("The Moon pulls.", "The Moon pulls."),
        ("The Moon pulls.", "The Moon pulls.\n"),
    ]
