"""The composition root: what the nodes are given. Every member is made at its first use and opens in the running loop."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy.ext.asyncio import AsyncSession

from graph.analysis import build_analysis
from memory.assets import Assets
from memory.attempts import Attempts
from memory.blobs import BlobStore
from memory.context import ChatContext
from memory.conversations import Conversations
from memory.database import Database
from memory.fetch import Fetcher
from memory.jobs import Handler, Job, JobKind
from memory.maintenance import maintain
from memory.photos import Photos
from memory.processes import WorkerPool
from memory.runs import Runs
from memory.search.index import SqliteSearchIndex
from memory.search.maintenance import ensure_current
from memory.search.service import Knowledge
from memory.search.vectors import VectorSearch
from models.chat import ChatRole, chat_members
from models.embedded.classifier.classifier import EmbeddedClassifier
from models.embedded.embedder import MODEL, EmbeddedEmbeddings
from models.embedded.ocr import OcrResult, read_text
from models.screenshots import ScreenshotRole, screenshot_members
from models.vision import VisionRole, vision_members
from nodes.budget import BudgetPolicy
from settings import Settings

if TYPE_CHECKING:
    import httpx
    from langchain_core.language_models import BaseChatModel


class Services:
    """Everything that a turn and an import work with, for one event loop.

    Making one touches no file, key or network, so that `graph.main` can build its graphs at import.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.budget = BudgetPolicy()
        self._background: set[asyncio.Task[Any]] = set()

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings) -> AsyncIterator[Self]:
        services = cls(settings)
        try:
            yield services
        finally:
            await services.close()

    async def close(self) -> None:
        """Let go of what was opened. Work in the background is finished first."""
        await asyncio.gather(*self._background)
        made = vars(self)
        if "http" in made:
            await self.http.aclose()
        if "workers" in made:
            await self.workers.close()
        if "database" in made:
            await self.database.close()

    @cached_property
    def index(self) -> SqliteSearchIndex:
        return SqliteSearchIndex()

    @cached_property
    def database(self) -> Database:
        return Database(self.settings, prepare=self._prepare_index)

    async def _prepare_index(self, session: AsyncSession) -> None:
        """An index cut by another version is rebuilt in the background; until then it answers as it can."""
        await self.index.create(session)
        if not await self.index.is_current(session):
            task = asyncio.create_task(ensure_current(self.database, self.index))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    @cached_property
    def blobs(self) -> BlobStore:
        return BlobStore.open(self.settings)

    @cached_property
    def assets(self) -> Assets:
        return Assets(self.database, self.blobs)

    @cached_property
    def fetcher(self) -> Fetcher:
        return Fetcher()

    @cached_property
    def photos(self) -> Photos:
        return Photos(self.database, self.index)

    @cached_property
    def knowledge(self) -> Knowledge:
        return Knowledge(self.database, self.index, vectors=self.vectors)

    @cached_property
    def vectors(self) -> VectorSearch | None:
        """Search by meaning, when EVATAR_SEMANTIC asks for it."""
        return VectorSearch(embeddings=EmbeddedEmbeddings(), model=MODEL) if self.settings.semantic else None

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(self.database)

    @cached_property
    def runs(self) -> Runs:
        return Runs(self.database, self.conversations)

    @cached_property
    def attempts(self) -> Attempts:
        return Attempts(self.database)

    @cached_property
    def workers(self) -> WorkerPool:
        return WorkerPool(self.settings.ocr_workers)

    async def ocr(self, picture: bytes) -> OcrResult:
        """Read a picture in a worker process."""
        return await self.workers.run(read_text, picture)

    @cached_property
    def http(self) -> "httpx.AsyncClient":
        """The one client of the model providers."""
        import httpx

        return httpx.AsyncClient()

    @cached_property
    def classifier(self) -> EmbeddedClassifier:
        return EmbeddedClassifier()

    @cached_property
    def chat(self) -> ChatRole:
        return ChatRole(chat_members(self.settings.chat, embedded=_embedded_chat, http=lambda: self.http), ledger=self.attempts)

    @cached_property
    def vision(self) -> VisionRole:
        members = vision_members(self.settings.vision, pictures=self.assets, read_text=self._text_of, http=lambda: self.http)
        return VisionRole(members, ledger=self.attempts)

    async def _text_of(self, picture: bytes) -> str:
        return (await self.ocr(picture))["text"]

    @cached_property
    def screenshots(self) -> ScreenshotRole | None:
        """What reads screenshots beside OCR: nothing unless a vision model is configured."""
        members = screenshot_members(self.settings.vision, http=lambda: self.http)
        return ScreenshotRole(members, ledger=self.attempts) if members else None

    @cached_property
    def analysis(self) -> Any:
        """The compiled analysis graph."""
        return build_analysis(self)

    async def analyze(self, photo_id: int, *, owner: str) -> str:
        """Analyse one photo; returns the status it ended in (`done`, `pending`, `error` or `gone`)."""
        final = await self.analysis.ainvoke({"photo_id": photo_id}, context=ChatContext(owner=owner))
        return str(final["status"])

    def job_handlers(self) -> Mapping[JobKind, Handler]:
        """What each kind of job does. An analysis notes its own failure; a job that is run twice finds its work done."""

        async def analyze(job: Job) -> None:
            await self.analyze(int(job.subject), owner=job.owner)

        async def clean_up(_job: Job) -> None:
            await maintain(self.database, self.index)

        return {JobKind.ANALYZE: analyze, JobKind.MAINTAIN: clean_up}


def _embedded_chat() -> "BaseChatModel":
    from models.embedded.chat.member import EmbeddedChat

    return EmbeddedChat()
