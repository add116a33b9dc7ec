"""The error table row by row: what real clients raise against the scripted provider, and what a caller of them may raise."""

import asyncio
import json
import re
import subprocess
import sys
from typing import Any, get_args

import httpx
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from pydantic import BaseModel, SecretStr

from memory.language import Language
from models.errors import POLICIES, ErrorClass, ErrorType, ModelError, causes, classify, message_for, retry_after, status_of
from models.remote.openai_chat import open_chat_model
from models.remote.vision import ask_about
from settings import ModelSettings
from tests.fakes.provider import Play, ScriptedProvider, completion, cut, empty_choices, hang, html_page, invalid_json, reset, status

NOTHING_SENT = "http://127.0.0.1:9/v1"  # the discard port: nobody listens


def said(code: int, message: str) -> Play:
    return status(code, {"error": {"message": message}})


def event(**error: Any) -> Play:
    """A stream whose only event is an error."""
    return status(200, f"data: {json.dumps({'error': error})}\n\n", content_type="text/event-stream")


async def raised_by_openai(base_url: str) -> Exception:
    async with openai.AsyncOpenAI(base_url=base_url, api_key="sk-secret", max_retries=0, timeout=0.3) as client:
        with pytest.raises(openai.APIError) as caught:
            await client.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "hi"}])
    return caught.value


async def raised_by_httpx(base_url: str) -> Exception:
    async with httpx.AsyncClient(timeout=0.3) as client:
        with pytest.raises(httpx.HTTPError) as caught:
            (await client.post(base_url, json={})).raise_for_status()
    return caught.value


async def raised_by_a_stream(base_url: str) -> Exception:
    settings = ModelSettings(model="gpt-x", base_url=base_url, api_key=SecretStr("sk-secret"))
    async with httpx.AsyncClient() as http:
        model = open_chat_model(settings, http=http, seconds=0.3)
        with pytest.raises(Exception) as caught:
            async for _ in model.astream([HumanMessage("hi")]):
                pass
    return caught.value


REPLIES = [
    (status(500), "transient"),
    (status(502), "transient"),
    (status(599), "transient"),
    (reset(), "transient"),
    (status(503), "capacity"),
    (status(529), "capacity"),
    (status(429), "rate_limited"),
    (hang(), "timeout_ambiguous"),
    (status(408), "timeout_ambiguous"),
    (status(504), "timeout_ambiguous"),
    (status(401), "auth_quota"),
    (status(402), "auth_quota"),
    (status(403), "auth_quota"),
    (status(404), "model_not_found"),
    (status(400), "capability"),
    (status(413), "capability"),
    (status(418), "capability"),
]


@pytest.mark.parametrize(("reply", "expected"), REPLIES)
@pytest.mark.parametrize("raised", [raised_by_openai, raised_by_httpx, raised_by_a_stream])
async def test_what_each_client_raises_for_a_reply(provider: ScriptedProvider, raised: Any, reply: Play, expected: str):
    provider.play(reply)
    assert classify(await raised(provider.base_url)) == expected


@pytest.mark.parametrize("raised", [raised_by_openai, raised_by_httpx, raised_by_a_stream])
async def test_a_server_that_does_not_listen_got_nothing(raised: Any):
    assert classify(await raised(NOTHING_SENT)) == "timeout_connect"


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        (400, "Your request was rejected as a result of our safety system (moderation_blocked)", "content_policy"),
        (400, "<400> InternalError.Algo.DataInspectionFailed: Output data may contain inappropriate content.", "content_policy"),
        (400, "The response was filtered: content_filter", "content_policy"),
        (400, "Content Exists Risk", "content_policy"),
        (400, "InputImageSensitiveContentDetected", "content_policy"),
        (400, "系统检测到输入或生成内容可能包含不安全或敏感内容", "content_policy"),
        (400, "header names are case sensitive", "capability"),
        (403, "Your account balance is too low: insufficient balance", "auth_quota"),
        (429, "You exceeded your current quota, please check your plan and billing details", "auth_quota"),
        (400, "Access denied, please make sure your account is in good standing. Arrearage", "auth_quota"),
        (400, "您的账户已欠费", "auth_quota"),
        (400, "Unsupported model version", "model_not_found"),
        (400, "Model Not Exist", "model_not_found"),
        (400, "The model `m-1` has been decommissioned", "model_not_found"),
        (422, "模型不存在", "model_not_found"),
        (400, "This model's maximum context length is 8192 tokens", "capability"),
        (413, "Request too large for gpt-x: reduce the length of the messages", "capability"),
        (429, "Request too large for gpt-x on tokens per min", "capability"),
        (404, "No endpoints found that support image input", "capability"),
        (400, "Invalid content type. image_url is only supported by certain models.", "capability"),
        (400, "This model does not support images", "capability"),
        (400, "unknown variant `image_url`, expected `text`", "capability"),
        (400, "You uploaded an unsupported image. Please make sure your image is valid.", "invalid_media"),
        (400, "The image length and width do not meet the model restrictions", "invalid_media"),
        (400, "image exceeds 5 MB maximum", "invalid_media"),
        (400, "The server does not support image format bmp", "invalid_media"),
        (413, "Image too large", "invalid_media"),
        (400, "Error while downloading http://198.51.100.7/a.png.", "media_fetch"),
        (400, "Failed to download multimodal content", "media_fetch"),
        (500, "moderation backend is down", "transient"),
    ],
)
async def test_the_words_of_a_refusal_tell_more_than_its_status(provider: ScriptedProvider, code: int, message: str, expected: str):
    provider.play(said(code, message))
    assert classify(await raised_by_openai(provider.base_url)) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (empty_choices(), "empty_result"),
        (html_page(), "empty_result"),
        (invalid_json(), "empty_result"),
        (cut("半句"), "transient"),
        (event(message="The server had an error", type="server_error"), "transient"),
        (event(message="Provider overloaded", code=503), "capacity"),
        (event(message="slow down", code=429), "rate_limited"),
        (event(message="The prompt was stopped", code="content_filter"), "content_policy"),
    ],
)
async def test_what_goes_wrong_inside_a_stream(provider: ScriptedProvider, reply: Play, expected: str):
    provider.play(reply)
    assert classify(await raised_by_a_stream(provider.base_url)) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "Output data may contain inappropriate content.", "code": "data_inspection_failed"}, "content_policy"),
        ({"message": "insufficient balance"}, "auth_quota"),
        ({"message": "Rate limit exceeded", "code": 429}, "rate_limited"),
        ({"message": "Provider overloaded", "code": 503}, "capacity"),
        ({"message": "upstream"}, "transient"),
    ],
)
async def test_an_error_told_in_a_reply_of_status_200(provider: ScriptedProvider, error: dict[str, Any], expected: str):
    provider.play(status(200, {"error": error}))
    settings = ModelSettings(model="gpt-x", base_url=provider.base_url, api_key=SecretStr("sk-secret"))
    async with httpx.AsyncClient() as http:
        with pytest.raises(ModelError) as caught:
            await ask_about(open_chat_model(settings, http=http, seconds=5), system="", question="hi", pictures=[])
    assert classify(caught.value) == expected


async def test_a_reply_that_is_no_json_has_a_bad_structure(provider: ScriptedProvider):
    provider.play(invalid_json())
    async with openai.AsyncOpenAI(base_url=provider.base_url, api_key="k", max_retries=0) as client:
        with pytest.raises(json.JSONDecodeError) as caught:
            await client.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "hi"}])
    assert classify(caught.value) == "bad_structure"


async def test_a_pool_without_a_free_connection_sent_nothing(provider: ScriptedProvider):
    provider.play(hang())
    timeout = httpx.Timeout(10, pool=0.05)
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=1), timeout=timeout) as client:
        first = asyncio.create_task(client.post(provider.base_url, json={}))
        await provider.received(1)
        with pytest.raises(httpx.PoolTimeout) as caught:
            await client.post(provider.base_url, json={})
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
    assert classify(caught.value) == "timeout_connect"


class Model(BaseModel):
    number: int


def raised(call: Any) -> BaseException:
    with pytest.raises(BaseException) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TimeoutError(), "timeout_ambiguous"),
        (ConnectionRefusedError(), "timeout_connect"),
        (ConnectionResetError(), "transient"),
        (asyncio.CancelledError(), "cancelled"),
        (ModelError(ErrorClass.EMPTY_RESULT, "NO_IMAGE"), "empty_result"),
        (raised(lambda: json.loads("{")), "bad_structure"),
        (raised(lambda: Model.model_validate({"number": "x"})), "bad_structure"),
        (openai.ContentFilterFinishReasonError(), "content_policy"),
        (KeyError("x"), "internal"),
    ],
    ids=repr,
)
def test_plain_exceptions(error: BaseException, expected: str):
    assert classify(error) == expected


async def test_running_out_of_time_is_not_being_cancelled():
    with pytest.raises(TimeoutError) as caught:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()
    assert classify(caught.value) == "timeout_ambiguous"


def test_an_error_that_was_being_handled_is_no_cause_when_the_client_says_so():
    def hide() -> None:
        try:
            raise ModelError(ErrorClass.CAPACITY)
        except ModelError:
            raise KeyError from None

    def wrap() -> None:
        try:
            raise ModelError(ErrorClass.CAPACITY)
        except ModelError as error:
            raise KeyError from error

    assert classify(raised(hide)) == "internal"
    assert classify(raised(wrap)) == "capacity"


def test_a_chain_that_bites_its_tail_ends():
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert list(causes(first)) == [first, second]
    assert classify(first) == "internal"


@given(code=st.integers(-1, 700), text=st.text(), body=st.one_of(st.none(), st.text(), st.integers(), st.lists(st.text())))
def test_every_status_and_text_has_a_class(code: int, text: str, body: object):
    answer = httpx.Response(code, request=httpx.Request("POST", "http://provider/v1"))
    found = classify(openai.APIStatusError(text, response=answer, body=body))
    assert found in POLICIES
    assert found is not ErrorClass.CANCELLED


@given(value=st.text(st.characters(max_codepoint=127, exclude_categories=["C"]), max_size=12))
def test_retry_after_is_seconds_or_nothing(value: str):
    answer = httpx.Response(429, headers={"retry-after": value}, request=httpx.Request("POST", "http://provider/v1"))
    asked = retry_after(openai.RateLimitError("", response=answer, body=None))
    assert (asked is not None) == bool(re.fullmatch(r"\d{1,6}(\.\d+)?", value.strip()))
    assert asked is None or asked >= 0


async def test_retry_after_is_found_through_the_client(provider: ScriptedProvider):
    provider.play(
        status(429, headers={"retry-after": "1.5"}), status(429), status(429, headers={"retry-after": "Tue, 01 Dec 2026 03:00:00 GMT"})
    )
    asked = [await raised_by_a_stream(provider.base_url) for _ in range(3)]
    assert [retry_after(error) for error in asked] == [1.5, None, None]
    assert [status_of(error) for error in asked] == [429] * 3


TABLE = {
    # class: same model again, next model, counts against the model, error_type
    "transient": (True, True, "yes", "llm_error"),
    "capacity": (False, True, "yes", "llm_error"),
    "rate_limited": (True, True, "no", "rate_limited"),  # again only by Retry-After: the pool's tests
    "timeout_connect": (True, True, "yes", "timeout"),
    "timeout_ambiguous": (False, True, "yes", "timeout"),
    "auth_quota": (False, True, "yes", "llm_error"),
    "model_not_found": (False, True, "yes", "llm_error"),
    "capability": (False, True, "no", "llm_error"),
    "invalid_media": (False, True, "no", "media_error"),
    "media_fetch": (True, True, "no", "media_error"),
    "content_policy": (False, False, "no", "content_policy"),
    "empty_result": (True, True, "yes", "llm_error"),
    "bad_structure": (True, True, "in_classification", "llm_error"),
    "not_configured": (False, False, "no", "llm_not_configured"),
    "cancelled": (False, False, "no", "cancelled"),
    "internal": (False, True, "no", "internal"),
}


@pytest.mark.parametrize("error_class", ErrorClass)
def test_the_policy_of_a_class_is_its_row(error_class: ErrorClass):
    policy = POLICIES[error_class]
    assert (policy.same_again, policy.next_model, policy.counts, policy.error_type) == TABLE[error_class]
    assert policy.error_type in get_args(ErrorType)


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("error_class", ErrorClass)
def test_every_class_is_worded_for_the_user(error_class: ErrorClass, language: Language):
    words = message_for(error_class, language)
    assert words.startswith({"zh": "警告: ", "en": "Warning: "}[language])
    assert 3 < len(words) < 120
    assert not re.search(r"[/\\{}]|sk-|https?:|Error\b|Traceback", words)
    assert bool(re.search(r"[一-鿿]", words)) == (language == "zh")


def test_importing_the_roles_imports_no_client_and_no_engine():
    heavy = ["openai", "langchain_openai", "httpx", "cv2", "rapidocr", "onnxruntime", "PIL"]
    roles = "models.errors, models.pool, models.chat, models.vision, models.screenshots, models.remote.openai_chat, models.remote.vision"
    program = f"import sys, {roles}\nprint([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_a_whole_answer_raises_nothing(provider: ScriptedProvider):
    provider.play(completion("好"))
    async with openai.AsyncOpenAI(base_url=provider.base_url, api_key="k", max_retries=0) as client:
        reply = await client.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "hi"}])
    assert reply.choices[0].message.content == "好"
