"""What Neo4j Browser needs for an audit: its address, and what it imports."""

from __future__ import annotations

import re
from pathlib import Path
from shutil import copyfile
from urllib.parse import urlencode, urlsplit
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from service.graph.queries import documented_queries
from service.graph.store import GraphStore
from service.resources import neo4j_dir

FAVOURITES = "steadyeval-favourites.zip"
STYLE = "steadyeval.grass"

_FOLDER = "SteadyEval"
_PARAMETERS = "SteadyEval parameters"
_LISTENS = """
SHOW SETTINGS YIELD name, value
WHERE name = $name
RETURN value
"""
_DEFAULT_PORTS = {"http": "7474", "https": "7473"}
_DEFAULT = re.compile(r"^// (:param .+)$", re.MULTILINE)


def browser_url(store: GraphStore) -> str:
    """Where the server's own Neo4j Browser is, with server and database filled in.

    Raises:
        GraphError: the server does not say where it listens.
    """
    address = urlsplit(store.uri)
    scheme = "https" if "+" in address.scheme else "http"
    host = address.netloc.removesuffix(f":{address.port}")
    found = store.query(_LISTENS, {"name": f"server.{scheme}.listen_address"}).rows
    # Who may not see settings gets no rows.
    port = found[0][0].rpartition(":")[2] if found else _DEFAULT_PORTS[scheme]
    form = {"dbms": store.uri, "db": store.database}
    return f"{scheme}://{host}:{port}/browser/?{urlencode(form)}"


def write_imports(folder: Path) -> tuple[Path, Path]:
    """Write the favourites and the style sheet into `folder`.

    Each documented query is a favourite, and the commands that set its parameters are another:
    of a script with several commands, Browser shows no results.

    Returns:
        Their paths.

    Raises:
        OSError: the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    favourites, style = folder / FAVOURITES, folder / STYLE
    with ZipFile(favourites, "w") as archive:
        for path in documented_queries().values():
            query = path.read_text(encoding="utf-8")
            _add(archive, f"{_FOLDER}/{path.name}", query)
            if commands := _DEFAULT.findall(query):
                # Browser names a script after the comment in its first line.
                question = query.partition("\n")[0]
                lines = [question, *(f"{command};" for command in commands)]
                _add(archive, f"{_PARAMETERS}/{path.name}", "\n".join(lines))
    copyfile(neo4j_dir() / STYLE, style)
    return favourites, style


def _add(archive: ZipFile, name: str, text: str) -> None:
    member = ZipInfo(name)
    member.compress_type = ZIP_DEFLATED
    archive.writestr(member, text)
