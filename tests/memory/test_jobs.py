import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory.jobs import Job, JobKind, JobQueue
from memory.workers import WorkerSlot
from settings import Settings

ROOT = Path(__file__).parents[2]
PATIENCE = 60


class Processes:
    """Processes that run jobs, and the lines that all of them have said so far."""

    def __init__(self, settings: Settings, reader: asyncio.StreamReader, mouth: int) -> None:
        self._settings = settings
        self._reader = reader
        self._mouth = mouth
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self.said: list[str] = []

    async def start(self, name: str) -> None:
        """Start one and wait until it is ready under that name."""
        command = [sys.executable, "-m", "tests.memory.job_worker", str(self._settings.data_dir)]
        self._running[name] = await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, stdin=subprocess.PIPE, stdout=self._mouth, stderr=subprocess.DEVNULL
        )
        await self.say(f"ready {name}")

    async def say(self, *expected: str) -> None:
        """Wait until each of these lines was said as often as it is named."""
        async with asyncio.timeout(PATIENCE):
            while any(self.said.count(line) < expected.count(line) for line in expected):
                self.said.append((await self._reader.readline()).decode().strip())

    async def kill(self, name: str) -> None:
        process = self._running.pop(name)
        process.kill()
        await process.wait()

    async def close(self, name: str) -> None:
        process = self._running[name]
        assert process.stdin is not None
        process.stdin.close()
        await self.say(f"closed {name}")
        await self._running.pop(name).wait()

    async def kill_all(self) -> None:
        for name in list(self._running):
            await self.kill(name)

    def started(self) -> list[str]:
        return sorted(line.removeprefix("started ") for line in self.said if line.startswith("started "))


@pytest.fixture
async def processes(sqlite_settings: Settings) -> AsyncIterator[Processes]:
    ear, mouth = os.pipe()
    reader = asyncio.StreamReader()
    with os.fdopen(ear, "rb") as pipe:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        processes = Processes(sqlite_settings, reader, mouth)
        yield processes
        await processes.kill_all()
        transport.close()
    os.close(mouth)


@pytest.fixture
async def queue(sqlite_settings: Settings) -> AsyncIterator[JobQueue]:
    opened = await JobQueue.open(sqlite_settings)
    yield opened
    await opened.close()


def analyze(subject: str) -> Job:
    return Job(JobKind.ANALYZE, "ann", subject)


async def test_jobs_handed_in_beforehand_are_run_once(queue: JobQueue, processes: Processes) -> None:
    for subject in ("1", "bad", "1", "2"):
        await queue.enqueue(analyze(subject))
    await queue.enqueue(Job(JobKind.MAINTAIN, "ann"))
    await processes.start("worker-0")
    await processes.say("finished 1", "finished 2", "started bad", "finished maintain")
    await processes.close("worker-0")
    assert processes.started() == ["1", "2", "bad", "maintain"]
    assert await queue.forget_finished() == 4
    assert await queue.forget_finished() == 0


async def test_the_jobs_of_killed_processes_are_run_by_the_next(sqlite_settings: Settings, queue: JobQueue, processes: Processes) -> None:
    hanging = ["hang-1", "hang-2", "hang-3"]
    await processes.start("worker-0")
    await processes.start("worker-1")
    for subject in hanging:  # at most two in one process
        await queue.enqueue(analyze(subject))
    await processes.say(*(f"started {subject}" for subject in hanging))
    await processes.kill("worker-0")
    await processes.kill("worker-1")
    (sqlite_settings.data_dir / "go on").touch()
    await processes.start("worker-0")
    await processes.say(*(f"finished {subject}" for subject in hanging))
    assert processes.started() == sorted(2 * hanging)


async def test_a_process_that_joins_leaves_live_jobs_alone(sqlite_settings: Settings, queue: JobQueue, processes: Processes) -> None:
    await processes.start("worker-0")
    await queue.enqueue(analyze("hang"))
    await processes.say("started hang")
    (sqlite_settings.data_dir / "go on").touch()  # were it started again, it would finish
    await processes.start("worker-1")
    short = [f"short-{number}" for number in range(12)]
    for subject in short:
        await queue.enqueue(analyze(subject))
    await processes.say(*(f"finished {subject}" for subject in short))
    assert processes.started() == sorted(["hang", *short])
    await processes.close("worker-0")  # which gives up on the job that hangs
    await processes.start("worker-0")
    await processes.say("finished hang")


def test_slots_are_unique_and_used_again(sqlite_settings: Settings) -> None:
    first, second = WorkerSlot.acquire(sqlite_settings), WorkerSlot.acquire(sqlite_settings)
    assert (first.name, second.name) == ("worker-0", "worker-1")
    first.release()
    abandoned = WorkerSlot.acquire_abandoned(sqlite_settings)
    assert [slot.name for slot in abandoned] == ["worker-0"]
    third = WorkerSlot.acquire(sqlite_settings)
    assert third.name == "worker-2"
    for slot in (*abandoned, second, third):
        slot.release()
    again = WorkerSlot.acquire(sqlite_settings)
    assert again.name == "worker-0"
    again.release()
