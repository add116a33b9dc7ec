"""A process of its own that runs jobs. Tells on standard output what happens; ends when standard input does."""

import asyncio
import sys
from pathlib import Path

from memory.jobs import Job, JobKind, JobRunner
from settings import Settings


async def main(data_dir: Path) -> None:
    async def handle(job: Job) -> None:
        print("started", job.subject or job.kind, flush=True)
        if job.subject == "bad":
            raise ValueError("no good")
        if job.subject.startswith("hang") and not (data_dir / "go on").exists():
            await asyncio.Event().wait()
        print("finished", job.subject or job.kind, flush=True)

    runner = await JobRunner.start(Settings(data_dir=data_dir), handlers=dict.fromkeys(JobKind, handle), concurrency={JobKind.ANALYZE: 2})
    print("ready", runner.worker, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.close(drain_seconds=1)
    print("closed", runner.worker, flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
