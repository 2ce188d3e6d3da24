"""A sample of the deaths that an agent causes itself; `make chaos ARGS=--from-inside` has them all."""

from collections import Counter
from collections.abc import Iterator

import pytest

from backend.config import Settings
from backend.domain import registry
from tests.sampling import sample
from tools.chaos.from_inside.campaign import carry_out
from tools.chaos.from_inside.death import Death
from tools.chaos.from_inside.linux_deaths import LINUX
from tools.chaos.from_inside.windows_deaths import WINDOWS
from worker.providers.local import LocalProvider

pytestmark = [pytest.mark.desktop, pytest.mark.timeout(300)]
ALWAYS = {"kill every number, threads too", "close the session"}
"""One that the session survives, and one that ends it."""
CHOSEN = [death for death in LINUX if death.name in ALWAYS] + sample(
    [death for death in LINUX if death.name not in ALWAYS], 2
)


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalProvider]:
    registry.load()
    provider = LocalProvider(Settings(data_dir=tmp_path_factory.mktemp("data")))
    try:
        yield provider
    finally:
        provider.close()


@pytest.mark.parametrize("death", CHOSEN, ids=lambda death: death.name)
def test_a_death_from_inside_is_neither_lost_nor_tried_again(provider: LocalProvider, death: Death) -> None:
    outcome = carry_out(death, provider)
    assert (outcome.ended, outcome.score) == ("scored", 0.0), outcome.message
    assert outcome.ended_by == ("agent_error" if outcome.cause else "done")


def test_cases_are_complete_and_unique() -> None:
    for deaths in (LINUX, WINDOWS):
        assert len(deaths) >= 25
        assert [name for name, number in Counter(each.name for each in deaths).items() if number > 1] == []


def test_cases_are_valid_python() -> None:
    for death in (*LINUX, *WINDOWS):
        compile(death.code, death.name, "exec")
