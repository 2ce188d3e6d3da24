import pytest

from backend.domain.errors import ClusterLost, Conflict
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import Availability, DesktopSpec
from tests.error_codes import raises_code
from tests.fakes.provider import FakeProvider
from worker.commands.prepare_image import FAILED, main, prepare

SPEC = DesktopSpec(screen=ScreenSize(width=1280, height=800), image="debian")


class Cloning(FakeProvider):
    """A provider whose desktops are clones."""

    name = "cloning"

    def __init__(self, *, why_not: str = "", lost: str = "") -> None:
        super().__init__()
        self.made: list[DesktopSpec] = []
        self._why_not, self._lost = why_not, lost

    def availability(self) -> Availability:
        return Availability(ok=not self._why_not, reason=self._why_not)

    def template(self, spec: DesktopSpec) -> object:
        if self._lost:
            raise ClusterLost(self._lost)
        self.made.append(spec)
        return spec


class TestPrepare:
    def test_uses_the_cloning_provider(self) -> None:
        cloning = Cloning()
        told = prepare([FakeProvider(), cloning], SPEC)
        assert cloning.made == [SPEC]
        assert {**told, "seconds": 0} == {"image": "debian", "screen": "1280x800", "provider": "cloning", "seconds": 0}

    def test_missing_cloning_provider_is_a_conflict(self) -> None:
        with raises_code(Conflict, "provider_not_runnable"):
            prepare([FakeProvider()], SPEC)

    def test_unusable_provider_is_a_conflict(self) -> None:
        with raises_code(Conflict, "provider_not_runnable", mentions="QEMU"):
            prepare([Cloning(why_not="no QEMU")], SPEC)

    def test_failed_preparation_is_raised(self) -> None:
        with raises_code(ClusterLost, "lost", mentions="the guest never answered"):
            prepare([Cloning(lost="the guest never answered")], SPEC)


class TestMain:
    def test_error_goes_to_standard_error_only(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["no-such-image"]) == FAILED
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.strip()
