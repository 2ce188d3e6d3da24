"""A hostile task looks for files of the host, and for places where it could leave something."""

import os
import tempfile
from pathlib import Path

import pytest

from tests.integration.desktop_supervisor.helpers import ORDINARY, SandboxedGuest, desktop, supervisor_folder
from worker.desktop_supervisor.client import CHECKOUT, DesktopSupervisorClient

pytestmark = pytest.mark.desktop

WRITABLE = """
import json, os
found = []
for folder, names, files in os.walk("/"):
    if folder == "/":
        names.remove("proc")
    if folder.count("/") > 3 or folder in ("/home/user", "/tmp", "/run", "/dev/shm", "/dev/pts"):
        names.clear()
    found += [each for each in (folder, *(os.path.join(folder, name) for name in files))
              if not os.path.islink(each) and os.access(each, os.W_OK)]
print(json.dumps(sorted(found)))
"""

DESCRIPTORS = """
import glob, json, os
found = set()
for path in glob.glob("/proc/[0-9]*/fd/*"):
    try:
        target = os.readlink(path)
    except OSError:
        continue
    if target.startswith("/") and not target.startswith(("/proc/", "/dev/null")):
        found.add(target)
print(json.dumps(sorted(found)))
"""


@pytest.mark.sampled(12)
class TestReading:
    @pytest.mark.parametrize(
        "path",
        [
            *("/etc/shadow", "/etc/gshadow", "/etc/environment", "/etc/ssh", "/etc/sudoers", "/etc/ssl/private"),
            *("/root", "/boot", "/sys", "/srv", "/mnt", "/media", "/var/lib/dpkg", "/var/log", "/run/dbus"),
            *("/run/systemd", "/run/lock", "/dev/kvm", "/dev/vsock", "/dev/fuse", "/dev/mem", "/dev/vda", "/dev/sda"),
            *("/usr/local/bin", "/var/run/docker.sock", "/run/docker.sock", "/proc/1/root/root"),
        ],
    )
    def test_path_of_the_host_does_not_exist(self, guest: SandboxedGuest, path: str) -> None:
        shown = guest.run("ls", "-A", path)
        assert shown["returncode"] != 0 or shown["output"] == ""

    def test_repository_data_and_sockets_of_ours_do_not_exist(
        self, client: DesktopSupervisorClient, guest: SandboxedGuest
    ) -> None:
        for path in (
            CHECKOUT,
            CHECKOUT / "backend",
            supervisor_folder(client),
            Path(tempfile.gettempdir(), "supervisor-test-"),
        ):
            assert guest.run("ls", str(path))["returncode"] != 0

    def test_only_its_own_home_exists(self, guest: SandboxedGuest) -> None:
        assert guest.run("ls", "-A", "/home")["output"].split() == ["user"]

    def test_files_in_the_hosts_temporary_folder_are_not_seen(self, guest: SandboxedGuest) -> None:
        with tempfile.NamedTemporaryFile(dir="/tmp", mode="w") as secret:
            Path(secret.name).chmod(0o644)
            assert guest.run("cat", secret.name)["returncode"] != 0
        assert guest.run("ls", "-A", "/tmp")["output"] == ""

    def test_top_level_holds_nothing_else(self, guest: SandboxedGuest) -> None:
        allowed = {"bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "opt", "proc", "run", "sbin", "tmp"}
        assert set(guest.run("ls", "-A", "/")["output"].split()) <= allowed | {"usr", "var"}

    def test_no_process_holds_a_file_or_folder_of_the_host_open(self, guest: SandboxedGuest) -> None:
        assert guest.python(DESCRIPTORS) == []

    def test_users_of_the_host_are_not_named(self, guest: SandboxedGuest) -> None:
        names = {line.split(":")[0] for line in guest.run("cat", "/etc/passwd")["output"].splitlines()}
        assert names == {"root", "user", "nobody"}

    def test_the_secret_of_the_guest_api_is_in_no_environment_and_no_command_line(self, guest: SandboxedGuest) -> None:
        shown = guest.run("sh", "-c", "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline")["output"]
        assert guest.secret not in shown


@pytest.mark.sampled(6)
class TestWriting:
    def test_only_the_places_meant_for_it_can_be_written(self, guest: SandboxedGuest) -> None:
        devices = {f"/dev/{name}" for name in ("full", "null", "random", "tty", "urandom", "zero", "ptmx", "pts/ptmx")}
        found = set(guest.python(WRITABLE)) - devices
        # The folder of terminals says that it can be written; nothing can be made in it.
        assert found - {"/dev/pts"} == {"/dev/shm", "/home/user", "/run", "/tmp"} | set(filter(user_file, found))
        assert guest.run("touch", "/dev/pts/file")["returncode"] != 0

    def test_written_files_are_private_to_the_desktop(self, client: DesktopSupervisorClient) -> None:
        name = f"deskarena-trace-{os.getpid()}"
        places = ("/tmp", "/run", "/dev/shm", "/home/user", "/run/user", "/var/tmp")
        with desktop(client) as neighbour, desktop(client) as guest:
            for place in places:
                assert guest.run("touch", f"{place}/{name}")["returncode"] == 0
            seen = [place for place in places if neighbour.run("ls", f"{place}/{name}")["returncode"] == 0]
            seen += [place for place in places if Path(place, name).exists()]
        assert seen == []

    def test_no_device_can_be_made(self, guest: SandboxedGuest) -> None:
        assert "not permitted" in guest.run("mknod", "/tmp/disk", "b", "254", "0")["error"]

    def test_a_set_user_id_file_gives_nothing(self, guest: SandboxedGuest) -> None:
        guest.run("sh", "-c", "cp /usr/bin/id /tmp/id && chmod 6755 /tmp/id")
        assert "euid" not in guest.run("/tmp/id")["output"]
        assert guest.run("/usr/bin/su", "-c", "id")["returncode"] != 0

    def test_links_do_not_lead_out(self, guest: SandboxedGuest) -> None:
        guest.run("ln", "-s", "/proc/1/root/etc/shadow", "/tmp/one")
        guest.run("ln", "-s", "../../../../../../root", "/tmp/two")
        for path in ("/tmp/one", "/tmp/two", "/proc/1/cwd/root", "/proc/2/root/root", "/.."):
            shown = guest.run("ls", "-A", path)
            assert shown["returncode"] != 0 or "root" not in shown["output"].split()

    def test_outside_processes_are_invisible_inside(self, guest: SandboxedGuest) -> None:
        assert str(ORDINARY) not in guest.run("cat", "/etc/passwd")["output"]


def user_file(path: str) -> bool:
    """Whether a path is in a folder meant for writing."""
    return path.startswith(("/home/user/", "/run/", "/tmp/", "/dev/shm/"))
