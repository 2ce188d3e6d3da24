import dataclasses
import itertools
import json

from worker.qemu.arguments import arguments
from worker.qemu.machine import MachineFiles, MachineSpec

MACHINE = MachineSpec(
    system="linux",
    type="pc-q35-7.2",
    accelerator="tcg",
    cpu="max",
    cpus=2,
    memory_mib=1024,
    screen=(1280, 800),
    disk="/images/x/disk.qcow2",
    disk_size=2**33,
    kernel="/images/x/vmlinuz",
    initrd="/images/x/initrd.img",
    command_line="quiet a,b=1",
)
COLD = MachineFiles(disk="/fd/3", overlay="/fd/4", kernel="/fd/5", initrd="/fd/6")
CLONE = dataclasses.replace(COLD, below="/fd/7", memory="/fd/8")


def values(words: list[str], option: str) -> list[str]:
    return [value for word, value in itertools.pairwise(words) if word == option]


class TestArguments:
    def test_a_cold_machine_in_full(self) -> None:
        careless = {"direct": False, "no-flush": True}
        below = {"driver": "file", "filename": "/fd/3", "read-only": True}
        disk = {
            "driver": "qcow2",
            "node-name": "disk",
            "discard": "unmap",
            "cache": careless,
            "file": {"driver": "file", "filename": "/fd/4", "cache": careless},
            "backing": {"driver": "qcow2", "read-only": True, "file": below, "backing": None},
        }
        device = {"driver": "virtio-blk-pci", "drive": "disk", "werror": "enospc", "rerror": "report"}
        sandbox = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
        assert arguments(MACHINE, COLD, monitor=9, secret="s3") == [
            *("qemu-system-x86_64", "-nodefaults", "-no-user-config", "-name", "deskarena", "-sandbox", sandbox),
            *("-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"),
            *("-machine", "pc-q35-7.2,memory-backend=pc.ram", "-m", "1024M"),
            *("-object", json.dumps({"id": "pc.ram", "size": 2**30, "qom-type": "memory-backend-ram"})),
            *("-kernel", "/fd/5", "-initrd", "/fd/6", "-append", "quiet a,b=1"),
            *("-blockdev", json.dumps(disk), "-device", json.dumps(device)),
            *("-netdev", "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:0-:5000"),
            *("-device", "virtio-net-pci,netdev=net,mac=52:54:00:64:61:01,romfile="),
            *("-device", "virtio-vga,xres=1280,yres=800", "-display", "none", "-vnc", "unix:vnc"),
            *("-device", "qemu-xhci,id=usb", "-device", "usb-kbd,bus=usb.0", "-device", "usb-tablet,bus=usb.0"),
            *("-device", "virtio-rng-pci", "-device", "vmgenid,guid=auto", "-device", "pvpanic"),
            *("-rtc", "base=utc,clock=host", "-smbios", "type=11,value=io.systemd.credential:deskarena.secret=s3"),
            *("-chardev", "socket,id=qmp,fd=9", "-mon", "chardev=qmp,mode=control"),
            *("-action", "panic=pause", "-action", "watchdog=none"),
        ]

    def test_a_clone_copies_its_template_s_memory_on_write_and_waits_for_its_state(self) -> None:
        words = arguments(MACHINE, CLONE, monitor=9, incoming=True)
        memory = json.loads(values(words, "-object")[0])
        assert (memory["mem-path"], memory["share"]) == ("/fd/8", False)
        disk = json.loads(values(words, "-blockdev")[0])
        assert disk["backing"]["file"]["filename"] == "/fd/7"
        assert disk["backing"]["backing"]["file"]["filename"] == "/fd/3"
        assert values(words, "-incoming") == ["defer"]
        assert values(words, "-smbios") == []

    def test_a_master_shares_its_memory_with_the_file(self) -> None:
        words = arguments(MACHINE, CLONE, monitor=9, shared=True)
        assert json.loads(values(words, "-object")[0])["share"] is True

    def test_master_and_clone_have_the_same_devices(self) -> None:
        master = arguments(MACHINE, CLONE, monitor=9, shared=True)
        assert values(master, "-device") == values(arguments(MACHINE, CLONE, monitor=9, incoming=True), "-device")

    def test_windows_gets_its_screen_size(self) -> None:
        windows = dataclasses.replace(MACHINE, system="windows")
        (tables,) = values(arguments(windows, COLD, monitor=9, secret="s3"), "-smbios")
        assert tables == "type=11,value=io.systemd.credential:deskarena.secret=s3,value=deskarena.screen=1280x800"

    def test_the_processor_is_the_machine_s_whatever_it_has_or_lacks(self) -> None:
        machine = dataclasses.replace(MACHINE, accelerator="kvm", cpu="host,-pdcm,hv-relaxed")
        words = arguments(machine, COLD, monitor=9)
        assert (values(words, "-accel"), values(words, "-cpu")) == (["kvm"], ["host,-pdcm,hv-relaxed"])

    def test_uefi_boots_from_the_disk_with_settings_of_its_own(self) -> None:
        uefi = dataclasses.replace(MACHINE, firmware="uefi", kernel="", initrd="", command_line="")
        files = dataclasses.replace(COLD, firmware_code="/fd/10", firmware_vars="/fd/11")
        words = arguments(uefi, files, monitor=9)
        code, settings, _ = (json.loads(value) for value in values(words, "-blockdev"))
        assert code["read-only"]
        assert "read-only" not in settings
        assert "pflash0=code,pflash1=vars" in values(words, "-machine")
        assert values(words, "-kernel") == []
        assert any('"bootindex": 0' in value for value in values(words, "-device"))

    def test_a_path_cannot_add_options(self) -> None:
        files = dataclasses.replace(CLONE, memory='/a,share=on"}')
        assert json.loads(values(arguments(MACHINE, files, monitor=9), "-object")[0])["share"] is False


class TestMachine:
    def test_survives_the_wire(self) -> None:
        assert MachineSpec.from_json(json.loads(json.dumps(MACHINE.to_json()))) == MACHINE
