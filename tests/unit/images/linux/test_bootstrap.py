from pathlib import Path

import pytest

from worker.images.linux.bootstrap import KEPT_OUT, MASKED, UNITS, bootstrap_command, bootstrap_environment
from worker.images.linux.initrd import DRIVERS
from worker.images.linux.layer import FILTER
from worker.images.linux.options import LinuxBuildOptions, Variant, sources_of
from worker.local.seccomp import MACHINE_PIDS

SOURCES, FOLDER = sources_of(Path("/checkout")), Path("/build")
FOLDER_OF_UNITS = Path(__file__).resolve().parents[4] / "vm_images/linux/root/etc/systemd/system"


def command(variant: Variant = "minimal", **more: object) -> list[str]:
    options = LinuxBuildOptions.model_validate({"variant": variant, "epoch": 5, **more})
    return bootstrap_command(options, SOURCES, ["dbus", "mousepad"], FOLDER)


class TestBootstrapCommand:
    def test_the_whole_command_but_the_lists(self) -> None:
        words = [word for word in command() if not word.startswith("--dpkgopt")]
        hooks = [word.removeprefix("--customize-hook=") for word in words if word.startswith("--customize-hook=")]
        assert [word for word in words if not word.startswith("--customize-hook=")] == [
            *("mmdebstrap", "--variant=minbase", "--format=tar", "--include=dbus,mousepad"),
            *('--aptopt=Acquire::Retries "3"', "bookworm", "/build/root.tar"),
        ]
        assert hooks[:2] == [
            'chroot "$1" useradd --create-home --uid 1000 --shell /bin/bash --groups audio,video user',
            "tar-in /build/layer.tar /",
        ]
        assert hooks[-4:] == [
            "upload /checkout/vm_images/linux/list-packages /list-packages",
            'chroot "$1" sh /list-packages >"$1/packages.txt"',
            "download /packages.txt /build/packages.txt",
            'rm "$1/packages.txt" "$1/list-packages"',
        ]

    def test_sources_of_packages_come_last(self) -> None:
        words = command(suite="trixie", sources=("deb http://mirror.example/debian trixie main",))
        assert words[-3:] == ["trixie", "/build/root.tar", "deb http://mirror.example/debian trixie main"]

    def test_only_full_may_become_root_and_has_a_browser(self) -> None:
        assert not [word for word in command() if "sudo" in word or "chromium/." in word]
        assert [word for word in command("full") if "--groups sudo --password '$6$" in word]
        assert [word for word in command("full") if "ln /usr/lib/chromium/chromium /opt/google/chrome/chrome" in word]

    def test_every_service_is_one_of_ours(self) -> None:
        assert sorted(UNITS) == sorted(
            each.name for each in FOLDER_OF_UNITS.iterdir() if each.is_file() and "[Install]" in each.read_text()
        )
        assert not set(UNITS) & set(MASKED)

    def test_the_session_has_the_process_ids_that_its_filter_protects(self) -> None:
        unit = (FOLDER_OF_UNITS / "deskarena-desktop.service").read_text()
        assert f" /{FILTER} {MACHINE_PIDS.first} " in unit
        assert f"DESKARENA_PROTECTED_PIDS={MACHINE_PIDS.last}\n" in unit

    @pytest.mark.parametrize("driver", DRIVERS)
    def test_no_required_driver_is_excluded(self, driver: str) -> None:
        """By the folders that Debian's kernel has them in."""
        places = {"ext4": "fs/ext4", "virtio-gpu": "drivers/gpu/drm/virtio", "virtio_net": "drivers/net"}
        place = f"/lib/modules/6.1.0/kernel/{places.get(driver, 'drivers/virtio')}/{driver}.ko"
        assert not [path for path in KEPT_OUT if Path(place).match(path)]

    def test_no_hook_reads_a_folder_that_only_who_builds_may_read(self) -> None:
        hooks = [word.removeprefix("--customize-hook=") for word in command("full") if "--customize-hook=" in word]
        ours = [hook for hook in hooks if str(FOLDER) in hook or "/checkout" in hook]
        assert {hook.split()[0] for hook in ours} == {"tar-in", "upload", "download"}
        assert [hook for hook in hooks if hook.split()[0] == "find"] == []


class TestBootstrapEnvironment:
    def test_environment_is_not_inherited(self) -> None:
        options = LinuxBuildOptions(epoch=5)
        assert bootstrap_environment(options, "/bin") == {
            "PATH": "/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "INITRD": "No",
            "SOURCE_DATE_EPOCH": "5", "E2FSPROGS_FAKE_TIME": "5",
        }  # fmt: skip
