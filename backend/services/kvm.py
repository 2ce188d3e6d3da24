"""Whether KVM really boots a machine here: found by booting one, as the machines of desktops are booted.

/dev/kvm may exist and open, run a few instructions, and still boot nothing: virtualisation inside a virtual machine
that is half there, a device without rights, a processor model that cannot be handed on. So QEMU starts a machine whose
disk holds one sector of ours; that switches the processor to 64 bits with paging and then says one byte on QEMU's exit
port.
"""

import hashlib
import json
import os
import platform
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAM = "qemu-system-x86_64"
DEVICE = Path("/dev/kvm")
BOOT_SECONDS = 20.0
KVM_WORDS = ("-accel", "kvm", "-cpu", "host")
_ANSWER = 0x2A
_EXIT = (_ANSWER << 1) | 1
"""What QEMU makes of that byte: its exit status."""
_SLOW_SECONDS = 5.0
"""A machine that takes longer to load one sector is no faster than emulation."""
_DISK_BYTES = 2**20
# At 0x7C00, entered in 16-bit mode.
_CODE = bytes.fromhex(
    "fafc"  # cli; cld
    "31c08ed88ec0"  # xor ax, ax; mov ds, ax; mov es, ax
    "bf0010b90018f3ab"  # mov di, 0x1000; mov cx, 0x1800; rep stosw: three empty page tables
    "c70600100320"  # mov word [0x1000], 0x2003
    "c70600200330"  # mov word [0x2000], 0x3003
    "c70600308300"  # mov word [0x3000], 0x0083: the first 2 MiB, where they are
    "0f0116807c"  # lgdt [0x7C80]
    "0f20e00c200f22e0"  # mov eax, cr4; or al, 0x20; mov cr4, eax: large addresses
    "66b8001000000f22d8"  # mov eax, 0x1000; mov cr3, eax
    "66b9800000c00f3280cc010f30"  # mov ecx, 0xC0000080; rdmsr; or ah, 1; wrmsr: 64 bits, once there is paging
    "0f20c0660d010000800f22c0"  # mov eax, cr0; or eax, 0x80000001; mov cr0, eax: paging and protection
    "66ea597c00000800"  # jmp 8:0x7C59, in 64 bits from there on
    "48b8000000002a000000"  # mov rax, 0x2A00000000
    "48c1e820"  # shr rax, 32
    "66baf400eef4"  # mov dx, 0xF4; out dx, al; hlt
)
# Descriptors at 0x7C70: none, and code of 64 bits; at 0x7C80 their size and place.
_TABLE = bytes.fromhex("000000000000000000000000009a20000f00707c0000")


def boot_sector() -> bytes:
    """512 bytes, as a BIOS loads them."""
    return (_CODE.ljust(0x70, b"\x90") + _TABLE).ljust(510, b"\0") + b"\x55\xaa"


def why_not(words: tuple[str, ...] = KVM_WORDS) -> str:
    """Boots the machine.

    Args:
        words: how QEMU is to run it; emulation, too, can be tried.

    Returns:
        What happened instead; empty if it booted.
    """
    if "kvm" in words and not DEVICE.exists():
        return f"there is no {DEVICE}"
    if platform.machine() != "x86_64":
        return f"only x86_64 can be tried, this is {platform.machine()}"
    with tempfile.NamedTemporaryFile(prefix="deskarena-boot-") as disk:
        disk.write(boot_sector().ljust(_DISK_BYTES, b"\0"))
        disk.flush()
        return _tried(words, disk.name)


def _tried(words: tuple[str, ...], disk: str) -> str:
    drive = json.dumps({"driver": "raw", "node-name": "d", "file": {"driver": "file", "filename": disk}})
    command = [
        *(PROGRAM, "-nodefaults", "-no-user-config", "-machine", "q35", *words, "-m", "64", "-display", "none"),
        *("-blockdev", drive, "-device", "virtio-blk-pci,drive=d,bootindex=0", "-no-reboot"),
        *("-device", "isa-debug-exit,iobase=0xf4,iosize=1"),
    ]
    begun = time.monotonic()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=BOOT_SECONDS, check=False)
    except FileNotFoundError:
        return f"there is no program {PROGRAM}"
    except (OSError, subprocess.SubprocessError) as error:
        return f"a machine did not boot: {error}"
    took = time.monotonic() - begun
    if done.returncode != _EXIT:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return f"a machine did not boot, QEMU ended with {done.returncode}: {said[0] if said else 'without a word'}"
    return f"a machine took {took:.1f} s to load one sector: no faster than emulation" if took > _SLOW_SECONDS else ""


def why_not_cached(cache: Path) -> str:
    """The same, asked once per start of this host.

    Args:
        cache: folder to note the answer in; made if need be. Where it cannot be written, nothing is noted.
    """
    note, key = cache / "kvm.json", _key()
    try:
        noted = json.loads(note.read_text())
        if noted["key"] == key:
            return str(noted["why_not"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # Not asked yet, or not readable: ask.
    answer = why_not()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        whole = cache / f".kvm-{os.getpid()}"
        whole.write_text(json.dumps({"key": key, "why_not": answer}))
        whole.replace(note)
    except OSError:
        pass
    return answer


def _key() -> str:
    """Changes when the answer may: another start of the host, another user, another device, another QEMU."""
    told = (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/version"))
    parts = [str(os.getuid()), str(os.getgroups())]
    parts += [path.read_text().strip() if path.exists() else "" for path in told]
    parts += [_state(file) for file in (DEVICE, Path("/usr/bin") / PROGRAM)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _state(file: Path) -> str:
    """Whose a file is, who may use it, and when it was changed."""
    if not file.exists():
        return ""
    state = file.stat()
    return str((state.st_mode, state.st_uid, state.st_gid, state.st_mtime_ns))
