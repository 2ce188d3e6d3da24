import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters.impress._slide import Relationship, desktop_path, links
from backend.domain.evaluators.getters.impress.audio_in_slide import AudioInSlide
from backend.domain.evaluators.getters.impress.background_image_in_slide import BackgroundImageInSlide
from tests.error_codes import raises_code
from tests.factories.desktops import linux, real_python
from tests.factories.office import soffice
from tests.factories.paint import canvas
from tests.factories.slide_media import RELS, presentation, with_link
from tests.factories.starter_tasks import FakeContext

FILE = "/home/user/Desktop/slides.pptx"
PARAMETERS = {"ppt_file_path": FILE, "slide_index": 0, "dest": "sound.mp3"}


def rels(package: bytes, slide: int = 0) -> str:
    return zipfile.ZipFile(BytesIO(package)).read(RELS.format(slide + 1)).decode()


def desktop(package: bytes, more: dict[str, bytes] | None = None, slide: int = 0) -> FakeContext:
    return linux({FILE: package, **(more or {})}, python=json.dumps(rels(package, slide)))


def value(getter: Any, context: FakeContext, folder: Path, **parameters: Any) -> Any:
    wanted = {**PARAMETERS, **parameters}
    return getter().read(getter().collect(context, wanted), wanted, folder)


def broken(package: bytes) -> bytes:
    """The same with relationships that cannot be unpacked: the last of several blocks is missing."""
    with zipfile.ZipFile(BytesIO(package)) as whole:
        entry = whole.getinfo(RELS.format(1))
    start = entry.header_offset + 30 + len(entry.filename)
    return package[:start] + b"\xff" * entry.compress_size + package[start + entry.compress_size :]


class TestAudioInSlide:
    @pytest.mark.parametrize("target", ["../media/media1.wav", "/ppt/media/media1.wav"])
    def test_embedded_sound_is_returned(self, target: str, tmp_path: Path) -> None:
        package = with_link("audio", target, b"RIFF")
        path = Path(value(AudioInSlide, desktop(package), tmp_path))
        assert (path.name, path.read_bytes()) == ("media1.wav", b"RIFF")

    @pytest.mark.parametrize(
        "target",
        ["file:///home/user/Desktop/my%20song.mp3", "my%20song.mp3", "/home/user/Desktop/my song.mp3"],
    )
    def test_linked_sound_is_returned(self, target: str, tmp_path: Path) -> None:
        """OSWorld takes the address for a path as it is written, and raises for one without `file://`."""
        package = with_link("audio", target, external=True)
        context = desktop(package, {"/home/user/Desktop/my song.mp3": b"ID3"})
        path = Path(value(AudioInSlide, context, tmp_path))
        assert (path.name, path.read_bytes()) == ("sound.mp3", b"ID3")

    def test_link_to_a_missing_file_is_none(self, tmp_path: Path) -> None:
        assert value(AudioInSlide, desktop(with_link("audio", "gone.mp3", external=True)), tmp_path) is None

    def test_unfollowed_link_gives_no_verdict(self, tmp_path: Path) -> None:
        context = linux({FILE: with_link("audio", "a.mp3", external=True)})
        with raises_code(EvaluatorFailed, "evidence_missing"):
            value(AudioInSlide, context, tmp_path)

    def test_sound_on_another_slide_is_ignored(self, tmp_path: Path) -> None:
        package = with_link("audio", "../media/media1.wav", b"RIFF", slide=1)
        assert value(AudioInSlide, desktop(package), tmp_path) is None
        assert value(AudioInSlide, desktop(package, slide=1), tmp_path, slide_index=1).endswith("media1.wav")

    @pytest.mark.parametrize("target", ["../../../../etc/passwd", "../media/gone.wav", ""])
    def test_link_target_outside_the_package_is_none(self, target: str, tmp_path: Path) -> None:
        assert value(AudioInSlide, desktop(with_link("audio", target)), tmp_path) is None

    def test_linked_sound_that_was_not_reported_is_none(self, tmp_path: Path) -> None:
        """An agent can write any number of them: that is no failure of the evaluation."""
        package = with_link("audio", "a.mp3", external=True)
        reply = rels(package).replace("a.mp3", "another.mp3")
        assert value(AudioInSlide, linux({FILE: package}, python=json.dumps(reply)), tmp_path) is None

    @pytest.mark.parametrize("data", [b"", b"no zip", presentation()[:9000], broken(with_link("audio", "a.mp3"))])
    def test_damaged_file_is_none(self, data: bytes, tmp_path: Path) -> None:
        assert value(AudioInSlide, linux({FILE: data}, python="null"), tmp_path) is None

    def test_the_worker_never_opens_the_archive(self, monkeypatch: pytest.MonkeyPatch) -> None:
        context = desktop(with_link("audio", "a.mp3", external=True))
        monkeypatch.setattr(zipfile, "ZipFile", None)
        assert [blob.name for blob in AudioInSlide().collect(context, PARAMETERS)][2:] == ["/home/user/Desktop/a.mp3"]

    def test_link_script_runs_in_a_real_python(self, tmp_path: Path) -> None:
        path = tmp_path / "slides's.pptx"
        path.write_bytes(with_link("audio", "a.mp3", external=True))
        context = linux({str(path): path.read_bytes(), str(tmp_path / "a.mp3"): b"ID3"})
        context.desktop.commands["python"] = real_python
        assert value(AudioInSlide, context, tmp_path / "out", ppt_file_path=str(path)).endswith("sound.mp3")
        path.write_bytes(b"no zip")
        assert AudioInSlide().collect(context, {**PARAMETERS, "ppt_file_path": str(path)})[1].data == b"null\n"


class TestBackgroundImageInSlide:
    def test_embedded_background_is_returned(self, tmp_path: Path) -> None:
        package = with_link("image", "../media/image7.png", b"PNG")
        path = Path(value(BackgroundImageInSlide, desktop(package), tmp_path))
        assert (path.name, path.read_bytes()) == ("image7.png", b"PNG")

    def test_file_saved_by_libreoffice_is_read(self, tmp_path: Path) -> None:
        """It names the parts anew."""
        picture = canvas(64, 48, circle="red")
        path = tmp_path / "slides.pptx"
        path.write_bytes(with_link("image", "../media/image7.png", picture, slide=1))
        package = soffice(path, "pptx").read_bytes()
        result = value(BackgroundImageInSlide, desktop(package, slide=1), tmp_path / "out", slide_index=1)
        assert Image.open(result).convert("RGB").tobytes() == Image.open(BytesIO(picture)).convert("RGB").tobytes()
        assert value(BackgroundImageInSlide, desktop(package), tmp_path / "out") is None

    def test_background_of_another_slide_is_ignored(self, tmp_path: Path) -> None:
        package = with_link("image", "../media/image7.png", b"PNG")
        assert value(BackgroundImageInSlide, desktop(package), tmp_path, slide_index=1) is None

    def test_missing_slide_is_none(self, tmp_path: Path) -> None:
        assert value(BackgroundImageInSlide, desktop(presentation()), tmp_path, slide_index=9) is None


class TestLinks:
    def test_invalid_xml_has_no_value(self) -> None:
        bomb = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
        assert [links(text) for text in ("", "<a", b"\0\1", bomb, "<a/>")] == [[]] * 5

    @pytest.mark.parametrize(
        ("target", "path"),
        [
            ("file:///C:/Users/x/a%20b.mp3", "C:/Users/x/a b.mp3"),
            ("C:\\x\\a.mp3", "C:\\x\\a.mp3"),
            ("a.mp3", "C:\\Users\\x\\a.mp3"),
        ],
    )
    def test_windows_paths_are_resolved(self, target: str, path: str) -> None:
        link = Relationship(id="1", type="audio", target=target, outside=True)
        assert desktop_path(link, "C:\\Users\\x\\slides.pptx") == path
