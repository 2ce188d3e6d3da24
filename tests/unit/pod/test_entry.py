"""The pod's parts without a container's engine: its recipe is read, its programs are run as an ordinary user."""

import ast
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.tree import ROOT, imported
from tests.error_codes import raises_code
from tests.factories.pod_image import OURS, RECIPE, copied, lay_out, steps
from tests.waiting import until
from worker.qemu.client import SupervisorError
from worker.qemu.remote import ForeignPod, LeaseSuperseded, RemoteSupervisor

SECRET = "a token of the test"
NOBODY = 65534


def needed(start: str) -> tuple[set[Path], set[str]]:
    """Our files that a module imports, however far away, and the names of foreign packages."""
    ours, foreign, open_ends = set[Path](), set[str](), [start]
    while open_ends:
        parts = open_ends.pop().split(".")
        for length in range(1, len(parts) + 1):
            base = Path(*parts[:length])
            path = next(
                (path for path in (base.with_suffix(".py"), base / "__init__.py") if (ROOT / path).is_file()), None
            )
            if path is None or path in ours:
                continue
            ours.add(path)
            names = [name for _, name in imported(ast.parse((ROOT / path).read_text()))]
            open_ends += [name for name in names if name.split(".")[0] in OURS]
            foreign |= {name.split(".")[0] for name in names} - OURS
    return ours, foreign


class TestContainerfile:
    def test_holds_all_that_the_supervisor_imports(self) -> None:
        ours, _ = needed("worker.qemu.supervisor")
        assert ours - copied(RECIPE) == set()
        assert Path("worker/qemu/supervisor.py") in ours

    def test_the_supervisor_needs_nothing_but_python(self) -> None:
        _, foreign = needed("worker.qemu.supervisor")
        assert foreign - set(sys.stdlib_module_names) == set()

    def test_the_check_finds_what_is_missing(self) -> None:
        ours, _ = needed("worker.qemu.supervisor")
        assert ours - copied(RECIPE.replace(" worker/local/kernel.py", "")) == {Path("worker/local/kernel.py")}

    def test_runs_as_an_ordinary_user(self) -> None:
        order = [name for name, _ in steps(RECIPE)]
        assert dict(steps(RECIPE))["USER"] == "1000"
        assert "RUN" not in order[order.index("USER") :]

    def test_installs_without_leaving_lists_or_recommended_packages(self) -> None:
        install = next(rest for name, rest in steps(RECIPE) if name == "RUN" and "apt-get" in rest)
        assert "--no-install-recommends" in install
        assert install.endswith("rm -rf /var/lib/apt/lists/*")

    def test_base_is_pinned_and_programs_receive_signals(self) -> None:
        known = dict(steps(RECIPE))
        assert re.fullmatch(r"[\w/.-]+:[\w.-]+", known["FROM"])
        assert not known["FROM"].endswith(":latest")
        for name in ("ENTRYPOINT", "HEALTHCHECK"):
            assert re.search(r"\[\"python3\", \"-I\", \"/opt/deskarena/\w+\.py\"\]$", known[name]), (
                "a shell passes no signal on"
            )

    def test_programs_are_copied_to_their_paths(self) -> None:
        named = set(re.findall(r"/opt/deskarena/(\w+\.py)", RECIPE))
        assert {path.name for path in copied(RECIPE) if path.parent == Path("vm_images/pod")} == named


@dataclass
class PodFolder:
    """A folder laid out as the image and its volumes would be, and the ways to run it."""

    root: Path
    port: int

    def environment(self, **changed: str) -> dict[str, str]:
        volumes = {
            f"DESKARENA_POD_{name.upper()}": str(self.root / name) for name in ("images", "templates", "overlays")
        }
        known = {"PATH": os.environ["PATH"], "TMPDIR": str(self.root / "run"), "DESKARENA_SUPERVISOR_TOKEN": SECRET}
        return {
            **known,
            **volumes,
            "DESKARENA_POD_LISTEN": f"127.0.0.1:{self.port}",
            "DESKARENA_POD_FORWARD": "127.0.0.1",
            **changed,
        }

    def options(self) -> dict[str, Any]:
        """Runs as an unprivileged user, even if the test runs as root."""
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}

    def start(self, **changed: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["/usr/bin/python3", "-I", self.root / "code" / "entry.py"],
            env=self.environment(**changed),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **self.options(),
        )

    def refused(self, **changed: str) -> str:
        """Its output before it fails."""
        with self.start(**changed) as process:
            said: str = process.communicate(timeout=20)[1]
            assert process.returncode == 78
        return said

    def reached(self) -> RemoteSupervisor | None:
        """The supervisor, after waiting for it."""
        try:
            return RemoteSupervisor(("127.0.0.1", self.port), SECRET, 0)
        except SupervisorError:
            return None

    def health(self, pid: int) -> str:
        words = ["/usr/bin/python3", "-I", str(self.root / "code" / "health.py")]
        environment = self.environment(DESKARENA_POD_PID=str(pid))
        return subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=20, check=False
        ).stdout.strip()


@pytest.fixture
def pod() -> Iterator[PodFolder]:
    if shutil.which("qemu-system-x86_64") is None:
        pytest.skip("needs qemu-system-x86_64: apt install qemu-system-x86")
    import tempfile

    with tempfile.TemporaryDirectory(dir="/tmp") as made, socket.socket() as free:
        root = Path(made)
        lay_out(root / "code")
        (root / "images" / "small").mkdir(parents=True)
        (root / "images" / "small" / "image.json").write_text("{}")
        for name in ("templates", "overlays", "run"):
            (root / name).mkdir()
            if os.getuid() == 0:
                os.chown(root / name, NOBODY, NOBODY)
        (root / "images" / "small" / "image.json").chmod(0o444)
        (root / "images" / "small").chmod(0o555)
        root.chmod(0o755)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        yield PodFolder(root, port)
        (root / "images" / "small").chmod(0o755)


class TestMain:
    def test_starts_a_supervisor_and_stops_on_request(self, pod: PodFolder) -> None:
        with pod.start(DESKARENA_POD_FENCE="7") as process:
            try:
                assert process.stdout is not None
                told = json.loads(process.stdout.readline())
                assert (told["event"], told["images"]) == ("ready", ["small"])
                assert told["uid"] != 0
                until(lambda: pod.health(process.pid) == "well", 20)
                worker = RemoteSupervisor(("127.0.0.1", pod.port), SECRET, 7)
                assert [each["about"] for each in worker.images()] == ["{}"]
                worker.close()
                with raises_code(LeaseSuperseded, "lease_superseded"):
                    RemoteSupervisor(("127.0.0.1", pod.port), SECRET, 6)
                with pytest.raises(ForeignPod):
                    RemoteSupervisor(("127.0.0.1", pod.port), "a guess of a token", 7)
                process.send_signal(signal.SIGTERM)
                assert process.wait(60) == 0
            finally:
                process.kill()
        assert list((pod.root / "run").iterdir()) == [], "nothing remains"

    def test_ends_when_no_worker_comes_any_more(self, pod: PodFolder) -> None:
        with pod.start(DESKARENA_POD_ALONE_SECONDS="2") as process:
            try:
                worker = until(pod.reached, 20)
                assert worker is not None
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(3)
                worker.close()
                assert process.wait(60) == 0
                assert process.stdout is not None
                assert "no worker connected for 2 s" in process.stdout.read()
            finally:
                process.kill()

    @pytest.mark.parametrize(
        ("changed", "told"),
        [
            ({"DESKARENA_SUPERVISOR_TOKEN": "short"}, "set DESKARENA_SUPERVISOR_TOKEN"),
            ({"DESKARENA_SUPERVISOR_TOKEN_FILE": "/none"}, "/none cannot be read"),
            ({"DESKARENA_POD_IMAGES": "/none"}, "mount the volume of images at /none"),
            ({"DESKARENA_POD_OVERLAYS": "/proc"}, "mount a volume that this user may write to at /proc"),
            ({"DESKARENA_POD_FENCE": "-1"}, "DESKARENA_POD_FENCE is a number"),
            ({"DESKARENA_POD_OVERLAY_BYTES": "8Gi"}, "DESKARENA_POD_OVERLAY_BYTES is a number"),
            ({"PATH": "/none"}, "qemu-system-x86_64 is not installed"),
        ],
    )
    def test_says_what_is_missing(self, pod: PodFolder, changed: dict[str, str], told: str) -> None:
        assert told in pod.refused(**changed)

    def test_wants_images_that_cannot_be_written_to(self, pod: PodFolder) -> None:
        if os.getuid() == 0:
            os.chown(pod.root / "images" / "small" / "image.json", NOBODY, NOBODY)
        (pod.root / "images" / "small" / "image.json").chmod(0o644)
        assert "mount the images read-only" in pod.refused()

    def test_wants_an_image(self, pod: PodFolder) -> None:
        assert "holds no image" in pod.refused(DESKARENA_POD_IMAGES=str(pod.root / "templates"))


class TestProblem:
    def test_a_frozen_supervisor_is_not_well(self, pod: PodFolder) -> None:
        with pod.start() as process:
            try:
                until(lambda: pod.health(process.pid) == "well", 20)
                process.send_signal(signal.SIGSTOP)
                until(lambda: "is stopped" in pod.health(process.pid), 20)
            finally:
                process.kill()

    def test_missing_supervisor_is_unhealthy(self, pod: PodFolder) -> None:
        assert pod.health(os.getpid()) == f"nothing listens on port {pod.port}"
