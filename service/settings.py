"""All settings, from the environment (`STEADYEVAL_…`); secrets also from `STEADYEVAL_…_FILE`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from service.errors import SettingsError
from service.pseudonyms import Pseudonyms

_BOLT_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_SECRETS = ("graph_password", "engine_api_key", "api_key", "pseudonym_key")
_SHORTEST_PSEUDONYM_KEY = 32


class Settings(BaseSettings):
    """One field per setting; the docstring under each is its documentation."""

    model_config = SettingsConfigDict(
        env_prefix="STEADYEVAL_", extra="ignore", use_attribute_docstrings=True
    )

    home: Path = Field(default_factory=lambda: user_data_path("steadyeval"))
    """Folder of models, ledger and embedded graph."""
    profile: str = "smollm2-135m"
    """Name of the model profile, or path of a profile folder."""
    engine: Literal["transformers", "openai"] = "transformers"
    """`transformers` runs the model in this process; `openai` asks a server."""
    engine_url: str = "http://127.0.0.1:8000/v1"
    """Base URL of the OpenAI-compatible server."""
    engine_api_key: SecretStr | None = None
    """API key for that server (or `STEADYEVAL_ENGINE_API_KEY_FILE`)."""
    engine_grade_model: str | None = None
    """Model name for grading on that server; default: see `docs/engines.md`."""
    engine_filter_model: str | None = None
    """Model name for filtering on that server; default: see `docs/engines.md`."""
    engine_prompts: Literal["tokens", "chat"] = "tokens"
    """How prompts reach that server: as `tokens` where it takes token ids, else as `chat`."""
    engine_timeout: float = Field(default=120.0, gt=0)
    """Seconds that one request to that server may take."""
    device: str = "auto"
    """`auto`, `cpu` or a torch device such as `cuda:0`."""
    batch_size: int = Field(default=8, ge=1, le=256)
    """Most prompts in one model call."""
    decoding: Literal["copy", "free"] = "copy"
    """How the filter works: `copy` only deletes; `free` is the paper's greedy rewriting."""
    graph: str = "embedded"
    """`embedded`, `none`, or a Bolt URI such as `bolt://127.0.0.1:7687`."""
    graph_user: str = "neo4j"
    """User of the Bolt server."""
    graph_password: SecretStr | None = None
    """Password of the Bolt server (or `STEADYEVAL_GRAPH_PASSWORD_FILE`)."""
    graph_database: str = "neo4j"
    """Database on the Bolt server."""
    max_answer_chars: int = Field(default=20_000, ge=1)
    """Longest answer that is accepted, in Unicode code points."""
    max_request_bytes: int = Field(default=4_194_304, ge=1024)
    """Longest request body that is accepted, in bytes."""
    max_requests: int = Field(default=128, ge=1, le=1024)
    """Most requests that are graded or wait for it at a time."""
    request_seconds: float = Field(default=120.0, gt=0)
    """Seconds that a request to grade may wait and take."""
    shutdown_seconds: int = Field(default=30, ge=1)
    """Seconds that requests have to end when the service is told to stop."""
    log_format: Literal["text", "json"] = "text"
    """Form of the service's log: `text` for people, or `json`, one object a line."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """What is told in the service's log: this and what is graver."""
    api_key: SecretStr | None = None
    """Key that `steadyeval regrade --url` shows (or `STEADYEVAL_API_KEY_FILE`)."""
    pseudonym_key: SecretStr | None = Field(default=None, min_length=_SHORTEST_PSEUDONYM_KEY)
    """Secret that turns ids of students into pseudonyms (or `STEADYEVAL_PSEUDONYM_KEY_FILE`)."""
    max_batch_bytes: int = Field(default=67_108_864, ge=1024)
    """Longest batch that is accepted, in bytes."""
    max_batches: int = Field(default=16, ge=1)
    """Most batches that may be unfinished at a time."""
    requests_per_minute: int = Field(default=600, ge=1)
    """Most requests of one API key in a minute, where the key has no rate of its own."""

    @field_validator("graph")
    @classmethod
    def _is_graph(cls, graph: str) -> str:
        if graph not in ("embedded", "none") and urlsplit(graph).scheme not in _BOLT_SCHEMES:
            raise ValueError("must be embedded, none or a URI such as bolt://127.0.0.1:7687")
        return graph

    @property
    def pseudonyms(self) -> Pseudonyms:
        """What students are called in all records."""
        key = self.pseudonym_key
        return Pseudonyms(None if key is None else key.get_secret_value())

    @property
    def models_dir(self) -> Path:
        """Where fetched base models are kept."""
        return self.home / "models"

    @property
    def ledger_path(self) -> Path:
        """The SQLite file of the ledger."""
        return self.home / "ledger.sqlite3"

    @property
    def jobs_path(self) -> Path:
        """The SQLite file of the batch jobs."""
        return self.home / "jobs.sqlite3"

    @property
    def keys_path(self) -> Path:
        """The SQLite file of the API keys."""
        return self.home / "keys.sqlite3"

    @property
    def graph_dir(self) -> Path:
        """Home of the embedded graph server."""
        return self.home / "graph"


def load_settings(**overrides: Any) -> Settings:
    """Settings from `overrides`, else the environment, else the defaults.

    Raises:
        SettingsError: a value is not valid, or a `…_FILE` cannot be read.
    """
    for name in _SECRETS:
        variable = f"STEADYEVAL_{name.upper()}_FILE"
        if path := os.environ.get(variable):
            overrides.setdefault(name, _read_secret(variable, Path(path)))
    try:
        return Settings(**overrides)
    except ValidationError as error:
        faults = "; ".join(
            f"STEADYEVAL_{'_'.join(map(str, fault['loc'])).upper()}: {fault['msg']}"
            for fault in error.errors(include_input=False, include_url=False)
        )
        raise SettingsError(f"settings are not valid: {faults}") from None


def _read_secret(variable: str, path: Path) -> SecretStr:
    try:
        return SecretStr(path.read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{variable}: cannot read {path}: {error}") from error
