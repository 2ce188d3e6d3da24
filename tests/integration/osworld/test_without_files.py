"""Tasks of OSWorld that need no file from elsewhere, on real desktops: set-up, then a verdict on the untouched state.

`make test` runs a seeded sample of two, `make test-all` all that can run here. Where a task opens pages of the web, the
web is one of stand-ins.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from backend.domain.evaluators.evaluate import collect, evaluate
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from backend.domain.ports.web import Browser, WebReply
from backend.domain.setup import run_steps
from tests.factories.starter_tasks import FakeContext
from tests.integration.osworld.stand_in import PUBLISHED, tasks
from tests.integration.osworld.stand_in_web import stand_in_web, trusting
from tests.integration.osworld.without_files import needs_no_file, obstacle, opens_pages, without_installation
from tests.sampling import sample
from worker.devtools.servers import Servers
from worker.providers.local import LocalProvider

ALL_PROGRAMS = {"soffice", "chromium", "vlc", "gimp", "jq", "sar"}
FREE = {key: task for key, task in tasks().items() if needs_no_file(task)} if PUBLISHED.is_dir() else {}
LATE = {"chrome/7b6c7e24"} & FREE.keys()
"""The browser writes its cookies late."""
RUN = [key for key, task in FREE.items() if not obstacle(task, ALL_PROGRAMS)]

pytestmark = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="needs ../shared/benchmarks/osworld")


class TestTable:
    def test_every_task_runs_or_says_why_not(self) -> None:
        """docs/reports/verified.md has these numbers."""
        counted = Counter(obstacle(task, ALL_PROGRAMS) or "runs" for task in FREE.values())
        assert counted == {"runs": 84, "code": 14, "sudo": 2}
        assert sum(opens_pages(FREE[key]) for key in RUN) == 32


@dataclass
class OnDesktop(FakeContext):
    """A context whose browsers and servers are the desktop's own."""

    servers: Servers | None = None

    def browser(self, port: int = 9222) -> Browser:
        assert self.servers is not None
        return self.servers.browser(port)

    def http(self, port: int, path: str, *, headers: Mapping[str, str] | None = None) -> WebReply:
        assert self.servers is not None
        return self.servers.http(port, path, headers)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a web of stand-ins."""
    with stand_in_web(tmp_path_factory.mktemp("web")) as address:
        yield address


def nothing(sha256: str) -> bytes:
    """The store of a desktop without files."""
    raise AssertionError(sha256)


@pytest.mark.desktop
@pytest.mark.timeout(180)
class TestUntouched:
    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("key", sorted({*sample(RUN, 2), *LATE}))
    def test_ends_in_a_verdict(self, provider: LocalProvider, web: str, key: str, tmp_path: Path) -> None:
        missing = obstacle(FREE[key], provider.availability().programs)
        if missing:
            pytest.skip(f"needs {missing}: `make setup APPS=full` installs every application")
        task = without_installation(FREE[key])
        task = trusting(task) if opens_pages(task) else task
        opened = provider.open(SlotRef(0), DesktopSpec())
        servers = Servers(opened)
        try:
            opened.let_out(EgressRules(hosts=("*",), proxy=web) if opens_pages(task) else EgressRules(), nothing)
            context = OnDesktop(opened.desktop, task, servers=servers)
            run_steps(context, task.setup)
            # What cannot be done is judged by how the agent ends, not by the desktop.
            if not task.evaluator.infeasible:
                found = evaluate(task, collect(context, task), tmp_path)
                assert found.score is not None
                assert found.score < 1, found.metrics
        finally:
            servers.close()
            opened.close()
