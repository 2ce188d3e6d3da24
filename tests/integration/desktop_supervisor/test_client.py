"""Starting, using and ending desktops through a real desktop supervisor. Nothing may be left afterwards."""

import contextlib
import http.client
import os
import signal
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.error_codes import raises_code
from tests.factories.own_machines import own_folder
from tests.integration.desktop_supervisor.helpers import (
    SMALL,
    SandboxedGuest,
    desktop,
    eventually,
    exists,
    family,
    groups_of,
    supervisor,
    supervisor_folder,
    supervisor_options,
)
from worker.desktop_supervisor.client import DesktopSupervisorClient, DesktopSupervisorError, DesktopSupervisorLost
from worker.local.folders import lock

pytestmark = pytest.mark.desktop


def mounts() -> list[str]:
    """The mounts of this process's namespace where a stage or a desktop supervisor could have left any."""
    targets = [line.split(" ")[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    temporary = tempfile.gettempdir()
    ours = ("/tmp/home", "/tmp/guest", "/tmp/trial", f"{temporary}/deskarena-", f"{temporary}/supervisor-test-")
    return sorted(target for target in targets if target == "/tmp" or target.startswith(ours))


@pytest.mark.sampled(8)
class TestSpawn:
    def test_guest_api_answers_with_screen_and_requires_the_secret(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as guest:
            assert guest.kept.session_report == {"ready": True, "screen": "800x600"}
            assert guest.run("echo", "hello")["output"] == "hello\n"
            with pytest.raises(AssertionError):
                SandboxedGuest(guest.kept, "another secret").run("true")

    def test_environment_is_exactly_what_was_agreed(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as guest:
            found = guest.python("import json; print(json.dumps(open('/proc/2/environ').read().split('\\0')))")
            assert sorted(filter(None, found)) == [
                "DESKARENA_EGRESS_PROXY=http://127.0.0.1:18888",
                "DESKARENA_EGRESS_SOCKET=/run/egress/gateway",
                "DESKARENA_LISTEN_FD=3",
                "DESKARENA_PROTECTED_PIDS=100",
                "DESKARENA_SCREEN=800x600",
                "HOME=/home/user",
                "LANG=en_US.UTF-8",
                "LOGNAME=user",
                "PATH=/usr/bin:/bin:/usr/games",
                "PWD=/home/user",
                "PYTHONPATH=/opt/guest:/opt/guest/site",
                "USER=user",
                "XDG_RUNTIME_DIR=/run/user",
                "http_proxy=http://127.0.0.1:18888",
                "https_proxy=http://127.0.0.1:18888",
                "no_proxy=localhost,127.0.0.1,::1",
            ]

    def test_desktops_run_as_separate_users_where_possible(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as one, desktop(client) as two:
            owners = [Path(f"/proc/{each.kept.pid}").stat().st_uid for each in (one, two)]
            assert 0 not in owners
            if one.kept.user is not None:
                assert owners == [one.kept.user, two.kept.user]
                assert owners[0] != owners[1]

    def test_home_is_an_overlay_and_pristine(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as guest:
            assert guest.kept.home == "overlay"
            guest.run("sh", "-c", "echo x > Documents/a; rm -r .config; mkdir .config; mv Documents Papers; rm .bashrc")
            assert guest.run("ls", "-A", ".config", "Papers")["output"].split() == [".config:", "Papers:", "a"]
        with desktop(client) as guest:
            shown = guest.run("ls", "-A")["output"].split()
            assert {"Documents", ".bashrc", ".config"} <= set(shown)
            assert "Papers" not in shown
            assert guest.run("cat", ".config/mimeapps.list")["output"].startswith("[Default Applications]")

    def test_two_desktops_have_different_machine_ids(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as one, desktop(client) as two:
            ids = {each.run("cat", "/etc/machine-id")["output"] for each in (one, two)}
            assert len(ids) == 2
            assert Path("/etc/machine-id").read_text() not in ids

    def test_a_session_that_ends_before_it_is_ready_is_the_guests_failure(
        self, client: DesktopSupervisorClient
    ) -> None:
        with raises_code(
            DesktopSupervisorError, "session_ended", kind="guest", mentions=("status 7", "it broke")
        ) as failure:
            client.spawn(
                secret="s",
                screen=(1, 1),
                limits=SMALL,
                timeout=20,
                command=("sh", "-c", "echo it broke >&2; exit 7"),
            )
        assert failure.value.kind == "guest"

    def test_a_session_that_never_gets_ready_is_ended_in_time(self, client: DesktopSupervisorClient) -> None:
        with raises_code(DesktopSupervisorError, "not_ready", kind="guest") as failure:
            client.spawn(secret="s", screen=(1, 1), limits=SMALL, timeout=0.5, command=("sleep", "1000"))
        assert failure.value.kind == "guest"
        assert client.status() == {}

    def test_a_program_that_is_not_there_is_the_guests_failure(self, client: DesktopSupervisorClient) -> None:
        with raises_code(DesktopSupervisorError, "session_ended", kind="guest", mentions="/no/such/program") as failure:
            client.spawn(secret="s", screen=(1, 1), limits=SMALL, timeout=20, command=("/no/such/program",))
        assert failure.value.kind == "guest"

    def test_a_sandbox_that_cannot_be_made_is_the_machines_failure(self, client: DesktopSupervisorClient) -> None:
        with raises_code(DesktopSupervisorError, "sandbox_failed", kind="cluster", mentions="No space left") as failure:
            client.spawn(secret="s", screen=(1, 1), limits=replace(SMALL, home=4096), timeout=20)
        assert failure.value.kind == "cluster"
        assert client.status() == {}

    def test_a_session_that_talks_too_much_before_it_is_ready_is_ended(self, client: DesktopSupervisorClient) -> None:
        with raises_code(DesktopSupervisorError, "too_much_output", kind="guest"):
            client.spawn(secret="s", screen=(1, 1), limits=SMALL, timeout=20, command=("yes",))

    def test_a_flood_of_output_does_not_stop_the_supervisor(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as guest:
            guest.start("sh", "-c", "yes > /proc/2/fd/2")
            assert client.status()[guest.kept.name]["ready"]
            assert guest.run("echo", "still here")["output"] == "still here\n"


class TestHomeWithoutOverlay:
    def test_home_is_a_copy_that_can_be_changed(self, flavour: str) -> None:
        with supervisor(flavour, overlay=False) as client, desktop(client) as guest:
            assert guest.kept.home == "copy on tmpfs"
            assert guest.run("sh", "-c", "rm -r .config && mkdir .config && mv Documents Papers")["returncode"] == 0
            fill = "for i in 1 2 3 4 5 6 7; do head -c 7000000 /dev/zero > $i || exit; done"
            assert "No space left" in guest.run("sh", "-c", fill)["error"]


class TestDestroy:
    def test_leaves_no_process_file_mount_or_group(self, client: DesktopSupervisorClient) -> None:
        before = mounts()
        folder = supervisor_folder(client)
        with desktop(client) as guest:
            guest.start("sh", "-c", "trap '' TERM; setsid sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000'")
            eventually(lambda: len(family(guest.kept.pid)) > 5)
            pids = family(guest.kept.pid)
            groups = [path for base in groups_of(client.about["supervisor"]) for path in base.glob(guest.kept.name)]
            assert bool(groups) == ("cgroup" in guest.kept.limits["memory"])
            assert (folder / guest.kept.name).is_dir()
        assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
        assert [group for group in groups if group.exists()] == []
        assert not (folder / guest.kept.name).exists()
        assert mounts() == before
        assert client.status() == {}

    def test_is_safe_to_call_twice(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as guest:
            first = client.destroy(guest.kept)
            assert first["peak_memory"] > 0
            assert client.destroy(guest.kept) == first

    def test_destroying_a_starting_desktop_leaves_nothing(self, client: DesktopSupervisorClient) -> None:
        """Its first process may not be known to the desktop supervisor yet."""
        for timeout in (0.001, 0.003, 0.005, 0.008, 0.012, 0.02):
            with pytest.raises(DesktopSupervisorError):
                client.spawn(secret="s", screen=(1, 1), limits=SMALL, timeout=timeout, command=("sleep", "1000"))
        assert client.status() == {}
        title = f"deskarena-desktop:{client.about['supervisor']}:".encode()
        assert [path for path in Path("/proc").glob("[0-9]*/cmdline") if title in read(path)] == []


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.sampled(4)
class TestEndOfADesktop:
    def test_is_noticed_with_its_reason(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as guest:
            guest.post("/exit", {"status": 3})
            eventually(lambda: guest.kept.dead)
            assert "status 3" in guest.kept.dead
            assert not (supervisor_folder(client) / guest.kept.name).exists()

    def test_killing_everything_from_inside_does_not_reach_its_session(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as neighbour, desktop(client) as guest:
            for command in ("kill -9 -1", "kill -9 2", "kill -9 -2", "kill -STOP 2", "pkill -9 python3"):
                guest.run("sh", "-c", command)
            for one in (guest, neighbour):
                assert one.run("echo", "well")["output"] == "well\n"
                assert one.kept.dead == ""

    @pytest.mark.parametrize(("status", "cause"), [(0, "session_ended"), (1, "session_ended"), (3, "session_killed")])
    def test_exit_code_gives_the_end_cause(self, client: DesktopSupervisorClient, status: int, cause: str) -> None:
        with desktop(client) as guest:
            with contextlib.suppress(ConnectionError, http.client.HTTPException):
                guest.post("/exit", {"status": status})
            assert guest.kept.ended.wait(60)
            assert guest.kept.ending == {"cause": cause, "facts": {"exit_status": status}}

    def test_a_kill_from_outside_is_the_machine_s(self, client: DesktopSupervisorClient) -> None:
        with desktop(client) as guest:
            os.kill(guest.kept.pid, signal.SIGKILL)
            assert guest.kept.ended.wait(60)
            assert guest.kept.ending["cause"] == "session_killed"


class TestClose:
    def test_close_leaves_no_process_folder_or_mount(self, flavour: str) -> None:
        before = mounts()
        with supervisor_options(flavour) as options:
            client = DesktopSupervisorClient(options)
            folder, name, pid = supervisor_folder(client), client.about["supervisor"], client.pid
            kept = [client.spawn(secret="s", screen=(1, 1), limits=SMALL, timeout=30) for _ in range(2)]
            pids = [each for one in kept for each in family(one.pid)]
            client.close()
            client.close()
            assert not folder.exists()
            assert groups_of(name) == []
            assert [each for each in [pid, *pids] if Path(f"/proc/{each}").exists()] == []
            assert all(one.dead for one in kept)
            assert mounts() == before

    def test_afterwards_nothing_can_be_asked(self, flavour: str) -> None:
        with supervisor_options(flavour) as options:
            client = DesktopSupervisorClient(options)
            client.close()
            with pytest.raises(DesktopSupervisorLost):
                client.status()


class TestStart:
    def test_says_why_it_cannot(self) -> None:
        with (
            supervisor_options("user") as options,
            raises_code(DesktopSupervisorError, "supervisor_not_started", mentions="make setup"),
        ):
            DesktopSupervisorClient(replace(options, site=options.cache.parent / "absent"))

    def test_supervisor_is_light(self, client: DesktopSupervisorClient) -> None:
        """It runs without site-packages, so it can only import the standard library; and it stays small."""
        command = Path(f"/proc/{client.pid}/cmdline").read_bytes().split(b"\0")
        assert b"-S" in command
        status = Path(f"/proc/{client.pid}/status").read_text()
        assert int(status.split("VmRSS:")[1].split()[0]) < 40_000
        assert int(status.split("Threads:")[1].split()[0]) == 1

    def test_supervisor_has_a_cleared_environment(self, client: DesktopSupervisorClient) -> None:
        names = {word.split(b"=")[0] for word in Path(f"/proc/{client.pid}/environ").read_bytes().split(b"\0") if word}
        assert names <= {b"PATH", b"LANG", b"PYTHONPATH", b"TMPDIR"}


class TestLost:
    def test_worker_notices_that_its_supervisor_died_and_that_its_desktops_did(self, flavour: str) -> None:
        # Of others' desktop supervisors any one that starts would sweep this one first.
        with own_folder() as own:
            own.chmod(0o1777)  # As /tmp: the ordinary user's desktop supervisor makes its folder there, too.
            self._lost(flavour)

    def test_folders_still_held_by_a_killed_supervisor_are_removed_later(self, flavour: str) -> None:
        with own_folder() as own, supervisor_options(flavour) as options:
            own.chmod(0o1777)
            client = DesktopSupervisorClient(options)
            folder = supervisor_folder(client)
            os.kill(client.pid, 9)
            eventually(lambda: not client.alive())
            client.close()
            handle = lock(folder)
            assert handle is not None
            following = DesktopSupervisorClient(options)
            try:
                assert (following.about["swept"], folder.exists()) == (0, True)
                os.close(handle)
                eventually(lambda: not folder.exists(), 30)
            finally:
                following.close()

    def _lost(self, flavour: str) -> None:
        with supervisor_options(flavour) as options:
            client = DesktopSupervisorClient(options)
            folder, name = supervisor_folder(client), client.about["supervisor"]
            kept = client.spawn(secret="s", screen=(1, 1), limits=SMALL, timeout=30)
            pids = family(kept.pid)
            os.kill(client.pid, 9)
            eventually(lambda: not client.alive())
            assert "supervisor died" in kept.dead
            eventually(lambda: not any(exists(pid) for pid in pids))
            with pytest.raises(DesktopSupervisorLost):
                client.spawn(secret="s", screen=(1, 1), limits=SMALL, timeout=30)
            assert folder.exists()
            client.close()
            # The next desktop supervisor of this user removes what the killed one could not.
            following = DesktopSupervisorClient(options)
            try:
                assert following.about["swept"] >= 1
                assert not folder.exists()
                assert groups_of(name) == []
            finally:
                following.close()
