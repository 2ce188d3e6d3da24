"""A task leaves traces of every kind; the next task on the slot finds none of them.

For every provider that works here. The first desktop is looked at by the same means, so that a look which could not
find anything fails; a neighbour that ran meanwhile is looked at, too.
"""

import base64
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from backend.domain.errors import GuestLost, GuestRefused
from backend.domain.machines.health import HealthLimits
from backend.domain.machines.machine_image import DEFAULT
from backend.domain.machines.slots import SlotRef
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.desktop import Desktop, DesktopSpec, OpenDesktop, Provider
from tests.contract import traces
from tests.contract.conftest import REAL_PROVIDERS, SPEC, made_provider
from tests.waiting import until
from worker.base.health import check_health

pytestmark = pytest.mark.desktop
SECONDS = 120.0
WINDOW = "Notes of an earlier task"
CLOCK_OFF = 60.0


@dataclass(frozen=True)
class DesktopTraces:
    """Traces on a desktop, by name, and why the health gate refuses it (empty if it does not)."""

    found: Mapping[str, str]
    refused: str


@dataclass(frozen=True)
class Story:
    """Traces of the first task, and where each was found."""

    left: Mapping[str, str]
    itself: DesktopTraces
    neighbour: DesktopTraces
    prepared: DesktopTraces
    again: DesktopTraces


def inside(desktop: Desktop, function: str) -> dict[str, str]:
    done = desktop.run_python(traces.script(function), timeout=SECONDS)
    assert done.returncode == 0, done.error
    told: dict[str, str] = json.loads(done.output)
    return told


def leave(desktop: Desktop) -> dict[str, str]:
    """The first task. What needs no Python is done as an agent does it."""
    desktop.call("POST", "/clipboard", {"text": traces.MARK})
    desktop.launch(["notepad"] if desktop.probe().platform == "Windows" else ["xterm", "-title", WINDOW])
    until(lambda: bool(desktop.windows()), 30)
    desktop.perform(Action(type=ActionType.TYPING, text=traces.MARK))
    left = inside(desktop, "leave")
    return {"clipboard": traces.LEFT, "window": traces.LEFT, **left}


def change_clock(opened: OpenDesktop) -> str:
    """A day later, by the guest API's own call after a restore: what a machine's user may not, its guest server may.

    A desktop that shares the host's clock refuses.
    """
    entropy, secret = base64.b64encode(os.urandom(64)).decode(), opened.stream_address()[1]
    told = {"time": time.time() + traces.AWAY_SECONDS, "entropy": entropy, "secret": secret}
    try:
        opened.desktop.call("POST", "/restored", told)
    except GuestRefused:
        return traces.REFUSED
    return traces.LEFT


def look(desktop: Desktop) -> DesktopTraces:
    """The next task."""
    found = inside(desktop, "find")
    found["clipboard"] = traces.LEFT if traces.MARK in desktop.clipboard() else traces.NONE
    found["window"] = traces.LEFT if desktop.windows() else traces.NONE
    found["clock"] = traces.LEFT if abs(desktop.probe().clock - time.time()) > CLOCK_OFF else traces.NONE
    try:
        check_health(desktop, SPEC.screen, desktop.frame(), HealthLimits(), pause=lambda _: None)
    except GuestLost as lost:
        return DesktopTraces(found, lost.message)
    return DesktopTraces(found, "")


def closing(opened: OpenDesktop) -> DesktopTraces:
    try:
        return look(opened.desktop)
    finally:
        opened.close()


MACHINES = [
    *(pytest.param((each.values[0], DEFAULT), marks=each.marks, id=str(each.values[0])) for each in REAL_PROVIDERS),
    pytest.param(("local", "wine"), marks=pytest.mark.long, id="local-wine"),
]
"""Every kind of desktop: a provider, and one of its images. With Wine it takes half a minute."""


def spec_of(provider: Provider, image: str) -> DesktopSpec:
    """A desktop of that image; skips where the provider cannot make it."""
    for offer in provider.availability().images:
        if offer.name == image and offer.reason:
            pytest.skip(f"needs the image {image}: {offer.reason}")
    return SPEC.model_copy(update={"image": image})


@pytest.fixture(scope="module", params=MACHINES)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """The first task on slot 0 and its neighbour on slot 1; then slot 0 again, once prepared ahead and once not."""
    name, image = request.param
    provider: Provider = made_provider(name, tmp_path_factory)
    try:
        spec = spec_of(provider, image)
        first, neighbour = provider.open(SlotRef(0), spec), provider.open(SlotRef(1), spec)
        left = {**leave(first.desktop), "clock": change_clock(first)}
        provider.prepare(SlotRef(0), spec)
        itself, beside = look(first.desktop), closing(neighbour)
        first.close()
        prepared = closing(provider.open(SlotRef(0), spec))
        yield Story(left, itself, beside, prepared, closing(provider.open(SlotRef(0), spec)))
    finally:
        provider.close()


def of(looked: DesktopTraces) -> dict[str, str]:
    """Every trace that was found."""
    return {name: state for name, state in looked.found.items() if state != traces.NONE}


class TestNothingRemains:
    def test_the_first_task_finds_what_it_left(self, story: Story) -> None:
        assert {name: state for name, state in story.left.items() if state == traces.LEFT} == of(story.itself)
        assert {"files", "settings", "process", "clipboard", "window", "full disk"} <= set(of(story.itself))

    def test_health_check_refuses_the_used_desktop(self, story: Story) -> None:
        assert "disk: " in story.itself.refused
        assert "processes: " in story.itself.refused
        assert ("clock: " in story.itself.refused) == (story.left["clock"] == traces.LEFT)

    @pytest.mark.parametrize("which", ["neighbour", "prepared", "again"])
    def test_others_find_nothing(self, story: Story, which: str) -> None:
        assert of(getattr(story, which)) == {}

    @pytest.mark.parametrize("which", ["prepared", "again"])
    def test_health_check_passes_the_next_desktop(self, story: Story, which: str) -> None:
        assert getattr(story, which).refused == ""
