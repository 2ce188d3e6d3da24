"""Getters of VLC, VS Code, GIMP, tables and presentations."""

from backend.domain.errors import EvaluatorFailed
from backend.domain.ports.desktop import ExecResult
from tests.factories.desktops import linux, windows
from tests.factories.getter_cases import GetterCase
from tests.factories.slide_media import presentation, with_link
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeWindow

SLIDES = "/home/user/Desktop/slides.pptx"


def with_vlc() -> FakeContext:
    context = linux()
    context.answers[8080, "/requests/status.xml"] = b"<root><state>playing</state></root>"
    return context


def with_players(*names: str) -> FakeContext:
    context = linux()
    lines = "\n".join(("/usr/bin/xdg-mime", *names))
    context.desktop.commands["command"] = lambda _: ExecResult(returncode=0, output=f"{lines}\n")
    return context


def with_code(files: dict[str, bytes]) -> FakeContext:
    return linux(files, open_windows=[FakeWindow(title="a.py - Visual Studio Code")])


CASES = {
    "vlc_playing_info": GetterCase(
        parameters={"dest": "status.xml"}, found=with_vlc, value="{folder}/status.xml", absent=linux
    ),
    "vlc_config": GetterCase(
        parameters={"dest": "vlcrc"},
        found=lambda: windows({"~\\AppData\\Roaming\\vlc\\vlcrc": b"qt-bgcone=0\n"}),
        value="{folder}/vlcrc",
        absent=linux,
    ),
    "default_video_player": GetterCase(
        parameters={},
        found=lambda: with_players("totem.desktop", "vlc.desktop", "vlc.desktop"),
        value="vlc.desktop",
        absent=linux,
        absent_value=EvaluatorFailed,
    ),
    "vscode_config": GetterCase(
        parameters={"vscode_extension_command": "OpenProject", "path": "/home/user/P.txt", "dest": "P.txt"},
        found=lambda: with_code({"/home/user/P.txt": b"project"}),
        value="{folder}/P.txt",
        absent=lambda: with_code({}),
    ),
    "gimp_config_file": GetterCase(
        parameters={"file_name": "gimprc", "dest": "gimprc"},
        found=lambda: linux({"~/.config/GIMP/2.10/gimprc": b'(theme "Light")'}),
        value="{folder}/gimprc",
        absent=linux,
    ),
    "conference_city_in_order": GetterCase(
        parameters={"csv_path": "/home/user/c.csv"},
        found=lambda: linux({"/home/user/c.csv": b"id,name,city\n1,ICML,Vienna\n2,ACL,Bangkok\n"}),
        value=["Vienna", "Bangkok"],
        absent=linux,
    ),
    "audio_in_slide": GetterCase(
        parameters={"ppt_file_path": SLIDES, "slide_index": 0, "dest": "sound.wav"},
        found=lambda: linux({SLIDES: with_link("audio", "../media/media1.wav", b"RIFF")}),
        value="{folder}/media1.wav",
        absent=lambda: linux({SLIDES: presentation()}),
    ),
    "background_image_in_slide": GetterCase(
        parameters={"ppt_file_path": SLIDES, "slide_index": 1, "dest": "picture.png"},
        found=lambda: linux({SLIDES: with_link("image", "../media/image1.png", b"PNG", slide=1)}),
        value="{folder}/image1.png",
        absent=lambda: linux({SLIDES: presentation()}),
    ),
}
