"""What clients were told, and whether it still holds."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import httpx

from service.graph.embedded import EmbeddedGraph
from service.ledger import Ledger
from tests.soak.answers import EXAM_ID
from tests.soak.server import Server

_JSONL = {"Content-Type": "application/jsonl"}
_JUDGEMENTS = 3
_TIMEOUT_S = 120.0


@dataclass
class Promises:
    """Every grade and batch that the service acknowledged.

    Attributes:
        scores: score by id of each Judgement that came with a grade.
        answers: ids of the answers that were graded.
        batches: body of each batch by its id.
        unanswered: batches that were sent without an answer; they are sent again.
    """

    scores: dict[str, float | None] = field(default_factory=dict)
    answers: set[str] = field(default_factory=set)
    batches: dict[str, bytes] = field(default_factory=dict)
    unanswered: list[bytes] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def graded(self, response: dict[str, Any]) -> None:
        """Note a response of POST /grade, or a line of results."""
        with self._lock:
            self.answers.add(response["answer_id"])
            for judgement in response["judgements"].values():
                self.scores[judgement["judgement_id"]] = judgement["predicted_score"]

    def send_batch(self, server: Server, body: bytes) -> None:
        """Send a batch; where nothing comes back, remember to send it again."""
        try:
            response = httpx.post(
                f"{server.address}/batches", content=body, headers=_JSONL, timeout=_TIMEOUT_S
            )
        except httpx.HTTPError:
            self.unanswered.append(body)
            return
        assert response.status_code == 202, response.text
        self.batches[response.json()["batch_id"]] = body

    def check(self, server: Server) -> None:
        """Fail unless all that was promised holds, once the service has caught up."""
        unanswered, self.unanswered = self.unanswered, []
        for body in unanswered:
            self.send_batch(server, body)
        for batch_id, body in self.batches.items():
            self._check_batch(server, batch_id, body)
        self.batches.clear()
        ready = f"{server.address}/readyz"
        server.wait(lambda: _get(ready)["graph"]["lag"] == 0, "in the graph")
        self._check_ledger_and_graph(server)

    def _check_batch(self, server: Server, batch_id: str, body: bytes) -> None:
        address = f"{server.address}/batches/{batch_id}"
        server.wait(lambda: _get(address)["state"] == "done", f"batch {batch_id} done")
        lines = httpx.get(f"{address}/results", timeout=_TIMEOUT_S).text.splitlines()
        results = [json.loads(line) for line in lines]
        sent = [json.loads(line)["answer_id"] for line in body.splitlines()]
        assert [result["answer_id"] for result in results] == sent
        assert {result["status"] for result in results} <= {"graded", "needs_review"}, results
        for result in results:
            self.graded(result)

    def _check_ledger_and_graph(self, server: Server) -> None:
        ledger = Ledger(server.settings.ledger_path)
        try:
            assert [str(fault) for fault in ledger.faults()] == []
            kept = {answer: ledger.judgements_of_answer(answer, EXAM_ID) for answer in self.answers}
        finally:
            ledger.close()
        doubled = [answer for answer, found in kept.items() if len(found) != _JUDGEMENTS]
        assert doubled == []
        recorded = {
            each.judgement_id: each.predicted_score for found in kept.values() for each in found
        }
        assert recorded == self.scores
        with EmbeddedGraph(server.settings.graph_dir).open() as store:
            rows = store.query("MATCH (j:Judgement) RETURN j.judgement_id AS id").rows
        in_graph = Counter(str(row[0]) for row in rows)
        assert {id for id, times in in_graph.items() if times > 1} == set()
        assert self.scores.keys() - in_graph.keys() == set()


def _get(address: str) -> dict[str, Any]:
    response = httpx.get(address, timeout=_TIMEOUT_S)
    assert response.status_code == httpx.codes.OK, response.text
    body = response.json()
    assert isinstance(body, dict)
    return body
