"""Applications that published tasks name, on whole desktops: started, asked and ended as the tasks do it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.config import Settings
from backend.domain import registry
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import Desktop, DesktopSpec, OpenDesktop
from backend.domain.registry import PluginKind
from backend.domain.setup import run_step
from tests.factories.starter_tasks import make_task
from tests.factories.video import frames, video
from tests.fakes.web import FakeWeb
from tests.integration.desktop_supervisor.helpers import supervisor_options
from tests.sampling import sample
from tests.waiting import until
from worker.attempt.task_context import TaskContext
from worker.desktop_supervisor.client import CHECKOUT
from worker.devtools.servers import Servers
from worker.providers.local import LocalProvider

pytestmark = pytest.mark.desktop
SERVER, SITE = CHECKOUT / "vm_images" / "guest_server", CHECKOUT / ".guest-site"
HOME = "/home/user"
CHROME = {"command": ["google-chrome", "--remote-debugging-port=1337"]}
VLC = ("vlc", "--no-audio", "--no-video-title-show")


@pytest.fixture(scope="module", params=sample(["root", "user"], 1))
def provider(request: pytest.FixtureRequest) -> Iterator[LocalProvider]:
    """As root or as an ordinary user; under `make test-all` as both."""
    registry.load()
    with supervisor_options(request.param, server=SERVER, site=SITE) as options:
        made = LocalProvider(Settings(data_dir=options.cache.parent / "data"), options=options)
        offer = made.availability()
        if not offer.ok:
            made.close()
            pytest.skip(f"needs local desktops: {offer.reason}")
        yield made
        made.close()


@pytest.fixture
def opened(provider: LocalProvider) -> Iterator[OpenDesktop]:
    made = provider.open(SlotRef(0), DesktopSpec())
    yield made
    made.close()


@pytest.fixture
def context(opened: OpenDesktop) -> Iterator[TaskContext]:
    """Of a task of OSWorld."""
    servers = Servers(opened)
    task = make_task().model_copy(update={"dialect": "osworld"})
    yield TaskContext(opened.desktop, task, FakeWeb(), {}, lambda _: b"", servers)
    servers.close()


def need(desktop: Desktop, program: str) -> None:
    """Skips the test if the desktop has no such program."""
    if desktop.execute(["sh", "-c", f"command -v {program}"]).returncode:
        pytest.skip(f"needs {program}: make setup APPS=full")


def running(desktop: Desktop, name: str) -> bool:
    return desktop.execute(["pgrep", name]).returncode == 0


def value(context: TaskContext, name: str, folder: Path, **parameters: Any) -> Any:
    """A getter's result."""
    getter = registry.lookup(PluginKind.GETTER, name, "osworld")()
    return getter.read(getter.collect(context, parameters), parameters, folder)


@pytest.mark.sampled(1)
class TestChrome:
    """Debian's Chromium in its place."""

    @pytest.fixture(autouse=True)
    def _started(self, context: TaskContext) -> None:
        need(context.desktop, "chromium")
        # Only the profile under Chrome's own name is left to be used.
        assert context.desktop.execute(["rm", f"{HOME}/.config/chromium"]).returncode == 0
        run_step(context, "launch", CHROME)

    def test_its_profile_is_chromes(self, context: TaskContext) -> None:
        assert context.desktop.read_file(f"{HOME}/.config/google-chrome/Local State")
        assert context.desktop.execute(["test", "-e", f"{HOME}/.config/chromium/Local State"]).returncode == 1

    @pytest.mark.parametrize("command", [["pkill", "chrome"], ["killall", "chrome"], ["pkill", "-f", "google/chrome"]])
    def test_is_ended_by_its_name(self, context: TaskContext, command: list[str]) -> None:
        assert context.desktop.execute(command).returncode == 0
        until(lambda: not running(context.desktop, "chrom"))
        assert not context.desktop.windows()

    def test_a_task_that_ends_and_starts_it_again(self, context: TaskContext) -> None:
        run_step(context, "launch", {"command": ["pkill", "chrome"]})
        assert not running(context.desktop, "chrome")
        run_step(context, "launch", CHROME)
        until(lambda: bool(context.browser().tabs()))


@pytest.mark.sampled(1)
class TestVlc:
    def test_asks_nothing_at_its_first_start(self, context: TaskContext) -> None:
        need(context.desktop, "vlc")
        run_step(context, "launch", {"command": " ".join(VLC), "shell": True})
        assert [window.title for window in context.desktop.windows()] == ["VLC media player"]

    def test_says_what_it_plays(self, context: TaskContext, tmp_path: Path) -> None:
        need(context.desktop, "vlc")
        context.desktop.write_file(f"{HOME}/film.avi", Path(video(tmp_path / "film.avi", frames(40))).read_bytes())
        run_step(context, "launch", {"command": [*VLC, "--loop", f"{HOME}/film.avi"]})
        rule = {"type": "file_name", "file_name": "film.avi"}
        metric = registry.lookup(PluginKind.METRIC, "is_vlc_playing", "osworld")

        def plays() -> bool:
            folder = Path(tempfile.mkdtemp(dir=tmp_path))
            status = value(context, "vlc_playing_info", folder, dest="status.xml")
            return bool(metric(status, rule).value == 1)

        until(plays)

    def test_is_not_yet_the_default_player(self, context: TaskContext, tmp_path: Path) -> None:
        need(context.desktop, "vlc")
        need(context.desktop, "mpv")
        assert value(context, "default_video_player", tmp_path) == "mpv.desktop"


class TestGimp:
    def test_starts_and_writes_its_settings_when_it_ends(self, context: TaskContext, tmp_path: Path) -> None:
        need(context.desktop, "gimp")
        run_step(context, "launch", {"command": ["gimp"]})
        assert [window.wm_class for window in context.desktop.windows()] == ["gimp.Gimp"]
        quit_it = "import pyautogui; pyautogui.hotkey(['ctrl', 'q'])"
        run_step(context, "execute", {"command": ["python3", "-c", quit_it]})
        until(lambda: not context.desktop.windows())
        assert value(context, "gimp_config_file", tmp_path, file_name="sessionrc", dest="sessionrc")
