"""Multimodal chat models: pictures go along as data URIs, made anew for every attempt."""

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import HumanMessage, SystemMessage

from models.errors import ErrorClass, ModelError, classify
from models.remote.openai_chat import checked

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LONGEST_SIDE = 2048
"""Pixels; larger pictures are scaled down before they are sent, as the providers do themselves."""


def data_uri(data: bytes) -> str:
    """A JPEG data URI of at most LONGEST_SIDE. Blocking: call it in a thread."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as opened:
        picture = Image.new("RGB", opened.size, "white")
        rgba = opened.convert("RGBA")
        picture.paste(rgba, mask=rgba.getchannel("A"))
    picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=90)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()


async def ask_about(model: "BaseChatModel", *, system: str, question: str, pictures: Sequence[str]) -> str:
    """The model's words about `pictures` (data URIs, in order). Raises ModelError, and what the client raises."""
    images = [{"type": "image_url", "image_url": {"url": uri}} for uri in pictures]
    try:
        reply = await model.ainvoke([SystemMessage(system), HumanMessage([{"type": "text", "text": question}, *images])])
    except (ValueError, TypeError, LookupError) as error:  # LangChain's for a reply that is no chat completion
        told = classify(error)
        raise ModelError(ErrorClass.BAD_STRUCTURE if told is ErrorClass.INTERNAL else told) from error
    return str(checked(reply, ends_with_reason=True).text)
