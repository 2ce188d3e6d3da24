from pathlib import Path

from worker.images.linux.options import sources_of
from worker.images.linux.packages import package_names, read_list

CHECKOUT = Path(__file__).resolve().parents[4]
SOURCES = sources_of(CHECKOUT)
NOT_APPLICATIONS = {"tesseract-ocr", "xorriso", "ovmf"}
"""Of `packages-full.txt`: what the worker itself calls."""


class TestReadList:
    def test_names_without_comments(self, tmp_path: Path) -> None:
        (tmp_path / "list").write_text("# head\n\nmousepad\nopenbox # window manager\n")
        assert read_list(tmp_path / "list") == ["mousepad", "openbox"]


class TestWanted:
    def test_a_machine_has_the_applications_of_local_desktops(self) -> None:
        """The same tasks run on both, and give the same scores."""
        result = package_names(SOURCES, "minimal")
        assert {"mousepad", "xfce4-terminal", "thunar", "openbox", "python3-aiohttp", "systemd-sysv"} <= set(result)
        assert list(result) == sorted(set(result))

    def test_it_has_a_card_and_walls_of_its_own(self) -> None:
        assert not {"xvfb", "bubblewrap"} & set(package_names(SOURCES, "full"))

    def test_full_has_what_full_local_desktops_have(self) -> None:
        names = set(read_list(SOURCES.scripts / "packages-full.txt"))
        assert names - set(package_names(SOURCES, "full")) == NOT_APPLICATIONS

    def test_full_has_all_of_minimal(self) -> None:
        assert set(package_names(SOURCES, "minimal")) < set(package_names(SOURCES, "full"))
