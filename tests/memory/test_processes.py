import asyncio
import os
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children
from pathlib import Path

import psutil
import pytest

from memory.processes import WorkerPool


def threads_of_opencv() -> int:
    import cv2

    return int(cv2.getNumThreads())


def die_once(mark: Path) -> int:
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def double(number: int) -> int:
    return 2 * number


def refuse() -> None:
    raise ValueError("no")


async def test_calls_run_in_other_processes_with_one_thread() -> None:
    pool = WorkerPool(2)
    assert await asyncio.gather(*(pool.run(double, number) for number in range(5))) == [0, 2, 4, 6, 8]
    assert await pool.run(os.getpid) != os.getpid()
    assert await pool.run(threads_of_opencv) == 1
    with pytest.raises(ValueError, match="no"):
        await pool.run(refuse)
    await pool.close()


async def test_a_pool_that_was_never_used_has_no_processes() -> None:
    pool = WorkerPool(2)
    assert active_children() == []
    await pool.close()


async def test_a_call_whose_worker_was_killed_is_run_again(tmp_path: Path) -> None:
    pool = WorkerPool(1)
    assert await pool.run(die_once, tmp_path / "mark") > 0
    assert await pool.run(double, 4) == 8
    await pool.close()


async def test_a_call_that_kills_every_worker_fails_alone() -> None:
    pool = WorkerPool(2)
    deadly, *rest = await asyncio.gather(pool.run(die), *(pool.run(double, number) for number in range(4)), return_exceptions=True)
    assert isinstance(deadly, BrokenProcessPool)
    assert rest == [0, 2, 4, 6]
    await pool.close()


PARENT = """
import asyncio, os
from memory.processes import WorkerPool

async def main():
    pool = WorkerPool(1)
    print(await pool.run(os.getpid), flush=True)
    await asyncio.Event().wait()

if __name__ == "__main__":
    asyncio.run(main())
"""


def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(root)}) as parent:
        assert parent.stdout is not None
        worker = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    psutil.wait_procs([worker], timeout=20)
    assert not worker.is_running()
