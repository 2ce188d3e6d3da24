"""The examples of docs/adding/ are complete: each is written out as its file, loaded, and used."""

import http.server
import importlib.util
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from backend.cli.commands.benchmark import zip_folder
from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.model.score import PartResult
from backend.domain.model.task import EvaluatorSpec, PartKind, Task, TaskKey
from backend.domain.model.trajectory import ActionType, Observation
from backend.domain.ports.agent import AgentContext
from backend.domain.ports.desktop import DesktopSpec
from backend.domain.registry import PluginKind
from backend.web.benchmarks.uploads import load_zip
from tests.architecture.tree import ROOT
from tests.error_codes import raises_fields
from tests.factories.models import CLICK, asked, endpoint, never
from tests.factories.recorded import click, picture, recorded, step
from tests.fakes.desktop import FakeDesktop
from tests.fakes.origin_server import origin
from worker.models.rate_limiter import RateLimiter
from worker.models.retrying_client import Caller
from worker.models.wait_timer import WaitTimer

ADDING = ROOT / "docs" / "adding"
EXAMPLE = re.compile(r"^```python\n(# (\S+\.py)\n.*?)^```", re.MULTILINE | re.DOTALL)
KINDS = {
    "action": PluginKind.ACTION_SPACE,
    "agent": PluginKind.AGENT,
    "benchmark": PluginKind.BENCHMARK,
    "metric": PluginKind.METRIC,
    "model": PluginKind.MODEL,
    "observation": PluginKind.OBSERVATION,
    "protocol": PluginKind.PROTOCOL,
    "provider": PluginKind.PROVIDER,
    "setup": PluginKind.SETUP,
    "training": PluginKind.TRAINING,
}


def example(page: str) -> tuple[str, Path]:
    """The example's text and the file that it says it is."""
    found = EXAMPLE.search((ADDING / f"{page}.md").read_text())
    assert found, f"docs/adding/{page}.md has no example that begins with its file's name"
    return found[1], Path(found[2])


def loaded(page: str, folder: Path) -> ModuleType:
    """The example as a module; it registers itself."""
    text, path = example(page)
    file = folder / path.name
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(f"{'.'.join(path.parts[:-1])}.{path.stem}", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def plugin(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """The plug-in of the page that the test names, taken out of the registry afterwards."""
    registry.load()
    before, modules = {kind: set(registry.entries(kind)) for kind in PluginKind}, set(sys.modules)
    module = loaded(request.param, tmp_path)
    _, path = example(request.param)
    try:
        yield registry.entries(KINDS[request.param])[registry.COMMON, path.stem]
    finally:
        for kind, known in before.items():
            for dialect, name in set(registry.entries(kind)) - known:
                registry.unregister(kind, name, dialect=dialect)
        for name in set(sys.modules) - modules:
            if sys.modules[name] is module:
                del sys.modules[name]


class Context:
    """Modules that a set-up step may use."""

    def __init__(self, desktop: FakeDesktop) -> None:
        self.desktop = desktop
        self.task = Task(
            key=TaskKey(domain="d", name="n"), dialect="common", instruction="i", evaluator=EvaluatorSpec(calls=())
        )

    def asset(self, name: str) -> bytes:
        return name.encode()


class GuestApiStub(http.server.BaseHTTPRequestHandler):
    """As much of a guest API as a provider asks for before it hands out a desktop."""

    def do_GET(self) -> None:  # noqa: N802 -- the base class's name
        screen = {"width": 640, "height": 480}
        body = {"api": "1", "platform": "Linux", "screen": screen, "capabilities": [], "clock": 1.0}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name
        """Quiet."""


@pytest.fixture
def guest() -> Iterator[str]:
    """The address of a guest that answers."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), GuestApiStub) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class TestPages:
    def test_every_plugin_kind_has_a_page(self) -> None:
        assert {path.stem for path in ADDING.glob("*.md")} == set(KINDS)

    @pytest.mark.parametrize("page", KINDS)
    def test_example_file_does_not_exist(self, page: str) -> None:
        _, path = example(page)
        assert (ROOT / path.parent).is_dir()
        assert not (ROOT / path).exists()

    @pytest.mark.parametrize("page", KINDS)
    def test_example_passes_the_linters(self, page: str, tmp_path: Path) -> None:
        text, path = example(page)
        (tmp_path / path.name).write_text(text.partition("\n")[2])
        ruff = [str(Path(sys.executable).with_name("ruff"))]
        settings = ["--config", str(ROOT / "pyproject.toml"), str(tmp_path)]
        checked = subprocess.run(
            [*ruff, "check", "--ignore", "INP001", *settings], capture_output=True, text=True, check=False
        )
        formatted = subprocess.run([*ruff, "format", "--check", *settings], capture_output=True, text=True, check=False)
        assert (checked.returncode, formatted.returncode) == (0, 0), checked.stdout + formatted.stdout


class TestExamples:
    @pytest.mark.parametrize("plugin", ["agent"], indirect=True)
    def test_agent(self, plugin: Any) -> None:
        agent = plugin({"key": "enter", "times": 1})
        agent.reset(AgentContext(instruction="press", screen=ScreenSize(), max_steps=5, seed=1))
        assert [action.keys for action in agent.act(Observation(index=0)).actions] == [("enter",)]
        assert [action.type for action in agent.act(Observation(index=1)).actions] == [ActionType.DONE]

    @pytest.mark.parametrize("plugin", ["metric"], indirect=True)
    def test_metric(self, plugin: Any, tmp_path: Path) -> None:
        file = tmp_path / "list.txt"
        file.write_text("a\n\nb\n")
        assert plugin(str(file), {"lines": 2}).value == 1.0
        assert plugin(str(file), {"lines": 3}).value == 0.0
        assert plugin(None, {"lines": 3}).value == 0.0

    @pytest.mark.parametrize("plugin", ["protocol"], indirect=True)
    def test_protocol(self, plugin: Any) -> None:
        spec = EvaluatorSpec(calls=())
        parts = [PartResult(name=f"p{n}", kind=PartKind.PHASE, value=value) for n, value in enumerate((1, 0, 1))]
        assert plugin.primary == "furthest"
        assert plugin()(spec, None, parts).measures == {"furthest": pytest.approx(1 / 3)}
        with pytest.raises(EvaluatorFailed):
            plugin()(spec, None, ())

    @pytest.mark.parametrize("plugin", ["observation"], indirect=True)
    def test_observation(self, plugin: Any) -> None:
        desktop = FakeDesktop()
        desktop.launch("editor")
        seen = plugin().observe(desktop, 3)
        assert (seen.index, [window.title for window in seen.windows]) == (3, ["editor"])
        assert seen.frame.media_type == "image/jpeg"

    @pytest.mark.parametrize("plugin", ["action"], indirect=True)
    def test_action_space(self, plugin: Any) -> None:
        parsed = plugin().parse("click 3 4\ntype hello\nDONE\n")
        assert [action.type for action in parsed] == [ActionType.CLICK, ActionType.TYPING, ActionType.DONE]
        with raises_fields(Invalid, path="line 2"):
            plugin().parse("DONE\nclick here")

    @pytest.mark.parametrize("plugin", ["setup"], indirect=True)
    def test_setup_step(self, plugin: Any) -> None:
        desktop = FakeDesktop()
        desktop.write_file("/home/user/list.txt", b"milk")
        context: Any = Context(desktop)
        step = plugin()
        step.check({"path": "/home/user/list.txt", "line": "eggs"})
        step.run(context, {"path": "/home/user/list.txt", "line": "eggs"})
        assert desktop.read_file("/home/user/list.txt") == b"milk\neggs\n"
        with pytest.raises(Invalid):
            step.check({"path": "/home/user/list.txt"})

    @pytest.mark.parametrize("plugin", ["training"], indirect=True)
    def test_training_form(self, plugin: Any) -> None:
        made = recorded(step(0, click(3, 4), explanation="There."), step(1, click(5, 6), frame=None))
        row = {"image": picture("0").path, "explanation": "There.", "x": 3, "y": 4}
        assert list(plugin().rows(made)) == [row]
        assert set(plugin.columns) == set(row)
        assert list(plugin().pictures(made)) == [picture("0")]
        assert plugin().refuses(recorded(step(0))) == "no click in a picture"

    @pytest.mark.parametrize("plugin", ["benchmark"], indirect=True)
    def test_benchmark(self, plugin: Any, tmp_path: Path) -> None:
        folder = tmp_path / "lists"
        folder.mkdir()
        (folder / "files.txt").write_text("one: make a file => /home/user/a.txt\n")
        benchmark = plugin().load(folder)
        assert [str(task.key) for task in benchmark.tasks] == ["files/one"]
        with zip_folder(folder, tmp_path / "lists.zip").open("rb") as archive:
            assert load_zip("checklist", archive) == benchmark
        (folder / "files.txt").write_text("one: make a file\n")
        with raises_fields(Invalid, path="files.txt, line 1"):
            plugin().load(folder)

    @pytest.mark.parametrize("plugin", ["model"], indirect=True)
    def test_model_client(self, plugin: Any) -> None:
        told = {"message": {"content": "Hello."}, "model": "m:1", "prompt_eval_count": 7, "eval_count": 2}
        with origin() as server:
            server.pages["/api/chat"] = json.dumps(told).encode()
            caller = Caller(endpoint("ollama", server.address), RateLimiter(1), WaitTimer(), never)
            reply = plugin(caller).complete(asked("Hi", tools=(CLICK,), seed=3))
            caller.close()
        sent = json.loads(server.asked[0][3])
        assert sent["messages"] == [{"role": "user", "content": "Hi", "images": []}]
        assert sent["options"] == {"seed": 3}
        assert (reply.text, reply.model, reply.usage.input_tokens, reply.dropped) == ("Hello.", "m:1", 7, ("tools",))

    @pytest.mark.parametrize("plugin", ["provider"], indirect=True)
    def test_provider(self, plugin: Any, guest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_DATA_DIR", str(tmp_path))
        provider = plugin(Settings())
        assert not provider.availability().ok
        program = tmp_path / "machine"
        program.write_text(f"#!/bin/sh\necho $@ >> {tmp_path}/calls\necho {guest} secret\n")
        program.chmod(0o755)
        assert provider.availability().ok
        opened = provider.open(SlotRef(1), DesktopSpec(screen=ScreenSize(width=640, height=480)))
        assert opened.desktop.screen == ScreenSize(width=640, height=480)
        provider.close()
        assert not opened.alive()
        assert (tmp_path / "calls").read_text() == "start 1 640 480\nstop 1\n"
