"""Hosts of virtual machines, for tests of plans."""

from worker.qemu.acceleration import Acceleration, AccelerationReason
from worker.qemu.machine import KVM, TCG
from worker.qemu.plan import Host

QEMU, TYPE = "QEMU emulator version 7.2.0", "pc-q35-7.2"
EMULATED = Acceleration(accelerator=TCG, reason=AccelerationReason.NO_DEVICE, detail="there is no /dev/kvm")
ACCELERATED = Acceleration(
    accelerator=KVM,
    reason=AccelerationReason.FASTER,
    detail="4.0 times faster than emulation",
    cpu="host,-pdcm",
    hints=("hv-relaxed", "hv-crash"),
    refused=("pdcm", "hv-vapic"),
)
EMULATING_HOST = Host(QEMU, TYPE, EMULATED, "")
KVM_HOST = Host(QEMU, TYPE, ACCELERATED, "")
