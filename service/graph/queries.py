"""Query files: the documented ones of neo4j/queries and a user's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.graph.store import GraphStore, QueryResult
from service.resources import neo4j_dir

_PARAMETER = re.compile(r"^//\s*:param\s+(\w+)\s*=>\s*(.+?)\s*;?\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Query:
    """A Cypher statement and the defaults of its parameters, as Cypher expressions."""

    cypher: str
    defaults: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> Query:
        """Read a query file; its `// :param name => value` lines are the defaults."""
        return cls(text.strip().rstrip(";"), dict(_PARAMETER.findall(text)))

    def run(self, store: GraphStore, parameters: Mapping[str, Any]) -> QueryResult:
        """Run it with `parameters`, and with the defaults for those not given.

        Raises:
            GraphQueryError: the server refused the statement or a default.
        """
        missing = {name: value for name, value in self.defaults.items() if name not in parameters}
        return store.query(self.cypher, {**_evaluate(store, missing), **parameters})


def documented_queries() -> dict[str, Path]:
    """Name and file of each documented query."""
    return {path.stem: path for path in sorted((neo4j_dir() / "queries").glob("*.cypher"))}


def _evaluate(store: GraphStore, expressions: Mapping[str, str]) -> dict[str, Any]:
    if not expressions:
        return {}
    columns = ", ".join(f"{value} AS {name}" for name, value in expressions.items())
    result = store.query(f"RETURN {columns}")
    return dict(zip(result.columns, result.rows[0], strict=True))
