"""Word the outcome of the turn: what was done, what was not, what degraded. The one message the user reads."""

import time
from typing import Any

from langchain_core.messages import AIMessage

from memory.language import Language, language_of
from memory.state import ChatState, MediaProblem, StepResult
from nodes import trace
from nodes.dispatch import DEPENDENCY_FAILED, NO_EXECUTOR
from nodes.prompts import TIMED_OUT

_MISSING: dict[str, dict[Language, str]] = {
    "image_edit": {
        "zh": "抱歉，当前版本还不能编辑图片，原图没有任何改动。我可以看图、提取图中文字，或者在你的截图里查找信息。",
        "en": "Sorry, this build cannot edit pictures yet; your picture is unchanged. I can describe it, read its text, "
        "or search your screenshots.",
    },
    "image_gen": {
        "zh": "抱歉，当前版本还不能生成图片。我可以看图、提取图中文字，或者在你的截图里查找信息。",
        "en": "Sorry, this build cannot generate pictures yet. I can describe one, read its text, or search your screenshots.",
    },
    "video_gen": {
        "zh": "抱歉，当前版本还不能生成视频。我可以看图、提取图中文字，或者在你的截图里查找信息。",
        "en": "Sorry, this build cannot make videos yet. I can describe a picture, read its text, or search your screenshots.",
    },
    "model_3d": {
        "zh": "抱歉，当前版本还不能生成 3D 模型。我可以看图、提取图中文字，或者在你的截图里查找信息。",
        "en": "Sorry, this build cannot make 3D models yet. I can describe a picture, read its text, or search your screenshots.",
    },
}
_SKIPPED: dict[Language, str] = {
    "zh": "前一步没有完成，这一步已跳过。",
    "en": "The step before it did not finish, so this one was skipped.",
}
_DEGRADED: dict[Language, str] = {
    "zh": "（首选模型暂不可用，以上由内置引擎给出。）",
    "en": "(The preferred model was unavailable; the built-in engine answered.)",
}
_PROBLEM: dict[Language, str] = {"zh": "有一个附件没能使用：{reason}。", "en": "One attachment could not be used: {reason}."}
_REASONS: dict[str, dict[Language, str]] = {
    "unsupported_format": {"zh": "不支持的格式", "en": "unsupported format"},
    "too_large": {"zh": "文件太大", "en": "the file is too large"},
    "too_many_pixels": {"zh": "像素太多", "en": "too many pixels"},
    "bad_size": {"zh": "图片边长不在 16 到 16384 像素之间", "en": "its sides are not between 16 and 16,384 pixels"},
    "corrupt": {"zh": "文件已损坏", "en": "the file is damaged"},
    "empty": {"zh": "文件是空的", "en": "the file is empty"},
    "fetch_failed": {"zh": "链接无法下载", "en": "the link could not be downloaded"},
    "expired": {"zh": "链接或图片已失效", "en": "the link or picture has expired"},
    "forbidden_url": {"zh": "不允许访问这个链接", "en": "that address may not be fetched"},
}


def word_result(result: StepResult, executor: str, language: Language) -> str:
    """The user's words for one step."""
    if result["text"] == NO_EXECUTOR and result["status"] == "failed":
        return _MISSING[executor][language]
    if result["text"] == DEPENDENCY_FAILED and result["status"] == "skipped":
        return _SKIPPED[language]
    return result["text"] + ("\n\n" + _DEGRADED[language] if result["degraded"] else "")


def word_problem(problem: MediaProblem, language: Language) -> str:
    reason = _REASONS.get(problem["code"], {}).get(language, problem["code"])
    return _PROBLEM[language].format(reason=reason)


def compose(state: ChatState) -> str:
    """One text: the parts that could not be used, then all results in plan order."""
    language = language_of(state["input"]["text"])
    executors = {step["id"]: step["executor"] for step in state["plan"]}
    results = {result["step_id"]: result for result in state["results"]}
    parts = [word_problem(problem, language) for problem in state["input"]["problems"]]
    parts += [word_result(results[step_id], executor, language) for step_id, executor in executors.items() if step_id in results]
    return "\n\n".join(dict.fromkeys(part for part in parts if part)) or TIMED_OUT


async def reply(state: ChatState) -> dict[str, Any]:
    started = time.perf_counter()
    results = state["results"]
    message = AIMessage(
        id=f"{state['turn_id']}-reply",
        content=compose(state),
        additional_kwargs={
            "citations": [photo_id for result in results for photo_id in result["citations"]],
            "degraded": any(result["degraded"] for result in results),
            "error_type": next((result["error_type"] for result in results if result["error_type"]), None),
        },
    )
    outcome = ", ".join(f"{result['step_id']}:{result['status']}" for result in results)
    return {"messages": [message], "trace": [trace.entry(node="reply", started=started, decision=outcome)]}
