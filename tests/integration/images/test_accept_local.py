"""The acceptance of a Windows image, on a local desktop: it asks by the guest API only, which is the same."""

from collections.abc import Iterator

import pytest

from backend.config import Settings
from backend.domain import registry
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from tests.integration.desktop_supervisor.helpers import supervisor_options
from worker.desktop_supervisor.client import CHECKOUT
from worker.images.checks import ProgramCheck, basics, starts
from worker.images.windows.accept.resets import first_start, resets
from worker.images.windows.accept.routes import DesktopPaths, ask_all
from worker.providers.local import LocalProvider

pytestmark = pytest.mark.desktop
HOME = DesktopPaths("/home/user/accept/", "mousepad", "Mousepad")
SPEC = DesktopSpec()


@pytest.fixture(scope="module")
def provider() -> Iterator[LocalProvider]:
    registry.load()
    server, site = CHECKOUT / "vm_images" / "guest_server", CHECKOUT / ".guest-site"
    with supervisor_options("user", server=server, site=site) as options:
        made = LocalProvider(Settings(data_dir=options.cache.parent / "data"), options=options)
        offer = made.availability()
        if not offer.ok:
            made.close()
            pytest.skip(f"needs local desktops: {offer.reason}")
        if "mousepad" not in offer.programs:
            made.close()
            pytest.skip("needs mousepad: `make setup` installs it")
        yield made
        made.close()


class TestAskAll:
    def test_every_route_answers(self, provider: LocalProvider) -> None:
        opened = provider.open(SlotRef(0), SPEC)
        try:
            faults = {line.name: line.fault for line in ask_all(opened.desktop, HOME, windows=False) if not line.ok}
        finally:
            opened.close()
        # Recording needs ffmpeg in the desktop, which local ones need not have.
        assert set(faults) <= {"POST /start_recording", "POST /end_recording"}, faults


class TestCheckList:
    def test_finds_what_starts_and_what_does_not(self, provider: LocalProvider) -> None:
        opened = provider.open(SlotRef(0), SPEC)
        try:
            assert [line for line in basics(opened.desktop) if not line.ok] == []
            editor = ProgramCheck(command=("mousepad",), window="Mousepad", seconds=30)
            assert starts(opened.desktop, "Editor", editor).ok
            wrong = ProgramCheck(command=("true",), window="Mousepad", seconds=1)
            assert "no window with 'Mousepad'" in starts(opened.desktop, "Nothing", wrong).fault
        finally:
            opened.close()


class TestResets:
    def test_a_first_start_and_two_resets_pass_the_gate(self, provider: LocalProvider) -> None:
        assert first_start(provider, SPEC).ok
        section = resets(provider, SPEC, 2, tell=print)
        assert section.ok, section
        assert section.facts["p50"] > 0
