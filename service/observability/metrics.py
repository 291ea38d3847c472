"""The numbers of this process, in the form of Prometheus."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("steadyeval_requests", "Answered requests.", ["method", "route", "status"])
REQUEST_SECONDS = Histogram(
    "steadyeval_request_seconds",
    "Time from a request's head to the end of its answer.",
    ["method", "route"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120),
)
REQUESTS_IN_HAND = Gauge("steadyeval_requests_in_hand", "Requests that are graded or wait for it.")
MODEL_QUEUE = Gauge("steadyeval_model_queue", "Texts that wait for the model.")
MODEL_BATCH = Histogram(
    "steadyeval_model_batch",
    "Texts in one call of the model.",
    ["task"],
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
)
MODEL_FAILURES = Counter("steadyeval_model_failures", "Texts on which the model failed.")
FORWARD_PASSES = Counter("steadyeval_forward_passes", "Forward passes of the model.")
HEADS = Counter(
    "steadyeval_heads",
    "Heads of prompts that were needed: hit if the model had read them before.",
    ["outcome"],
)
RESULTS = Counter(
    "steadyeval_results",
    "Results of a stage: found under their id, shared with an equal question to the model, "
    "or computed.",
    ["source"],
)
REMOVED_SPANS = Counter("steadyeval_removed_spans", "Spans that the filter removed.")
ATTACKED_ANSWERS = Counter(
    "steadyeval_attacked_answers", "Answers of which the filter removed something."
)
READY = Gauge("steadyeval_ready", "1 if answers can be graded, else 0.")
GRAPH_LAG = Gauge(
    "steadyeval_graph_lag", "Records of the ledger that the graph is not known to have."
)
