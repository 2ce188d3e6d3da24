"""A Linux image is built from packages, booted and talked to: `make test-all` only, because emulation takes minutes."""

import base64
import io
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from backend.domain.errors import GuestLost
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.machines.machine_image import MachineImage, read_image, verify
from backend.domain.model.run import ScreenSize
from tests.error_codes import raises_code
from tests.integration.images.machine import PROGRAMS, BootedMachine, missing_programs
from tests.integration.starter.harness import starter
from tests.waiting import until
from worker.desktops import GuestDesktop
from worker.egress import Gateways
from worker.images.linux.options import sources_of
from worker.images.linux.packages import package_names

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]
ROOT = Path(__file__).resolve().parents[3]
BUILDERS = ("mmdebstrap", "mke2fs", "qemu-img", *(() if os.geteuid() == 0 else ("fakeroot",)))
SCREEN = ScreenSize(width=1280, height=800)
SHOP = {"1" * 64: b"from the store"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The image's folder: the one that DESKARENA_TEST_IMAGE names, else a new one."""
    lacking = missing_programs(*PROGRAMS)
    given = os.environ.get("DESKARENA_TEST_IMAGE")
    if given:
        found = Path(given)
    else:
        lacking += missing_programs(*BUILDERS)
        found = tmp_path_factory.mktemp("data") / "images" / "linux-minimal"
    if lacking:
        pytest.skip(f"needs {', '.join(lacking)}: `make image-linux` installs them")
    if not given:
        command = [sys.executable, "-m", "worker.images.linux", "--data", str(found.parent.parent)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if "apt-get" in done.stderr and "Could not" in done.stderr:
            pytest.skip(f"needs a mirror of Debian's packages: {done.stderr[-500:]}")
        assert done.returncode == 0, done.stderr
    return found


@pytest.fixture(scope="module")
def machine(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BootedMachine]:
    """One machine that the tests of this module share, in their order."""
    with BootedMachine(read_image(folder), folder, tmp_path_factory.mktemp("machine"), SCREEN) as booted:
        booted.wait_ready()
        yield booted


class TestImage:
    def test_the_image_is_complete_and_lists_its_contents(self, folder: Path) -> None:
        image: MachineImage = verify(folder)
        packages = {package.name for package in image.packages}
        assert set(package_names(sources_of(ROOT), "minimal")) <= packages
        assert [package.name for package in image.packages if not package.sha256] == []
        assert {"mousepad", "xfce4-terminal", "thunar", "python3"} <= set(image.programs)

    def test_the_image_has_the_programs_of_most_starter_tasks(self, folder: Path) -> None:
        programs = set(read_image(folder).programs)
        lacking = [set(task.labels.requires) - programs for task in starter().tasks if task.labels.os == "linux"]
        assert Counter(name for missing in lacking for name in missing) == {"chromium": 2, "localc": 2, "lowriter": 2}

    def test_build_leaves_no_temporary_files(self, folder: Path) -> None:
        assert [each.name for each in folder.parent.iterdir() if each.name.startswith(".")] == []


class TestMachine:
    def test_the_probe_reports_platform_and_screen(self, machine: BootedMachine) -> None:
        probe = machine.desktop.probe()
        assert (probe.platform, probe.screen) == ("Linux", SCREEN)

    def test_the_desktops_user_is_not_root_and_owns_the_home(self, machine: BootedMachine) -> None:
        done = machine.desktop.execute("id -un; id -u; echo $HOME; stat -c %U $HOME", shell=True)
        assert done.output.split() == ["user", "1000", "/home/user", "user"]

    def test_qemu_shows_what_the_guest_shows(self, machine: BootedMachine, tmp_path: Path) -> None:
        machine.desktop.launch(["mousepad"])
        until(lambda: any("Mousepad" in window.title for window in machine.desktop.windows()), 120)
        machine.desktop.wait_stable(quiet=2.0, timeout=60.0)
        machine.screendump(tmp_path / "qemu.ppm")
        shown = io.BytesIO(machine.desktop.screenshot().data)
        with Image.open(tmp_path / "qemu.ppm") as outer, Image.open(shown) as inner:
            assert (outer.size, inner.size) == ((1280, 800), (1280, 800))
            difference = ImageChops.difference(outer.convert("RGB"), inner.convert("RGB")).convert("L")
        # A text cursor blinks, and the pointer's edge is rounded otherwise.
        assert sum(difference.histogram()[8:]) < 200

    def test_python_has_pyautogui(self, machine: BootedMachine) -> None:
        done = machine.desktop.run_python("import pyautogui; print(tuple(pyautogui.size()))", timeout=120)
        assert (done.returncode, done.output.strip()) == (0, "(1280, 800)")

    def test_the_tree_of_the_editor_is_there(self, machine: BootedMachine) -> None:
        assert "Mousepad" in machine.desktop.accessibility_tree()


class TestRestored:
    def test_clock_and_secret_are_new(self, machine: BootedMachine) -> None:
        """As after a restore: the template's past ends here."""
        later, other = time.time() + 100_000, "another-secret-0123456789"
        told = {"time": later, "secret": other, "entropy": base64.b64encode(os.urandom(64)).decode()}
        assert machine.desktop.call("POST", "/restored", told) == {"status": "success"}
        with raises_code(GuestLost, "desktop_unhealthy", mentions="Authorization"):
            machine.desktop.probe()
        after = GuestDesktop(f"http://127.0.0.1:{machine.port}", other, screen=SCREEN)
        assert 0 <= after.probe().clock - later < 60
        assert after.call("POST", "/trust", {"certificate": ""}) == {"status": "success"}
        after.replace_secret(machine.secret)
        after.close()


class TestWayOut:
    def test_programs_reach_the_gateway_and_nothing_else(self, machine: BootedMachine, tmp_path: Path) -> None:
        gateways = Gateways()
        gateway = gateways.open(tmp_path / "gateway")
        gateway.allow(EgressRules(files={"http://shop.example/": "1" * 64}), SHOP.__getitem__)
        lines = gateways.lines(f"http://127.0.0.1:{machine.port}", machine.secret, tmp_path / "gateway")
        ask = "import urllib.request as r; print(r.urlopen('http://shop.example/', timeout=30).read())"
        past = "import socket; socket.create_connection(('10.0.2.2', 22), 5)"
        try:
            assert machine.desktop.execute(["python3", "-c", ask]).output.strip() == "b'from the store'"
            assert machine.desktop.execute(["python3", "-c", past]).returncode != 0
        finally:
            lines.close()
            gateway.close()
            gateways.close()


class TestEnd:
    def test_a_machine_without_its_session_powers_off(self, machine: BootedMachine) -> None:
        machine.desktop.call("POST", "/shutdown")
        assert machine.ended(120), machine.said()
