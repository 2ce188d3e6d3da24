"""Boots the smallest possible guest on /dev/kvm: five bytes of code that say one byte on a port and halt.

/dev/kvm may exist, open and still not run a guest (nested virtualisation that is half there, a device without rights).
Only running instructions tells. Runs as a process of its own (`python -I -S kvm_boot.py`), because KVM_RUN may hang;
prints one line and exits with 0 if the guest ran. The ioctls are those of the kernel's Documentation/virt/kvm/api.rst.
"""

import ctypes
import fcntl
import mmap
import os
import struct
import sys

KVM_GET_API_VERSION = 0xAE00
KVM_CREATE_VM = 0xAE01
KVM_GET_VCPU_MMAP_SIZE = 0xAE04
KVM_CREATE_VCPU = 0xAE41
KVM_RUN = 0xAE80
KVM_SET_USER_MEMORY_REGION = 0x4020AE46
KVM_SET_REGS = 0x4090AE82
KVM_GET_SREGS = 0x8138AE83
KVM_SET_SREGS = 0x4138AE84
API_VERSION = 12
SREGS_BYTES = 312
EXIT_IO, EXIT_HLT = 2, 5
EXIT_REASON_AT = 8
IO_DATA_OFFSET_AT = 40
CODE_AT = 0x1000
# mov al, 42; out 16, al; hlt
CODE = b"\xb0\x2a\xe6\x10\xf4"
ANSWER = 0x2A


class GuestDidNotRunError(Exception):
    """What happened instead."""


def boot() -> None:
    """Run the guest to its halt.

    Raises:
        OSError: If the kernel refuses a step.
        GuestDidNotRunError: If it accepted all steps and the guest did something else.
    """
    kvm = os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC)
    if (version := fcntl.ioctl(kvm, KVM_GET_API_VERSION)) != API_VERSION:
        raise GuestDidNotRunError(f"KVM API version {version}")
    machine = fcntl.ioctl(kvm, KVM_CREATE_VM, 0)
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    memory[: len(CODE)] = CODE
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    region = struct.pack("IIQQQ", 0, 0, CODE_AT, mmap.PAGESIZE, address)
    fcntl.ioctl(machine, KVM_SET_USER_MEMORY_REGION, region)
    cpu = fcntl.ioctl(machine, KVM_CREATE_VCPU, 0)
    shared = mmap.mmap(cpu, fcntl.ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE))
    _point_at_code(cpu)
    _run(cpu, shared)


def _point_at_code(cpu: int) -> None:
    special = bytearray(SREGS_BYTES)
    fcntl.ioctl(cpu, KVM_GET_SREGS, special)
    # The code segment comes first: base (8 bytes), limit (4), selector (2).
    special[0:8] = bytes(8)
    special[12:14] = bytes(2)
    fcntl.ioctl(cpu, KVM_SET_SREGS, bytes(special))
    # 16 general registers, then the instruction pointer and the flags (bit 1 is always set).
    fcntl.ioctl(cpu, KVM_SET_REGS, struct.pack("18Q", *([0] * 16), CODE_AT, 2))


def _run(cpu: int, shared: mmap.mmap) -> None:
    for wanted in (EXIT_IO, EXIT_HLT):
        fcntl.ioctl(cpu, KVM_RUN, 0)
        (reason,) = struct.unpack_from("I", shared, EXIT_REASON_AT)
        if reason != wanted:
            raise GuestDidNotRunError(f"the guest left with reason {reason} instead of {wanted}")
        if reason == EXIT_IO:
            (offset,) = struct.unpack_from("Q", shared, IO_DATA_OFFSET_AT)
            if shared[offset] != ANSWER:
                raise GuestDidNotRunError(f"the guest said {shared[offset]} instead of {ANSWER}")


if __name__ == "__main__":
    try:
        boot()
    except (OSError, GuestDidNotRunError) as problem:
        sys.exit(f"{problem}")
    sys.stdout.write("a guest ran and halted\n")
