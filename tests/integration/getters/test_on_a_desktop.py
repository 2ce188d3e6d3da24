"""Getters whose worker half runs something in the desktop, on a real one of this machine."""

import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.config import Settings
from backend.domain import registry
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop
from backend.domain.registry import PluginKind
from tests.factories.slide_media import with_link
from tests.factories.starter_tasks import FakeContext
from tests.waiting import until

pytestmark = pytest.mark.desktop
HOME = "/home/user"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenDesktop]:
    from worker.providers.local import LocalProvider

    registry.load()
    provider = LocalProvider(Settings(data_dir=tmp_path_factory.mktemp("local")))
    offer = provider.availability()
    if not offer.ok:
        pytest.skip(f"needs local desktops: {offer.reason}")
    desktop = provider.open(SlotRef(0), DesktopSpec(screen=ScreenSize(width=800, height=600)))
    yield desktop
    desktop.close()
    provider.close()


@pytest.fixture
def context(opened: OpenDesktop) -> FakeContext:
    return FakeContext(opened.desktop)


def value(name: str, context: FakeContext, folder: Path, **parameters: Any) -> Any:
    getter = registry.lookup(PluginKind.GETTER, name)()
    return getter.read(getter.collect(context, parameters), parameters, folder)


def test_relative_dates_are_the_desktops(context: FakeContext, tmp_path: Path) -> None:
    rules = {"relativeTime": {"from": "this month"}, "expected": {"time": "{Year}-{Month0D}"}}
    found = value("rule_relativeTime", context, tmp_path, rules=rules)
    said = context.desktop.execute(["date", "+%Y-%m"]).output.strip()
    assert found["expected"]["time"] == said


def test_the_size_of_a_window_is_without_its_frame(context: FakeContext, tmp_path: Path) -> None:
    assert value("vm_window_size", context, tmp_path, app_class_name="xterm") is None
    context.desktop.launch(["xterm", "-geometry", "40x10"])
    until(lambda: any("xterm" in window.wm_class.lower() for window in context.desktop.windows()))
    framed = next(window for window in context.desktop.windows() if "xterm" in window.wm_class.lower())
    found = value("vm_window_size", context, tmp_path, app_class_name="XTerm")
    assert 0 < found["height"] < framed.height
    assert value("vm_screen_size", context, tmp_path) == {"width": 800, "height": 600}
    context.desktop.close_window("xterm", by_class=True)


def test_a_picture_on_the_desktop(context: FakeContext, tmp_path: Path) -> None:
    assert value("vm_wallpaper", context, tmp_path, dest="w.png") is None
    out = io.BytesIO()
    Image.new("RGB", (80, 60), "red").save(out, "PNG")
    context.desktop.write_file(f"{HOME}/red.png", out.getvalue())
    context.desktop.call("POST", "/setup/change_wallpaper", {"path": f"{HOME}/red.png"})
    path = value("vm_wallpaper", context, tmp_path, dest="w.png")
    assert Image.open(path).getpixel((5, 5))[:3] == (255, 0, 0)  # type: ignore[index]


def test_files_and_folders(context: FakeContext, tmp_path: Path) -> None:
    context.desktop.write_file(f"{HOME}/p/a ü.png", b"x")
    context.desktop.write_file(f"{HOME}/p/.hidden", b"x")
    context.desktop.write_file(f"{HOME}/names.txt", "a ü.png\n".encode())
    folders = {"file_path": f"{HOME}/names.txt", "folder_path": f"{HOME}/p"}
    assert value("all_png_file_names", context, tmp_path, **folders) == "true"
    assert value("is_file_hidden", context, tmp_path, file_path=f"{HOME}/p/.hidden") == "true"
    assert value("is_all_docx_in_archive", context, tmp_path, folder_path=f"{HOME}/p") == "false"
    place = {"folder_name": f"{HOME}/p", "file_name": "a ü.png"}
    assert value("vm_file_exists_in_vm_folder", context, tmp_path, **place) == 1.0
    assert value("vm_file_exists_in_vm_folder", context, tmp_path, **{**place, "file_name": "b.png"}) == 0.0


def test_a_sound_that_a_slide_links_to(context: FakeContext, tmp_path: Path) -> None:
    context.desktop.write_file(f"{HOME}/s.pptx", with_link("audio", "song.mp3", external=True))
    context.desktop.write_file(f"{HOME}/song.mp3", b"ID3")
    parameters = {"ppt_file_path": f"{HOME}/s.pptx", "slide_index": 0, "dest": "song.mp3"}
    assert Path(value("audio_in_slide", context, tmp_path, **parameters)).read_bytes() == b"ID3"


def test_settings_below_the_home(context: FakeContext, tmp_path: Path) -> None:
    context.desktop.write_file("~/.config/vlc/vlcrc", b"a=1\n")
    assert Path(value("vlc_config", context, tmp_path, dest="vlcrc")).read_bytes() == b"a=1\n"


def test_evidence_is_dated_by_the_desktop(context: FakeContext) -> None:
    assert abs(context.desktop.probe().clock - time.time()) < 60  # noqa: PLR2004 - seconds; both run on this machine.
