from pathlib import Path

import pytest

from backend.domain.errors import Invalid
from tests.error_codes import raises_code
from tests.factories.windows_media import EDITIONS, windows_iso
from worker.images.windows.editions import Edition, edition_of, editions, read_editions

PRO = Edition(
    index=2, name="Windows 11 Pro", id="Professional", installation="Client", build=26100, languages=("en-US",)
)


def server(name: str, installation: str, build: int = 20348) -> Edition:
    return Edition(index=1, name=name, id="ServerStandardEval", installation=installation, build=build, languages=())


class TestEditions:
    def test_finds_them_on_an_install_medium(self, tmp_path: Path) -> None:
        result = editions(windows_iso(tmp_path))
        assert [each.id for each in result] == ["Core", "Professional"]
        assert result[1] == PRO

    def test_invalid_medium_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "x.iso").write_bytes(bytes(2**20))
        with raises_code(Invalid, "invalid_iso", mentions="UDF"):
            editions(tmp_path / "x.iso")

    def test_refuses_a_medium_that_was_not_fetched_to_its_end(self, tmp_path: Path) -> None:
        whole = windows_iso(tmp_path)
        (tmp_path / "x.iso").write_bytes(whole.read_bytes()[: 260 * 2048])
        with raises_code(Invalid, "invalid_iso"):
            editions(tmp_path / "x.iso")

    def test_refuses_a_damaged_image(self, tmp_path: Path) -> None:
        whole = windows_iso(tmp_path)
        whole.write_bytes(whole.read_bytes().replace(b"MSWIM", b"XXXXX"))
        with raises_code(Invalid, "invalid_iso"):
            editions(whole)


class TestReadEditions:
    @pytest.mark.parametrize(
        ("description", "told"),
        [
            ("<WIM></WIM>", "no edition for x86-64"),
            ("<WIM>", "cannot be read"),
            (EDITIONS.replace("<BUILD>26100", "<BUILD>new"), "cannot be read"),
        ],
    )
    def test_refuses_what_names_none(self, description: str, told: str) -> None:
        with raises_code(Invalid, "invalid_iso", mentions=told):
            read_editions(description.encode("utf-16"))


class TestEditionOf:
    @pytest.mark.parametrize("wanted", ["Windows 11 Pro", "windows 11 pro", "professional"])
    def test_finds_it_by_name_or_id(self, wanted: str) -> None:
        assert edition_of(read_editions(EDITIONS.encode("utf-16")), wanted) == PRO

    def test_takes_the_only_one_unasked(self) -> None:
        assert edition_of([PRO], "") == PRO

    @pytest.mark.parametrize("wanted", ["", "Enterprise"])
    def test_lists_what_there_is_otherwise(self, wanted: str) -> None:
        with pytest.raises(Invalid) as told:
            edition_of(read_editions(EDITIONS.encode("utf-16")), wanted)
        assert "Windows 11 Home (Core); Windows 11 Pro (Professional)" in told.value.hint

    def test_prefers_the_server_edition_with_a_desktop(self) -> None:
        both = [server("Core", "Server Core"), server("Desktop", "Server")]
        assert edition_of(both, "ServerStandardEval").name == "Desktop"


class TestEdition:
    @pytest.mark.parametrize(
        ("build", "folder"), [(26100, "2k25"), (20348, "2k22"), (17763, "2k19"), (14393, "2k16"), (9600, "2k16")]
    )
    def test_each_server_has_its_drivers(self, build: int, folder: str) -> None:
        assert server("x", "Server", build).drivers == folder

    @pytest.mark.parametrize(("build", "folder"), [(26100, "w11"), (22000, "w11"), (19045, "w10")])
    def test_each_client_has_its_drivers(self, build: int, folder: str) -> None:
        assert PRO.model_copy(update={"build": build}).drivers == folder
