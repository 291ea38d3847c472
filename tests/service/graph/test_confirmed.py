from __future__ import annotations

from service.graph import GraphStore
from service.graph.confirmed import ConfirmedSpans, confirmed_spans
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
