"""What stands behind the endpoints: ledger, engine, pipeline and the way to the graph."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock, Thread, Timer
from time import monotonic

from service.access import KeyStore
from service.api.admission import Admission
from service.engine.base import Engine
from service.engine.factory import open_engine
from service.errors import (
    DeadlineError,
    EngineError,
    LedgerError,
    ModelError,
    NotReadyError,
    SteadyEvalError,
)
from service.graph import graph_name, open_graph
from service.jobs import JobRunner, JobStore
from service.ledger import GraphShipper, Ledger
from service.observability import metrics
from service.patience import Patience, limited_by
from service.pipeline import GradingPipeline
from service.settings import Settings

_FLUSH_SECONDS = 10.0
_LOADING_SECONDS = 60.0
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
_LEDGER_CHECK_SECONDS = 5.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class GraphState:
    """How far the graph is behind the ledger; grading does not wait for it.

    Attributes:
        graph: the setting `graph`.
        lag: records that the graph does not have yet.
        error: why it could not be written last time, None where it could.
    """

    graph: str
    lag: int
    error: str | None


class Backend:
    """Opens everything that a request needs, and closes it in the opposite order.

    The ledger is open from the start. The model loads on a thread of its own, so that the
    service answers meanwhile; until it has passed the canary, `pipeline` says why not.

    Raises:
        KeyStoreError: the file of API keys cannot be opened.
        JobStoreError: the file of batch jobs cannot be opened.
        LedgerError: the ledger cannot be opened.
    """

    def __init__(
        self, settings: Settings, open_engine: Callable[[Settings], Engine] = open_engine
    ) -> None:
        self.settings = settings
        self.keys = KeyStore(settings.keys_path)
        self.ledger = Ledger(settings.ledger_path)
        self.jobs = JobStore(settings.jobs_path, most_jobs=settings.max_batches)
        self.job_runner = JobRunner(self.jobs, self.ledger, lambda: self.pipeline)
        self.admission = Admission(settings.max_requests, settings.request_seconds)
        self._open_engine = open_engine
        self._pipeline: GradingPipeline | None = None
        self._not_ready: str | None = "the model is loading"
        self._checking = Lock()
        self._stopping = Event()
        self._loader = self._new_loader()
        self._starting = Lock()
        self._ledger_checking = Lock()
        self._ledger_checked_at: float | None = None
        self._shipper = (
            None
            if settings.graph == "none"
            else GraphShipper(self.ledger, partial(open_graph, settings), graph_name(settings))
        )

    def start(self) -> None:
        """Begin to load the model and to ship records to the graph."""
        if self._shipper is not None:
            self._shipper.start()
        self._loader.start()
        self.job_runner.start()

    @property
    def stopping(self) -> bool:
        """The service is about to end, so streams of events should."""
        return self._stopping.is_set()

    def say_stopping(self) -> None:
        """Let streams of events end, and requests within the time that the settings give.

        A server waits for them before it closes anything.
        """
        if not self._stopping.is_set():
            self._stopping.set()
            timer = Timer(self.settings.shutdown_seconds, self.admission.give_up)
            timer.daemon = True
            timer.start()

    def check(self) -> None:
        """Load the model if that has not worked yet, and run the canary.

        A service that is ready stays so, unless the model is found wanting.

        Raises:
            EngineError: it is ready, but the model did not answer this time.
            DeadlineError: it is ready, but the model did not answer in time.
        """
        try:
            self._check()
        except ModelError as error:
            self._say_why(error)
        except Exception as error:
            if self._not_ready is None:
                raise
            self._say_why(error)

    def doubt(self, failure: EngineError | DeadlineError) -> None:
        """Find out, in the background, whether the model failed on more than one request.

        If the canary cannot be run either, the service is not ready until it can be again.
        """
        with self._starting:
            if not (self._loader.is_alive() or self._stopping.is_set()):
                _log.warning("the model is checked after a failure: %s", failure)
                self._loader = self._new_loader()
                self._loader.start()

    @property
    def pipeline(self) -> GradingPipeline:
        """The pipeline, once its filter has passed the canary.

        Raises:
            NotReadyError: it has not; the text says why.
        """
        self.require_ready()
        assert self._pipeline is not None
        return self._pipeline

    def require_ready(self) -> None:
        """Do nothing if the pipeline may be used.

        Raises:
            NotReadyError: it may not; the text says why.
        """
        if self._stopping.is_set():
            raise NotReadyError("the service is stopping")
        if self._not_ready is not None:
            raise NotReadyError(self._not_ready)

    def require_recording(self) -> None:
        """Do nothing if the ledger can be written, as it was found to be a few seconds ago.

        Raises:
            NotReadyError: it cannot; the text says why.
        """
        with self._ledger_checking:
            checked_at = self._ledger_checked_at
            if checked_at is not None and monotonic() - checked_at < _LEDGER_CHECK_SECONDS:
                return
            try:
                self.ledger.check_writable()
            except LedgerError as error:
                raise NotReadyError(str(error)) from error
            self._ledger_checked_at = monotonic()

    def measure(self) -> None:
        """Bring the numbers up to date that stand for a state."""
        metrics.READY.set(self._not_ready is None and not self._stopping.is_set())
        if self._shipper is not None:
            metrics.GRAPH_LAG.set(self._shipper.lag())

    def graph_state(self) -> GraphState | None:
        """How far the graph is behind, None where no graph is wanted."""
        if self._shipper is None:
            return None
        return GraphState(self.settings.graph, self._shipper.lag(), self._shipper.last_error)

    def close(self) -> None:
        """Ship what waits, within a few seconds, and release everything."""
        self._stopping.set()
        self._loader.join(_LOADING_SECONDS)
        self._not_ready = "the service is stopping"
        self.job_runner.stop()
        if self._pipeline is not None:
            self._pipeline.close()
        self.job_runner.join()
        if self._shipper is not None:
            if self._shipper.last_error is None:
                self._shipper.flush(_FLUSH_SECONDS)
            self._shipper.stop()
        self.ledger.close()
        self.jobs.close()
        self.keys.close()

    def _new_loader(self) -> Thread:
        return Thread(target=self._get_ready, name="model-loader", daemon=True)

    def _get_ready(self) -> None:
        """Check until it works; only a model that did not answer may do so later."""
        pause = _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            try:
                self._check()
                return
            except (EngineError, DeadlineError) as error:
                self._say_why(error)
                self._stopping.wait(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
            except Exception as error:
                self._say_why(error)
                return

    def _check(self) -> None:
        with self._checking:
            pipeline = self._load()
            with limited_by(Patience(self.settings.request_seconds)):
                pipeline.check()
            self._not_ready = None

    def _say_why(self, error: Exception) -> None:
        if self._stopping.is_set():
            return
        if isinstance(error, SteadyEvalError):
            self._not_ready = str(error)
            _log.error("not ready: %s", error)
        else:
            self._not_ready = "the model could not be loaded; the service's log says why"
            _log.error("not ready", exc_info=error)

    def _load(self) -> GradingPipeline:
        if self._pipeline is None:
            self._pipeline = GradingPipeline(
                self._open_engine(self.settings),
                ledger=self.ledger,
                decoding=self.settings.decoding,
            )
        return self._pipeline
