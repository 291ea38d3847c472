"""The graph that keeps every Judgement: Neo4j, or an embedded server that speaks its protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from service.errors import GraphError
from service.graph.embedded import EmbeddedGraph
from service.graph.store import GraphStore, QueryResult
from service.settings import Settings

__all__ = ["GraphStore", "QueryResult", "graph_name", "open_graph"]


def graph_name(settings: Settings) -> str:
    """What tells the graph of the settings from any other, in words."""
    if settings.graph == "embedded":
        return settings.graph
    return f"{settings.graph}, database {settings.graph_database}"


@contextmanager
def open_graph(settings: Settings) -> Iterator[GraphStore]:
    """The graph of the settings, with its schema applied.

    Raises:
        GraphError: there is none (`none`), or it cannot be used; the type and text say why.
    """
    with _connect(settings) as store:
        store.apply_schema()
        yield store


@contextmanager
def _connect(settings: Settings) -> Iterator[GraphStore]:
    match settings.graph:
        case "none":
            raise GraphError(
                "STEADYEVAL_GRAPH is `none`, so there is no graph; "
                "set it to `embedded` or to a Bolt address"
            )
        case "embedded":
            with EmbeddedGraph(settings.graph_dir).open() as store:
                yield store
        case uri:
            secret = settings.graph_password
            password = secret.get_secret_value() if secret else ""
            with GraphStore.connect(
                uri, settings.graph_user, password, settings.graph_database
            ) as store:
                yield store
