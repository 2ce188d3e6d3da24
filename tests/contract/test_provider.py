"""The contract of every Provider. Runs against the fake and against the real ones that can work here."""

from collections.abc import Iterator

import pytest

from backend.domain.errors import NotFound
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import Desktop, DesktopSpec, OpenDesktop, Provider
from tests.contract.conftest import SPEC, WITH_WINE_AT_LENGTH, opened_provider
from tests.contract.kinds import kind_of


@pytest.fixture(scope="module", params=WITH_WINE_AT_LENGTH)
def provider(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """Every provider that can work here, and Wine's desktops."""
    with opened_provider(request.param, tmp_path_factory) as made:
        yield made


def leave(desktop: Desktop) -> None:
    """A file in the user's folder."""
    desktop.write_file(f"{kind_of(desktop).home}left-behind", b"1")


def is_there(desktop: Desktop) -> bool:
    """Whether the file exists."""
    kind = kind_of(desktop)
    return desktop.execute([*kind.shows, f"{kind.home}left-behind"]).returncode == 0


class TestOpen:
    def test_a_desktop_is_ready_for_its_first_observation(self, opened: OpenDesktop) -> None:
        assert opened.alive()
        assert opened.death_reason() == ""
        assert opened.desktop.frame().data

    def test_stream_address_is_reachable(self, opened: OpenDesktop) -> None:
        address, secret = opened.stream_address()
        assert address.partition(":")[0] in {"http", "unix"}
        assert secret

    def test_details_are_json(self, opened: OpenDesktop) -> None:
        import json

        assert json.loads(json.dumps(dict(opened.details)))["provider"]

    def test_two_slots_are_two_machines(self, provider: Provider, opened: OpenDesktop) -> None:
        other = provider.open(SlotRef(2), SPEC)
        try:
            leave(opened.desktop)
            assert is_there(opened.desktop)
            assert not is_there(other.desktop)
        finally:
            other.close()

    def test_a_slot_is_pristine_every_time(self, provider: Provider) -> None:
        first = provider.open(SlotRef(0), SPEC)
        leave(first.desktop)
        first.close()
        second = provider.open(SlotRef(0), SPEC)
        try:
            assert not is_there(second.desktop)
        finally:
            second.close()

    def test_the_screen_is_as_asked(self, provider: Provider) -> None:
        made = provider.open(SlotRef(0), DesktopSpec(screen=ScreenSize(width=1024, height=768)))
        try:
            assert (made.desktop.frame().width, made.desktop.frame().height) == (1024, 768)
        finally:
            made.close()


class TestLetOut:
    def test_says_again_and_again_what_may_be_reached(self, opened: OpenDesktop) -> None:
        def fetch(sha256: str) -> bytes:
            raise NotFound(sha256)

        opened.let_out(EgressRules(hosts=("a.example",), files={"https://a.example/x": "0" * 64}), fetch)
        opened.let_out(EgressRules(), fetch)
        assert opened.alive()


class TestClose:
    def test_twice_is_once(self, provider: Provider) -> None:
        made = provider.open(SlotRef(0), SPEC)
        made.close()
        made.close()
        assert not made.alive()


class TestPrepare:
    def test_a_prepared_desktop_is_pristine_and_as_requested(self, provider: Provider) -> None:
        provider.prepare(SlotRef(0), SPEC)
        made = provider.open(SlotRef(0), SPEC)
        try:
            assert made.desktop.screen == SPEC.screen
        finally:
            made.close()

    def test_a_desktop_prepared_for_another_screen_is_not_used(self, provider: Provider) -> None:
        provider.prepare(SlotRef(0), DesktopSpec(screen=ScreenSize(width=640, height=480)))
        made = provider.open(SlotRef(0), SPEC)
        try:
            assert made.desktop.frame().width == SPEC.screen.width
        finally:
            made.close()

    def test_an_unused_prepared_desktop_is_removed(self, provider: Provider) -> None:
        provider.prepare(SlotRef(0), SPEC)
        provider.unprepare(SlotRef(0))
        provider.unprepare(SlotRef(0))
        made = provider.open(SlotRef(0), SPEC)
        try:
            assert not made.details.get("prepared")
        finally:
            made.close()


class TestAvailability:
    def test_says_what_can_run(self, provider: Provider) -> None:
        offer = provider.availability()
        assert offer.ok
        assert offer.programs
