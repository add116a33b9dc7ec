"""LangGraph Studio's server, booted for real and driven by its SDK."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def studio(demo_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `langgraph dev` over a copy of the demo library."""
    port = free_port()
    library = shutil.copytree(demo_template, tmp_path_factory.mktemp("studio") / "library")
    log = tmp_path_factory.mktemp("studio") / "log"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("EVATAR_", "OPENAI_", "LANGSMITH_"))},
        "EVATAR_DATA_DIR": str(library),
        "EVATAR_TIMEZONE": "Asia/Shanghai",
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    command = [str(Path(sys.executable).parent / "langgraph"), "dev", "--no-browser", "--no-reload", "--port", str(port)]
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        wait_until_up(process, port, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


def wait_until_up(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    import httpx

    transport = httpx.HTTPTransport(retries=8)  # backs off 0.5, 1, 2 … s between refused connections
    with httpx.Client(transport=transport, timeout=60) as client:
        try:
            client.get(f"http://127.0.0.1:{port}/ok").raise_for_status()
        except httpx.HTTPError:
            process.kill()
            pytest.fail(f"langgraph dev did not come up:\n{log.read_text()[-3000:]}")


@pytest.fixture
def client(studio: str) -> Iterator[SyncLangGraphClient]:
    with get_sync_client(url=studio) as opened:
        yield opened


def test_input_state_and_context_have_forms(client: SyncLangGraphClient):
    (assistant,) = client.assistants.search(graph_id="evatar")
    schemas = client.assistants.get_schemas(assistant["assistant_id"])
    assert "messages" in schemas["input_schema"]["properties"]
    assert {"input", "analysis", "route", "plan", "results", "trace"} <= set(schemas["state_schema"]["properties"])
    assert {"tz", "now", "mode"} <= set(schemas["context_schema"]["properties"])
    assert {graph["graph_id"] for graph in client.assistants.search()} == {"evatar", "analysis"}


def test_a_turn_runs_and_its_state_says_why(client: SyncLangGraphClient):
    thread = client.threads.create()
    final = client.runs.wait(
        thread["thread_id"],
        "evatar",
        input={"messages": [{"role": "user", "content": "最近三张截图"}]},
        context={"tz": "Asia/Shanghai"},
    )
    assert final["messages"][-1]["content"].count("[截图#") >= 3
    nodes = [entry["node"] for entry in final["trace"]]
    assert nodes[0] == "resolve_media"
    assert {"classify", "route", "dispatch", "agent", "reply", "remember"} <= set(nodes)


def test_the_rooms_resolve_to_this_repository():
    code = (
        "import importlib, pathlib, graph, nodes, tools, memory, models, server, settings;"
        "print({pathlib.Path(m.__file__).resolve().parent.parent for m in (graph, nodes, tools, memory, models, server, settings)})"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True, text=True, check=True).stdout
    assert out.strip() == f"{{PosixPath('{ROOT}')}}"


def test_langgraph_validates_the_configuration():
    run = subprocess.run(
        [str(Path(sys.executable).parent / "langgraph"), "validate"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
