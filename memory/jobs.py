"""The one mechanism for work that outlives its request: durable queues in a file of their own, one per kind of job.

Kinds and queues are known here; what a job does is registered by whoever starts a `JobRunner`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from memory.blobs import private_folder
from memory.workers import WorkerSlot, one_at_a_time
from settings.settings import Settings

if TYPE_CHECKING:
    from dbos import DBOSClient

FILE_NAME = "jobs.db"
POLLING_SECONDS = 0.2
# Jobs of another version are never recovered, and without this the version is a hash of the source.
_VERSION = "1"
_APPLICATION = "evatar"
_FINISHED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]


class JobKind(StrEnum):
    ANALYZE = "analyze"
    MAINTAIN = "maintain"


@dataclass(frozen=True, slots=True)
class Job:
    """`subject` is the id of what the job is about, empty if it is about all of the owner's data."""

    kind: JobKind
    owner: str
    subject: str = ""


Handler = Callable[[Job], Awaitable[None]]


class JobQueue:
    """Hands jobs in. Runs none, so that a command line stays short-lived; nobody waits for a job's end here."""

    def __init__(self, client: "DBOSClient") -> None:
        self._client = client

    @classmethod
    async def open(cls, settings: Settings) -> Self:
        return cls(await asyncio.to_thread(_client, settings))

    async def enqueue(self, job: Job) -> None:
        """Add the job, unless the same one is waiting or running."""
        await self._client.enqueue_async(
            {
                "workflow_name": job.kind,
                "queue_name": job.kind,
                "app_version": _VERSION,
                "deduplication_id": f"{job.owner}/{job.subject}",
                "duplication_policy": "return-existing",
            },
            job.owner,
            job.subject,
        )

    async def forget_finished(self) -> int:
        """Remove the rows of jobs that have ended; returns how many."""
        ended = await self._client.list_workflows_async(status=_FINISHED, load_input=False, load_output=False)
        await self._client.delete_workflows_async([workflow.workflow_id for workflow in ended])
        return len(ended)

    async def close(self) -> None:
        await asyncio.to_thread(self._client.destroy)


class JobRunner:
    """Runs jobs on the event loop that started it. One per process.

    A job of a process that was killed is run again, by the next one to start or by `recover`; so a handler may meet
    half-done work of an earlier try. An exception ends its job.
    """

    def __init__(self, settings: Settings, slot: WorkerSlot, running: set["Future[None]"]) -> None:
        self._settings = settings
        self._slot = slot
        self._running = running

    @classmethod
    async def start(cls, settings: Settings, *, handlers: Mapping[JobKind, Handler], concurrency: Mapping[JobKind, int]) -> Self:
        """`concurrency`: how many jobs of a kind this process runs at once."""
        running: set[Future[None]] = set()
        loop = asyncio.get_running_loop()

        def call(job: Job) -> None:
            future = asyncio.run_coroutine_threadsafe(_awaited(handlers[job.kind], job), loop)
            running.add(future)
            future.add_done_callback(running.discard)
            future.result()

        slot = await asyncio.to_thread(WorkerSlot.acquire, settings)
        await asyncio.to_thread(_launch, settings, slot, call, {kind: concurrency.get(kind, 1) for kind in handlers})
        runner = cls(settings, slot, running)
        await runner.recover()
        return runner

    @property
    def worker(self) -> str:
        """This process's name among those that work on the data folder."""
        return self._slot.name

    async def recover(self) -> None:
        """Put the unfinished jobs of killed processes back into their queues."""
        await asyncio.to_thread(_recover_abandoned, self._settings)

    async def close(self, *, drain_seconds: int = 10) -> None:
        """Take no more jobs and give the running ones some time; what is left stays unfinished for the next process."""
        await asyncio.to_thread(_destroy, drain_seconds)
        for future in list(self._running):
            future.cancel()
        await asyncio.to_thread(self._slot.release)


async def _awaited(handler: Handler, job: Job) -> None:
    await handler(job)


def _url(settings: Settings) -> str:
    return f"sqlite:///{private_folder(settings.data_dir) / FILE_NAME}"


def _create_tables(settings: Settings) -> str:
    from dbos import run_dbos_database_migrations

    url = _url(settings)
    with one_at_a_time(settings, "jobs-setup"):
        run_dbos_database_migrations(url)
    return url


def _client(settings: Settings) -> "DBOSClient":
    from dbos import DBOSClient

    return DBOSClient(system_database_url=_create_tables(settings), application_name=_APPLICATION)


def _launch(settings: Settings, slot: WorkerSlot, call: Callable[[Job], None], concurrency: Mapping[JobKind, int]) -> None:
    from dbos import DBOS, Queue

    DBOS(
        config={
            "name": _APPLICATION,
            "system_database_url": _create_tables(settings),
            "run_migrations": False,
            "application_version": _VERSION,
            # The default is the same in every process: a second one would run the live jobs of the first again.
            "executor_id": slot.name,
            "log_level": "WARNING",
        }
    )
    for kind, limit in concurrency.items():
        Queue(kind, worker_concurrency=limit, polling_interval_sec=POLLING_SECONDS)
        DBOS.workflow(name=kind)(_workflow(kind, call))
    DBOS.launch()


def _workflow(kind: JobKind, call: Callable[[Job], None]) -> Callable[[str, str], None]:
    from dbos import DBOS

    def run(owner: str, subject: str) -> None:
        DBOS.run_step({"name": kind}, call, Job(kind, owner, subject))

    return run


def _recover_abandoned(settings: Settings) -> None:
    from dbos import DBOS

    abandoned = WorkerSlot.acquire_abandoned(settings)
    try:
        # Its public counterpart is an HTTP endpoint; resuming job by job would take them out of their queues.
        DBOS._recover_pending_workflows([slot.name for slot in abandoned])
    finally:
        for slot in abandoned:
            slot.release()


def _destroy(drain_seconds: int) -> None:
    from dbos import DBOS

    DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=drain_seconds)
