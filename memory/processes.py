"""Processor-bound work in processes of its own, beside the event loop."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context, parent_process
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENCV_FOR_THREADS_NUM"), "1")


class WorkerPool:
    """Runs picklable calls in up to `workers` processes with one computing thread each; they start with the first call."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._executor: ProcessPoolExecutor | None = None
        self._alone = asyncio.Lock()

    async def run(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """`call(*args, **kwargs)` in a worker; its exception is raised here.

        When a worker dies, all calls in the pool are lost and each is run again by itself: only the one that kills its worker a
        second time raises BrokenProcessPool.
        """
        bound = partial(call, *args, **kwargs)
        executor = self._executor = self._executor or _spawn(self.workers)
        try:
            return await _run_in(executor, bound)
        except BrokenProcessPool:
            if self._executor is executor:
                self._executor = None
        async with self._alone:
            single = _spawn(1)
            try:
                return await _run_in(single, bound)
            finally:
                await _shut_down(single)

    async def close(self) -> None:
        """End the workers after what they are at; calls still waiting are cancelled. A later call starts them anew."""
        executor, self._executor = self._executor, None
        if executor is not None:
            await _shut_down(executor)


async def _run_in(executor: ProcessPoolExecutor, call: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(executor, call)


async def _shut_down(executor: ProcessPoolExecutor) -> None:
    await asyncio.to_thread(executor.shutdown, wait=True, cancel_futures=True)


def _spawn(workers: int) -> ProcessPoolExecutor:
    # fork hangs in a child once the parent has loaded an OCR engine
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_start_worker)


def _start_worker() -> None:
    """Ctrl-C is the parent's to handle. As many workers as cores leave no core for threads of their own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update(_ONE_THREAD)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed parent tells nobody: its workers would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
