"""A machine of a Linux image, by QEMU alone: this file gives all that the image needs."""

import json
import secrets
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any, Self

from backend.domain.errors import GuestLost
from backend.domain.machines.machine_image import MachineImage
from backend.domain.model.run import ScreenSize
from tests.waiting import seconds_until
from worker.desktops import GuestDesktop
from worker.qemu.plan import this_host

PROGRAMS = ("qemu-system-x86_64", "qemu-img")
BOOT_SECONDS = 600.0
"""Under emulation, on a machine with other work."""


class BootedMachine:
    """Boots; use it as a context manager."""

    def __init__(self, image: MachineImage, folder: Path, scratch: Path, screen: ScreenSize) -> None:
        self.secret = secrets.token_urlsafe(24)
        self.screen, self.scratch = screen, scratch
        overlay = scratch / "overlay.qcow2"
        backing = ["-b", str(folder / image.disk.file), "-F", "qcow2"]
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", *backing, str(overlay)], check=True)
        self.port = _free_port()
        self._process = subprocess.Popen(self._command(image, folder, overlay), cwd=scratch, start_new_session=True)
        self.desktop = GuestDesktop(f"http://127.0.0.1:{self.port}", self.secret, screen=screen)

    def _command(self, image: MachineImage, folder: Path, overlay: Path) -> list[str]:
        assert image.boot is not None
        host = this_host()
        return [
            *("qemu-system-x86_64", "-nodefaults", "-no-user-config", "-machine", "q35"),
            *("-accel", "tcg,thread=multi" if host.emulated else "kvm", "-cpu", host.cpu(image.os)),
            *("-smp", str(image.cpus), "-m", str(image.memory_mib), "-display", "none"),
            *("-kernel", str(folder / image.boot.kernel.file), "-initrd", str(folder / image.boot.initrd.file)),
            *("-append", image.boot.line(self.screen)),
            *("-drive", f"if=none,id=disk,file={overlay},format=qcow2,cache=unsafe"),
            *(
                "-device",
                f"{image.devices.disk},drive=disk",
                "-device",
                "virtio-rng-pci",
                "-device",
                "vmgenid,guid=auto",
            ),
            *("-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:5000"),
            *("-device", f"{image.devices.network},netdev=net,romfile="),
            *("-device", f"{image.devices.display},xres={self.screen.width},yres={self.screen.height}"),
            *("-device", "qemu-xhci", "-device", image.devices.pointer),
            *("-smbios", f"type=11,value=io.systemd.credential:deskarena.secret={self.secret}"),
            *("-serial", f"file:{self.scratch / 'serial.log'}", "-qmp", "unix:qmp,server=on,wait=off"),
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.desktop.close()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)

    def wait_ready(self) -> float:
        """Seconds until the guest API answers; fails with the end of the serial line's text if it does not."""
        return seconds_until(self._answers, BOOT_SECONDS, what=self.said)

    def _answers(self) -> bool:
        try:
            self.desktop.probe()
        except GuestLost:
            assert self._process.poll() is None, f"the machine is gone: {self.said()}"
            return False
        return True

    def said(self) -> str:
        """The end of what the machine said on its serial line."""
        return (self.scratch / "serial.log").read_text("utf-8", "replace")[-3000:]

    def ended(self, seconds: float) -> bool:
        """Whether the machine powers itself off within that time."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def screendump(self, target: Path) -> None:
        """Writes QEMU's own picture of the screen, a PPM file."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(30)
            client.connect(str(self.scratch / "qmp"))
            with client.makefile("rw") as line:
                line.readline()
                for command in (
                    {"execute": "qmp_capabilities"},
                    {"execute": "screendump", "arguments": {"filename": str(target)}},
                ):
                    line.write(json.dumps(command) + "\n")
                    line.flush()
                    answer: dict[str, Any] = json.loads(line.readline())
                    assert "return" in answer, answer


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def missing_programs(*programs: str) -> list[str]:
    """Those that this machine lacks."""
    return [program for program in programs if shutil.which(program) is None]
