"""The command line as people run it: real processes over a copy of the demo library."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from tests.fakes.provider import ScriptedProvider, call, completion

EVATAR = str(Path(sys.executable).parent / "evatar")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def evatar(demo_library: Path, tmp_path: Path) -> Run:
    """`evatar(*arguments, **environment)`, in an empty folder."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("EVATAR_", "OPENAI_", "TAVILY_", "BRAVE_"))}
        settings = {"EVATAR_DATA_DIR": str(demo_library), "EVATAR_TIMEZONE": "Asia/Shanghai", "EVATAR_OCR_WORKERS": "1", **environment}
        return subprocess.run(
            [EVATAR, *arguments],
            env={**clean, **settings},
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


def test_ask_cites_a_screenshot(evatar: Run):
    done = evatar("ask", "我的取件码是多少")
    assert (done.returncode, done.stderr) == (0, "")
    assert "12-4-6031" in done.stdout
    assert "[截图#" in done.stdout


def test_ask_json_is_one_object_with_the_trace(evatar: Run):
    answer = json.loads(evatar("ask", "最近三张截图", "--json").stdout)
    assert len(answer["citations"]) == 3
    assert answer["trace"][0]["node"] == "resolve_media"
    assert answer["error_type"] is None


def test_a_conversation_ends_with_an_empty_line_and_can_be_continued(evatar: Run):
    done = evatar("ask", "-i", "--json", stdin="你好\n最近一张截图\n\n")
    lines = [json.loads(line.removeprefix("› ").replace("› ", "")) for line in done.stdout.splitlines() if "{" in line]
    assert len({line["conversation_id"] for line in lines}) == 1
    again = json.loads(evatar("ask", "你好", "--json", "--conversation", lines[0]["conversation_id"]).stdout)
    assert again["conversation_id"] == lines[0]["conversation_id"]


def test_ask_with_a_picture(evatar: Run, tmp_path: Path):
    Image.new("RGB", (300, 200), "blue").save(tmp_path / "a.png")
    done = evatar("ask", "这张图是什么颜色", "--image", "a.png")
    assert "蓝色" in done.stdout


def test_ask_with_a_model(evatar: Run, provider: ScriptedProvider):
    provider.play(completion(tool_calls=[call("get_recent", limit=1)]), completion("最近的是这张 [截图#1]"))
    done = evatar("ask", "最近", EVATAR_CHAT__MODEL="gpt-x", EVATAR_CHAT__BASE_URL=provider.base_url, EVATAR_CHAT__API_KEY="sk-secret")
    assert "最近的是这张" in done.stdout
    assert provider.requests[0].json["stream"] is True
    assert "sk-secret" not in done.stdout + done.stderr


def test_search_with_and_without_words_of_time(evatar: Run):
    found = json.loads(evatar("search", "取件码", "--json").stdout)
    assert found["hits"][0]["app_name"] == "菜鸟"
    assert found["tier"] == "phrase"
    unknown = evatar("search", "取件码", "--time", "猴年马月")
    assert unknown.returncode == 2
    assert "猴年马月" in unknown.stderr


def test_status_counts_every_screenshot(evatar: Run):
    report = json.loads(evatar("status", "--json").stdout)
    assert report["status"] == {"done": report["total"]}
    assert report["total"] >= 12
    assert report["failures"] == []


def test_a_deleted_screenshot_is_found_no_more_and_deleting_it_again_fails(evatar: Run, demo_library: Path):
    target = json.loads(evatar("search", "取件码", "--json").stdout)["hits"][0]["id"]
    assert evatar("delete", str(target), "--yes").returncode == 0
    left = json.loads(evatar("search", "取件码", "--json").stdout)["hits"]
    assert target not in [hit["id"] for hit in left]
    again = evatar("delete", str(target), "--yes")
    assert again.returncode == 1
    assert f"#{target}" in again.stderr


def test_reindex_indexes_all(evatar: Run):
    total = json.loads(evatar("status", "--json").stdout)["total"]
    assert evatar("reindex").stdout == f"{total} screenshots indexed\n"


def test_importing_again_adds_nothing(evatar: Run):
    total = json.loads(evatar("status", "--json").stdout)["total"]
    demo = Path(__file__).resolve().parents[2] / "server" / "demo"
    report = json.loads(evatar("import", str(demo), "--json").stdout)
    assert (report["added"], report["failed"]) == (0, [])
    assert json.loads(evatar("status", "--json").stdout)["total"] == total


def test_graph_prints_both_machines(evatar: Run):
    assert "resolve_media" in evatar("graph").stdout
    assert "extract" in evatar("graph", "--analysis").stdout


def test_doctor_checks_pass(evatar: Run):
    checks = json.loads(evatar("doctor", "--json").stdout)
    assert [check["name"] for check in checks if not check["ok"]] == []


def test_wrong_settings_are_told_in_one_line(evatar: Run):
    done = evatar("status", EVATAR_TIMEZONE="Mars/Base")
    assert done.returncode == 2
    assert done.stderr.startswith("evatar: EVATAR_TIMEZONE: ")
    assert "Traceback" not in done.stderr


def test_a_question_is_needed(evatar: Run):
    assert evatar("ask").returncode == 2
