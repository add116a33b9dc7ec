"""The one error table: what a failure means for the model, for its pool, and for the user."""

import re
from asyncio import CancelledError
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from memory.language import Language

ErrorType = Literal["llm_not_configured", "llm_error", "timeout", "rate_limited", "content_policy", "media_error", "cancelled", "internal"]


class ErrorClass(StrEnum):
    TRANSIENT = "transient"
    CAPACITY = "capacity"
    RATE_LIMITED = "rate_limited"
    TIMEOUT_CONNECT = "timeout_connect"
    TIMEOUT_AMBIGUOUS = "timeout_ambiguous"
    AUTH_QUOTA = "auth_quota"
    MODEL_NOT_FOUND = "model_not_found"
    CAPABILITY = "capability"
    INVALID_MEDIA = "invalid_media"
    MEDIA_FETCH = "media_fetch"
    CONTENT_POLICY = "content_policy"
    EMPTY_RESULT = "empty_result"
    BAD_STRUCTURE = "bad_structure"
    NOT_CONFIGURED = "not_configured"
    CANCELLED = "cancelled"
    INTERNAL = "internal"


Counts = Literal["yes", "in_classification", "no"]


@dataclass(frozen=True, slots=True)
class Policy:
    """`same_again`: one more call of the same model. `next_model`: the pool goes on. `counts`: against the model's health."""

    same_again: bool
    next_model: bool
    counts: Counts
    error_type: ErrorType


POLICIES: dict[ErrorClass, Policy] = {
    ErrorClass.TRANSIENT: Policy(True, True, "yes", "llm_error"),
    ErrorClass.CAPACITY: Policy(False, True, "yes", "llm_error"),
    ErrorClass.RATE_LIMITED: Policy(True, True, "no", "rate_limited"),
    ErrorClass.TIMEOUT_CONNECT: Policy(True, True, "yes", "timeout"),
    ErrorClass.TIMEOUT_AMBIGUOUS: Policy(False, True, "yes", "timeout"),
    ErrorClass.AUTH_QUOTA: Policy(False, True, "yes", "llm_error"),
    ErrorClass.MODEL_NOT_FOUND: Policy(False, True, "yes", "llm_error"),
    ErrorClass.CAPABILITY: Policy(False, True, "no", "llm_error"),
    ErrorClass.INVALID_MEDIA: Policy(False, True, "no", "media_error"),
    ErrorClass.MEDIA_FETCH: Policy(True, True, "no", "media_error"),
    ErrorClass.CONTENT_POLICY: Policy(False, False, "no", "content_policy"),
    ErrorClass.EMPTY_RESULT: Policy(True, True, "yes", "llm_error"),
    ErrorClass.BAD_STRUCTURE: Policy(True, True, "in_classification", "llm_error"),
    ErrorClass.NOT_CONFIGURED: Policy(False, False, "no", "llm_not_configured"),
    ErrorClass.CANCELLED: Policy(False, False, "no", "cancelled"),
    ErrorClass.INTERNAL: Policy(False, True, "no", "internal"),
}
"""The rows of the provider notes. No call of the roles that exist is a paid submit: an ambiguous time-out may go to the next model.

A picture the model refuses is not sent to it again, for what was sent is a re-encoded copy already; the next model may have other limits,
and the embedded one reads whatever could be stored.
"""


class ModelError(Exception):
    """A failure found in a reply that arrived, such as one without content."""

    def __init__(self, error_class: ErrorClass, detail: str = "") -> None:
        super().__init__(detail or error_class.value)
        self.error_class = error_class


_STATUS: dict[int, ErrorClass] = {
    401: ErrorClass.AUTH_QUOTA,
    402: ErrorClass.AUTH_QUOTA,
    403: ErrorClass.AUTH_QUOTA,
    404: ErrorClass.MODEL_NOT_FOUND,
    408: ErrorClass.TIMEOUT_AMBIGUOUS,
    429: ErrorClass.RATE_LIMITED,
    503: ErrorClass.CAPACITY,
    504: ErrorClass.TIMEOUT_AMBIGUOUS,
    529: ErrorClass.CAPACITY,
}
_NAMED: dict[str, ErrorClass] = {
    "ContentFilterFinishReasonError": ErrorClass.CONTENT_POLICY,  # openai
    "InvalidAPIKeyError": ErrorClass.AUTH_QUOTA,  # tavily, whose errors carry no status
    "ForbiddenError": ErrorClass.AUTH_QUOTA,
    "UsageLimitExceededError": ErrorClass.RATE_LIMITED,
    "BadRequestError": ErrorClass.CAPABILITY,
}
_SAID: tuple[tuple[re.Pattern[str], ErrorClass], ...] = (
    (
        re.compile(
            r"content.?(policy|filter)|moderation|safety|data.?inspection|sensitive.?(content|word|info)|inappropriate"
            r"|content exists risk|high risk|敏感|违规",
            re.I,
        ),
        ErrorClass.CONTENT_POLICY,
    ),
    (re.compile(r"insufficient.?(quota|balance)|billing|arrear|credit balance|good standing|余额|欠费", re.I), ErrorClass.AUTH_QUOTA),
    (
        re.compile(
            r"context.?(length|window)|maximum context|too many tokens|(prompt|input|request)( is)? too (long|large)"
            r"|(does not|doesn.t|not) support (image|vision|tool|function)(?!.{0,3}(format|type|size))|image.?input|unknown variant"
            r"|only supported by certain models",
            re.I,
        ),
        ErrorClass.CAPABILITY,
    ),
    (
        re.compile(
            r"(fail\w*|unable|could ?n.t|cannot) (to )?(download|fetch)|invalid image url|(image|error|timeout|while) downloading", re.I
        ),
        ErrorClass.MEDIA_FETCH,
    ),
    (
        re.compile(
            r"(invalid|unsupported|corrupt\w*|too large).{0,20}image|image.{0,40}(invalid|unsupported|too (large|small)|exceed|restriction)"
            r"|support image (format|type|size)",
            re.I,
        ),
        ErrorClass.INVALID_MEDIA,
    ),
    (
        re.compile(
            r"(model|engine).{0,60}(not (exist|found)|does not exist|unsupported|deprecated|decommissioned)|unsupported model|模型不存在",
            re.I,
        ),
        ErrorClass.MODEL_NOT_FOUND,
    ),
)


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised from, outermost first, each once."""
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def status_of(error: BaseException) -> int | None:
    """The HTTP status of the reply behind an error of openai or httpx; of an error told inside a stream or a 200 its own code."""
    for one in causes(error):
        reply, told = getattr(one, "response", None), _error_object(one) or {}
        codes = (getattr(one, "status_code", None), getattr(reply, "status_code", None), getattr(one, "code", None), told.get("code"))
        for status in codes:
            if isinstance(status, int) and 100 <= status < 600:
                return status
    return None


def _error_object(error: BaseException) -> dict[str, Any] | None:
    """What a reply of status 200 said in place of choices: LangChain raises a ValueError of it."""
    return error.args[0] if error.args and isinstance(error.args[0], dict) else None


def retry_after(error: BaseException) -> float | None:
    """Seconds that the provider asks to wait, if it says so in seconds."""
    for one in causes(error):
        headers: Any = getattr(getattr(one, "response", None), "headers", None)
        value = headers.get("retry-after") if headers is not None else None
        if value is not None and re.fullmatch(r"\d{1,6}(\.\d+)?", value.strip()):
            return float(value)
    return None


def classify(error: BaseException) -> ErrorClass:
    """The class of any exception of a model call. Types are told by name, so that no client library is imported for it."""
    if isinstance(error, CancelledError):
        return ErrorClass.CANCELLED
    chain = list(causes(error))
    for one in chain:
        if isinstance(one, ModelError):
            return one.error_class
    names = {cls.__name__ for one in chain for cls in type(one).__mro__}
    if any("No generation chunks" in str(one) for one in chain):  # LangChain's word for a stream without events
        return ErrorClass.EMPTY_RESULT
    status = status_of(error)
    if status is not None and status >= 400:
        return _by_status(status, chain)
    known = next((_NAMED[name] for name in names if name in _NAMED), None) or _by_transport(names)
    if known is None and ("APIError" in names or any(map(_error_object, chain))):  # told inside a stream or a 200
        return _by_words(chain) or ErrorClass.TRANSIENT
    return known or ErrorClass.INTERNAL


def _by_status(status: int, chain: list[BaseException]) -> ErrorClass:
    said = _by_words(chain) if status in (400, 403, 404, 413, 422, 429) else None
    return said or _STATUS.get(status) or (ErrorClass.TRANSIENT if status >= 500 else ErrorClass.CAPABILITY)


def _by_words(chain: list[BaseException]) -> ErrorClass | None:
    said = " ".join(f"{one} {getattr(one, 'code', None) or ''}" for one in chain)
    return next((error_class for pattern, error_class in _SAID if pattern.search(said)), None)


def _by_transport(names: set[str]) -> ErrorClass | None:
    if names & {"ConnectTimeout", "PoolTimeout", "ConnectError", "ConnectionRefusedError", "gaierror"}:
        return ErrorClass.TIMEOUT_CONNECT
    if names & {"TimeoutException", "APITimeoutError", "TimeoutError"}:
        return ErrorClass.TIMEOUT_AMBIGUOUS
    if names & {"APIConnectionError", "TransportError", "ConnectionError"}:
        return ErrorClass.TRANSIENT
    if names & {"JSONDecodeError", "APIResponseValidationError", "ValidationError", "OutputParserException"}:
        return ErrorClass.BAD_STRUCTURE
    return None


_MESSAGES: dict[ErrorClass, dict[Language, str]] = {
    ErrorClass.TRANSIENT: {
        "zh": "模型服务暂时出错，请稍后重试。",
        "en": "The model service failed for a moment; please try again.",
    },
    ErrorClass.CAPACITY: {"zh": "模型服务繁忙，请稍后重试。", "en": "The model service is busy; please try again later."},
    ErrorClass.RATE_LIMITED: {
        "zh": "请求太频繁，模型限流了，请稍后重试。",
        "en": "Too many requests: the model is rate limited; please try again later.",
    },
    ErrorClass.TIMEOUT_CONNECT: {
        "zh": "连不上模型服务，请检查网络和服务地址。",
        "en": "The model service cannot be reached; check the network and its address.",
    },
    ErrorClass.TIMEOUT_AMBIGUOUS: {
        "zh": "模型响应超时，请求可能已经提交。",
        "en": "The model took too long; the request may have been submitted.",
    },
    ErrorClass.AUTH_QUOTA: {
        "zh": "模型的密钥无效或余额不足，请联系管理员检查配置。",
        "en": "The model's key is invalid or out of quota; ask the operator to check it.",
    },
    ErrorClass.MODEL_NOT_FOUND: {
        "zh": "配置的模型不存在或已下线，请检查模型名称。",
        "en": "The configured model does not exist or was retired; check its name.",
    },
    ErrorClass.CAPABILITY: {
        "zh": "当前模型不支持这个请求（例如图片输入或这么长的内容）。",
        "en": "The model cannot take this request, such as a picture or a text this long.",
    },
    ErrorClass.INVALID_MEDIA: {
        "zh": "图片无法使用：已被删除，或模型不接受它的大小或格式。",
        "en": "The picture cannot be used: it was deleted, or the model does not accept its size or format.",
    },
    ErrorClass.MEDIA_FETCH: {"zh": "模型无法下载图片。", "en": "The model could not download the picture."},
    ErrorClass.CONTENT_POLICY: {
        "zh": "内容未通过模型的安全审核，请换个说法。",
        "en": "The content did not pass the model's safety check; please rephrase.",
    },
    ErrorClass.EMPTY_RESULT: {"zh": "模型没有返回内容，请重试。", "en": "The model returned nothing; please try again."},
    ErrorClass.BAD_STRUCTURE: {
        "zh": "模型返回的格式不正确，请重试。",
        "en": "The model's reply was malformed; please try again.",
    },
    ErrorClass.NOT_CONFIGURED: {
        "zh": "所选的模型没有配置，请换一个模型，或请管理员配置它的密钥。",
        "en": "The chosen model is not configured; choose another, or ask the operator to set its key.",
    },
    ErrorClass.CANCELLED: {"zh": "已取消。", "en": "Cancelled."},
    ErrorClass.INTERNAL: {"zh": "内部错误，请重试。", "en": "An internal error; please try again."},
}


def message_for(error_class: ErrorClass, language: Language) -> str:
    """What the user reads: short, actionable, without key, path or stack trace."""
    prefix = "警告: " if language == "zh" else "Warning: "
    return prefix + _MESSAGES[error_class][language]
