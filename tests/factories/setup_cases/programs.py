"""Cases of the steps that run and start programs, and let time pass."""

from collections.abc import Sequence

from backend.domain.ports.desktop import ExecResult
from tests.factories.setup_cases import SetupCase
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop


def place() -> FakeContext:
    """A desktop with a program `say` that prints its words, and one that fails."""

    def say(words: Sequence[str]) -> ExecResult:
        return ExecResult(returncode=0, output=" ".join(words), error="careful")

    desktop = FakeDesktop()
    desktop.commands |= {"say": say, "xdg-settings": say, "sh": say, "differ": lambda _: ExecResult(returncode=1)}
    desktop.routes["POST", "/setup/execute_with_verification"] = lambda params: desktop.execute(params["command"])
    return FakeContext(desktop)


def bare() -> FakeContext:
    """A desktop on which nothing is installed."""
    return FakeContext(FakeDesktop())


def kept(context: FakeContext) -> bool:
    """Both outputs were kept under their names."""
    return (context.output("out"), context.output("err")) == (b"hello", b"careful")


def windows(context: FakeContext) -> bool:
    """Whether the program's window is open."""
    return bool(context.desktop.open_windows)


KEPT = {"command": ["say", "hello"], "shell": False, "stdout": "out", "stderr": "err"}
FAILS = {"command": "differ a b", "shell": "true", "stdout": "out"}
VERIFIED = {"command": ["say"], "verification": {"command_success": "true"}, "max_wait_time": 1, "check_interval": 0.1}

CASES = {
    "execute": SetupCase(KEPT, place, kept, bare),
    "command": SetupCase(KEPT, place, kept, bare),
    "execute@osworld": SetupCase(FAILS, place, lambda context: context.output("out") == b"", bare),
    "command@osworld": SetupCase(FAILS, place, lambda context: context.output("out") == b"", bare),
    "execute@waa": SetupCase(FAILS, place, lambda context: context.output("out") == b"", bare),
    "command@waa": SetupCase(FAILS, place, lambda context: context.output("out") == b"", bare),
    "execute_with_verification": SetupCase(VERIFIED, place, bare=bare),
    "launch": SetupCase({"command": ["vlc", "/home/user/a.mp4"], "shell": False}, place, windows, bare),
    "launch@waa": SetupCase({"command": ["start", "msedge"]}, place, windows, bare),
    "set_default_browser": SetupCase({"browser": "Chrome"}, place, bare=bare),
    "sleep": SetupCase({"seconds": 0.01}, place),
    "act": SetupCase({"action_seq": []}, place, refused=True),
    "replay": SetupCase({"trajectory": "a"}, place, refused=True),
    "tidy_desktop": SetupCase({}, place, refused=True),
}
