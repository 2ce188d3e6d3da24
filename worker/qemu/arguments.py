"""QEMU's command line for a machine, as pure functions without decisions about paths.

Template and clones have the same devices in the same order; they differ in the source of memory and disk.
"""

import json
from typing import Any

from worker.qemu.machine import KVM, WINDOWS, MachineFiles, MachineSpec

PROGRAM = "qemu-system-x86_64"
GUEST_PORT = 5000
"""Port of the guest API inside."""
SECRET_NAME = "io.systemd.credential:deskarena.secret"  # noqa: S105 - the name of the string, not its value.
"""The machine's first secret is a string of its SMBIOS tables (type 11), `NAME=VALUE`, from which systemd reads it."""
SCREEN_NAME = "deskarena.screen"
"""Another such string, for Windows: the screen size that its guest server sets.

Linux takes it from the display device.
"""
# `deny` kills QEMU at the first such system call: a break-out starts with new programs and privileges.
_SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"


def arguments(  # noqa: PLR0913 - the ways in which machines of one make differ
    machine: MachineSpec,
    files: MachineFiles,
    *,
    monitor: int,
    secret: str = "",
    forward: str = "127.0.0.1",
    shared: bool = False,
    incoming: bool = False,
) -> list[str]:
    """The command line.

    Args:
        machine: the machine.
        files: their paths.
        monitor: file descriptor of QMP's socket.
        secret: first secret of the guest's server.
        forward: host address for the guest API; QEMU chooses the port.
        shared: write the guest's memory to the memory file: only for the master of a template.
        incoming: do not start, but wait for a state to be loaded.
    """
    return [
        *(PROGRAM, "-nodefaults", "-no-user-config", "-name", "deskarena", "-sandbox", _SANDBOX),
        *_processor(machine),
        *_memory(machine, files, shared=shared),
        *_firmware(machine, files),
        *_disk(machine, files),
        *_network(machine, forward),
        *_screen(machine),
        *_identity(machine, secret),
        *("-chardev", f"socket,id=qmp,fd={monitor}", "-mon", "chardev=qmp,mode=control"),
        # A panic stops the machine, so that its last picture can still be taken.
        *("-action", "panic=pause", "-action", "watchdog=none"),
        *(("-incoming", "defer") if incoming else ()),
    ]


def _processor(machine: MachineSpec) -> list[str]:
    accelerator = "kvm" if machine.accelerator == KVM else "tcg,thread=multi"
    return ["-accel", accelerator, "-cpu", machine.cpu, "-smp", str(machine.cpus)]


def _memory(machine: MachineSpec, files: MachineFiles, *, shared: bool) -> list[str]:
    backend: dict[str, Any] = {"id": "pc.ram", "size": machine.memory_mib * 2**20}
    if files.memory:
        backend |= {"qom-type": "memory-backend-file", "mem-path": files.memory, "share": shared}
    else:
        backend |= {"qom-type": "memory-backend-ram"}
    return [
        *("-machine", f"{machine.type},memory-backend=pc.ram", "-m", f"{machine.memory_mib}M"),
        *("-object", json.dumps(backend)),
    ]


def _firmware(machine: MachineSpec, files: MachineFiles) -> list[str]:
    if machine.firmware == "uefi":
        code = {"driver": "file", "node-name": "code", "filename": files.firmware_code, "read-only": True}
        settings = {"driver": "file", "node-name": "vars", "filename": files.firmware_vars}
        return [
            *("-blockdev", json.dumps(code), "-blockdev", json.dumps(settings)),
            *("-machine", "pflash0=code,pflash1=vars"),
        ]
    if machine.kernel:
        return ["-kernel", files.kernel, "-initrd", files.initrd, "-append", machine.command_line]
    return []


def _disk(machine: MachineSpec, files: MachineFiles) -> list[str]:
    # A machine's writes are discarded with it, so they need not be flushed in order.
    careless = {"direct": False, "no-flush": True}
    node: dict[str, Any] = _image(files.disk, None)
    if files.below:
        node = _image(files.below, node)
    top = {
        "driver": "qcow2",
        "node-name": "disk",
        "discard": "unmap",
        "cache": careless,
        "file": {"driver": "file", "filename": files.overlay, "cache": careless},
        "backing": node,
    }
    # A full host stops the machine with an event; other errors are reported to the guest like those of a broken disk.
    device: dict[str, Any] = {"driver": machine.disk_device, "drive": "disk"}
    if machine.disk_device == "nvme":
        device["serial"] = "deskarena"
    else:
        device |= {"werror": "enospc", "rerror": "report"}
    if not machine.kernel:
        device["bootindex"] = 0
    return ["-blockdev", json.dumps(top), "-device", json.dumps(device)]


def _image(path: str, backing: dict[str, Any] | None) -> dict[str, Any]:
    file = {"driver": "file", "filename": path, "read-only": True}
    # Without a base, the one named in the file itself is not followed.
    return {"driver": "qcow2", "read-only": True, "file": file, "backing": backing}


def _network(machine: MachineSpec, forward: str) -> list[str]:
    line = f"user,id=net,restrict=on,hostfwd=tcp:{forward}:0-:{GUEST_PORT}"
    # No network boot: loading its program only takes time.
    return ["-netdev", line, "-device", f"{machine.network_device},netdev=net,mac=52:54:00:64:61:01,romfile="]


def _screen(machine: MachineSpec) -> list[str]:
    width, height = machine.screen
    bus = ",bus=usb.0" if machine.pointer_device == "usb-tablet" else ""
    return [
        *("-device", f"{machine.display_device},xres={width},yres={height}"),
        # Relative to the machine's own folder, which nobody else may enter.
        *("-display", "none", "-vnc", "unix:vnc"),
        *("-device", "qemu-xhci,id=usb", "-device", "usb-kbd,bus=usb.0", "-device", f"{machine.pointer_device}{bus}"),
    ]


def _identity(machine: MachineSpec, secret: str) -> list[str]:
    entropy = ["-device", "virtio-rng-pci"] if machine.entropy else []
    # A clone's generation id differs from its template's, which makes its kernel reseed.
    words = [*entropy, "-device", "vmgenid,guid=auto", "-device", "pvpanic", "-rtc", "base=utc,clock=host"]
    if not secret:
        return words
    width, height = machine.screen
    screen = f",value={SCREEN_NAME}={width}x{height}" if machine.system == WINDOWS else ""
    return [*words, "-smbios", f"type=11,value={SECRET_NAME}={secret}{screen}"]
