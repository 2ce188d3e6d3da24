"""Desktops with Windows programs: the prefix in the sandbox, as every kind of supervisor makes it; whole sessions.

What every desktop does is in tests/contract/test_desktop.py, what must be gone in test_nothing_remains.py.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.config import Settings
from backend.domain.errors import GuestLost
from backend.domain.machines.desktop_end import EndCause
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.desktop import Desktop, DesktopSpec, OpenDesktop
from tests.integration.desktop_supervisor.helpers import (
    FLAVOURS,
    SandboxedGuest,
    desktop,
    exists,
    family,
    pid_by_name,
    supervisor,
)
from tests.processes import read_living
from tests.waiting import until
from tools.chaos.from_inside.windows_deaths import WINDOWS
from worker.desktop_supervisor.client import CHECKOUT, DesktopSupervisorClient
from worker.local import wine
from worker.providers.local import LocalProvider

STANDIN = ("/usr/bin/python3", "-m", "guest_server.linux.session")
"""Answers without Wine: what is looked at here is what Wine would find."""
SUSPEND = next(death.code for death in WINDOWS if death.name == "suspend every thread")
KILL = next(death.code for death in WINDOWS if death.name == "kill by the system calls of Linux")
FILES = (
    "import time\nfiles = []\nwhile True:\n    try: files.append(open('C:/windows/win.ini'))\n"
    "    except OSError: time.sleep(0.05)"
)
"""Takes what other programs give back, too: Wine's own end some of theirs when they get no more."""
SPEC = DesktopSpec(screen=ScreenSize(width=800, height=600), image="wine")


WHY_NOT = wine.why_not(CHECKOUT / ".wine")
pytestmark = [
    pytest.mark.desktop,
    pytest.mark.skipif(bool(WHY_NOT), reason=f"needs desktops with Windows programs: {WHY_NOT}"),
]


@pytest.fixture(scope="module", params=FLAVOURS)
def client(request: pytest.FixtureRequest) -> Iterator[DesktopSupervisorClient]:
    """A desktop supervisor as root, as an ordinary user and as a container has it, in turn."""
    with supervisor(request.param) as found:
        yield found


@pytest.fixture
def guest(client: DesktopSupervisorClient) -> Iterator[SandboxedGuest]:
    """A desktop whose prefix can be read; Wine does not run."""
    with desktop(client, os="windows", command=STANDIN) as found:
        yield found


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalProvider]:
    """Whole sessions."""
    made = LocalProvider(Settings(data_dir=tmp_path_factory.mktemp("wine")))
    yield made
    made.close()


@pytest.fixture(scope="module")
def opened(provider: LocalProvider) -> OpenDesktop:
    """A desktop for all tests that leave it usable."""
    return provider.open(SlotRef(0), SPEC)


@pytest.fixture
def there(opened: OpenDesktop) -> Desktop:
    return opened.desktop


def thread_statuses(opened: OpenDesktop) -> list[str]:
    """The kernel's view of each thread of a desktop."""
    members = family(opened.handle.pid)  # type: ignore[attr-defined]
    return read_living(status for pid in members for status in Path(f"/proc/{pid}/task").glob("*/status"))


class TestPrefix:
    def look(self, guest: SandboxedGuest) -> Any:
        """Keys that Wine needs in a prefix, and those that tasks set."""
        return guest.python(
            "import json, os\n"
            "prefix = os.environ['WINEPREFIX']\n"
            "user = f'{prefix}/drive_c/users/' + os.environ['USER']\n"
            "notepad = f'{prefix}/drive_c/windows/notepad.exe'\n"
            "print(json.dumps({\n"
            "    'ours': os.stat(prefix).st_uid == os.getuid(),\n"
            "    'drives': os.listdir(f'{prefix}/dosdevices'),\n"
            "    'folders': {n: os.path.islink(f'{user}/{n}') for n in ('Desktop', 'Documents', 'Downloads')},\n"
            "    'notepad': [os.path.islink(notepad), os.path.getsize(notepad) > 1000],\n"
            "    'python': os.access(f'{prefix}/drive_c/Python/python.exe', os.R_OK),\n"
            "    'locked': [os.access(f'{prefix}/drive_c/{n}', os.W_OK) for n in ('Python', 'Deskarena')],\n"
            "}))"
        )

    def test_is_whole_and_the_users_own(self, guest: SandboxedGuest) -> None:
        assert self.look(guest) == {
            "ours": True,
            "drives": ["c:"],
            "folders": {"Desktop": False, "Documents": False, "Downloads": False},
            "notepad": [True, True],
            "python": True,
            "locked": [False, False],
        }

    def test_files_written_to_the_prefix_do_not_persist(self, client: DesktopSupervisorClient) -> None:
        write = (
            "import json, os\n"
            "prefix = os.environ['WINEPREFIX']\n"
            "for name in ('user.reg', 'drive_c/new.txt', 'drive_c/windows/win.ini'):\n"
            "    with open(f'{prefix}/{name}', 'a') as file: file.write('an earlier task')\n"
            "os.rename(f'{prefix}/drive_c/users/Docker/Documents', f'{prefix}/drive_c/users/Docker/Papers')\n"
            "print(json.dumps(None))"
        )
        read = (
            "import json, os, subprocess\n"
            "found = subprocess.run(['grep', '-rl', 'an earlier task', os.environ['WINEPREFIX']],"
            " capture_output=True, text=True)\n"
            "print(json.dumps(found.stdout.split()))"
        )
        with desktop(client, os="windows", command=STANDIN) as first:
            first.python(write)
            assert len(first.python(read)) == 3
        with desktop(client, os="windows", command=STANDIN) as second:
            assert second.python(read) == []
            assert self.look(second)["folders"]["Documents"] is False

    def test_a_copy_serves_where_no_overlay_can_be_had(self) -> None:
        with (
            supervisor("user", overlay=False) as client,
            desktop(client, os="windows", command=STANDIN) as guest,
        ):
            assert guest.kept.home == "copy on tmpfs"
            assert self.look(guest)["ours"]


class TestSession:
    def python(self, there: Desktop, code: str) -> str:
        done = there.run_python(code)
        assert done.returncode == 0, done.error
        return done.output.strip()

    def test_programs_run_on_windows(self, there: Desktop) -> None:
        assert self.python(there, "import sys, os; print(sys.platform, os.environ['USERNAME'])") == "win32 Docker"
        assert there.execute(["cmd", "/c", "ver"]).output.strip().startswith("Microsoft Windows 10")

    def test_agents_code_finds_its_library(self, there: Desktop) -> None:
        assert self.python(there, "import pyautogui; print(tuple(pyautogui.size()))") == "(800, 600)"

    def test_agents_code_types_through_the_session(self, there: Desktop) -> None:
        code = "import pyautogui; print(hasattr(pyautogui.platformModule, 'session_keyboard')); pyautogui.write('é<€')"
        assert there.perform(Action(type=ActionType.PYTHON, text=code))["output"].strip() == "True"

    def test_environment_has_no_deskarena_variables(self, there: Desktop) -> None:
        found = self.python(there, "import os; print([name for name in os.environ if name.startswith('DESKARENA')])")
        assert found == "[]"

    def test_only_loopback_is_reachable(self, there: Desktop) -> None:
        code = (
            "import socket\n"
            "for address in (('192.0.2.1', 80), ('127.0.0.1', 18888)):\n"
            "    try:\n"
            "        socket.create_connection(address, 3).close(); print('open')\n"
            "    except OSError:\n"
            "        print('closed')\n"
        )
        assert self.python(there, code).split() == ["closed", "open"]

    def test_every_process_is_behind_the_filter_and_without_rights(self, opened: OpenDesktop) -> None:
        statuses = read_living(Path(f"/proc/{pid}/status") for pid in family(opened.handle.pid))  # type: ignore[attr-defined]
        assert len(statuses) > 5
        assert all("Seccomp:\t2\n" in status and "CapEff:\t0000000000000000\n" in status for status in statuses)


@pytest.mark.sampled(3)
class TestEnd:
    def test_desktop_ends_with_its_server(self, provider: LocalProvider) -> None:
        made = provider.open(SlotRef(1), SPEC)
        made.desktop.call("POST", "/shutdown")
        until(lambda: not made.alive(), 30.0)
        assert "status 0" in made.death_reason()
        made.close()

    def test_server_survives_taskkill(self, provider: LocalProvider) -> None:
        made = provider.open(SlotRef(1), SPEC)
        made.desktop.execute(["taskkill", "/f", "/im", "python.exe"])
        assert made.desktop.frame().data
        made.close()

    def test_no_program_kills_the_guest_server_by_the_id_of_a_thread(self, provider: LocalProvider) -> None:
        made = provider.open(SlotRef(1), SPEC)
        made.desktop.execute(["python", "-c", KILL])
        assert made.desktop.frame().data
        made.close()

    def test_a_server_that_may_open_no_more_files_is_evidence(self, provider: LocalProvider) -> None:
        made = provider.open(SlotRef(1), SPEC)
        made.desktop.launch(["python", "-c", FILES])
        until(lambda: made.ending().cause is EndCause.FILE_LIMIT, 60.0)
        made.close()

    def test_suspended_threads_are_evidence(self, provider: LocalProvider) -> None:
        made = provider.open(SlotRef(1), SPEC)
        assert made.ending().cause is EndCause.UNKNOWN
        made.desktop.launch(["python", "-c", SUSPEND])
        until(lambda: made.ending().cause is EndCause.SESSION_SUSPENDED, 30.0)
        assert made.ending().facts["suspended_threads"] > 5
        made.close()

    def test_a_wine_server_that_the_host_stopped_is_none(self, provider: LocalProvider) -> None:
        """Every thread waits for its answer then, as if suspended."""
        made = provider.open(SlotRef(1), SPEC)
        os.kill(pid_by_name(made.handle.pid, "wineserver"), signal.SIGSTOP)  # type: ignore[attr-defined]
        until(lambda: any("SigBlk:\t0000000010012a03\n" in status for status in thread_statuses(made)), 30.0)
        assert made.ending().cause is EndCause.UNKNOWN
        made.close()

    @pytest.mark.parametrize(
        "killing",
        [
            pytest.param(["wineboot", "-k"], id="all of Wine"),
            pytest.param(["wineserver"], id="wineserver"),
        ],
    )
    def test_broken_desktop_is_reported_and_leaves_no_process(
        self, provider: LocalProvider, killing: list[str]
    ) -> None:
        made = provider.open(SlotRef(1), SPEC)
        inside = family(made.handle.pid)  # type: ignore[attr-defined]
        if killing == ["wineserver"]:
            os.kill(pid_by_name(made.handle.pid, "wineserver"), signal.SIGKILL)  # type: ignore[attr-defined]
        else:
            made.desktop.launch(killing)
        until(lambda: not made.alive(), 30.0)
        with pytest.raises(GuestLost):
            made.desktop.frame()
        assert "its session ended" in made.death_reason()
        assert made.ending().cause is EndCause.SESSION_ENDED
        made.close()
        assert [pid for pid in inside if exists(pid)] == []
