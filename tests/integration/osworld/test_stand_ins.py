"""Tasks of OSWorld on real desktops, with stand-in files: a right file passes, the untouched one fails.

`make test` runs a seeded sample of two, `make test-all` all of them.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from backend.domain.evaluators.evaluate import collect, evaluate
from backend.domain.machines.slots import SlotRef
from backend.domain.model.score import Evaluation
from backend.domain.ports.desktop import DesktopSpec
from backend.domain.setup import run_step, run_steps
from tests.factories.starter_tasks import FakeContext
from tests.integration.osworld import calc, impress, writer
from tests.integration.osworld.stand_in import PUBLISHED, StandIn, prepare, result_path, tasks
from tests.sampling import sample
from worker.providers.local import LocalProvider

TABLE: Mapping[str, StandIn] = {**calc.STAND_INS, **writer.STAND_INS, **impress.STAND_INS}
CHOSEN = sample(list(TABLE), 2)
Ready = Callable[[str], tuple[dict[str, bytes], bytes]]

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not PUBLISHED.is_dir(), reason="needs ../shared/benchmarks/osworld"),
]


@pytest.fixture(scope="module")
def ready(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ready:
    """Files of the tasks in the sample, created together."""
    here = [item for item in request.session.items if item.getparent(pytest.Module) is request.node]
    keys = {str(item.callspec.params["key"]) for item in here if isinstance(item, pytest.Function)}
    files = prepare({key: TABLE[key] for key in sorted(keys)}, tmp_path_factory.mktemp("stand-ins"))
    return lambda key: files[key]


def story(found: Evaluation) -> str:
    """An evaluation as text, for a failing test's message."""
    return "\n".join(f"{metric.func} = {metric.value}: {metric.reasons}" for metric in found.metrics)


def score(context: FakeContext, folder: Path) -> Evaluation:
    """Post-configuration, evidence, verdict."""
    folder.mkdir()
    return evaluate(context.task, collect(context, context.task), folder)


def leave(context: FakeContext, path: str, data: bytes) -> None:
    """Puts a file where the agent leaves its own; if that is the open one, LibreOffice closes and opens it again.

    Otherwise the post-configuration's Ctrl+S would write the old document over it.
    """
    opened = any(step.type == "open" and step.parameters["path"] == path for step in context.task.setup)
    if opened:
        run_step(context, "close_all", {})
    context.desktop.write_file(path, data)
    if opened:
        run_step(context, "open", {"path": path})


class TestStandIns:
    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("key", CHOSEN)
    def test_right_passes_and_untouched_fails(
        self, provider: LocalProvider, ready: Ready, key: str, tmp_path: Path
    ) -> None:
        task, (assets, right) = tasks()[key], ready(key)
        opened = provider.open(SlotRef(0), DesktopSpec())
        try:
            context = FakeContext(opened.desktop, task, assets=assets)
            run_steps(context, task.setup)
            untouched = score(context, tmp_path / "untouched")
            assert untouched.score is not None
            assert untouched.score < 1, story(untouched)
            leave(context, result_path(task, TABLE[key]), right)
            done = score(context, tmp_path / "right")
            assert done.score == 1, f"untouched:\n{story(untouched)}\nright:\n{story(done)}"
        finally:
            opened.close()
