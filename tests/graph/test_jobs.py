"""The registered job handlers, run by the real queue."""

import asyncio
from pathlib import Path

from graph.services import Services
from memory.jobs import Job, JobKind, JobQueue, JobRunner
from memory.scope import Scope
from settings import Settings

ME = Scope("local")


async def test_a_photo_is_analysed_again_and_the_database_is_cleaned_up(demo_library: Path):
    settings = Settings(data_dir=demo_library, timezone="Asia/Shanghai", ocr_workers=1)
    finished: asyncio.Queue[JobKind] = asyncio.Queue()
    async with Services.open(settings) as services:
        handlers = services.job_handlers()

        async def analyze(job: Job) -> None:
            await handlers[JobKind.ANALYZE](job)
            await finished.put(JobKind.ANALYZE)

        async def clean_up(job: Job) -> None:
            await handlers[JobKind.MAINTAIN](job)
            await finished.put(JobKind.MAINTAIN)

        await services.photos.requeue(scope=ME, photo_ids=[1])
        assert not [hit for hit in (await services.knowledge.recent(scope=ME, limit=20)).hits if hit.photo_id == 1]
        runner = await JobRunner.start(settings, handlers={JobKind.ANALYZE: analyze, JobKind.MAINTAIN: clean_up}, concurrency={})
        queue = await JobQueue.open(settings)
        try:
            await queue.enqueue(Job(JobKind.ANALYZE, owner="local", subject="1"))
            await queue.enqueue(Job(JobKind.MAINTAIN, owner="local"))
            async with asyncio.timeout(60):
                assert {await finished.get(), await finished.get()} == {JobKind.ANALYZE, JobKind.MAINTAIN}
        finally:
            await queue.close()
            await runner.close()
        assert [hit for hit in (await services.knowledge.recent(scope=ME, limit=20)).hits if hit.photo_id == 1]
        assert (await services.photos.counts(scope=ME)).status.keys() == {"done"}
