"""Command that creates the image's file system: mmdebstrap with hooks, as a pure function."""

from collections.abc import Sequence
from pathlib import Path

from worker.images.linux.layer import GUEST, HOME, USER
from worker.images.linux.options import BuildSources, LinuxBuildOptions

FACTS, LAYER = "packages.txt", "layer.tar"
KEPT_OUT = (
    *("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/info/*", "/usr/share/lintian/*", "/usr/share/locale/*"),
    *(
        f"/lib/modules/*/kernel/{part}/*"
        for part in (
            *("sound", "drivers/media", "drivers/infiniband", "drivers/iio", "drivers/hwmon", "drivers/staging"),
            *("drivers/net/ethernet", "drivers/net/wireless", "drivers/net/can", "drivers/net/usb", "drivers/net/wan"),
            *("drivers/gpu/drm/amd", "drivers/gpu/drm/i915", "drivers/gpu/drm/nouveau", "drivers/gpu/drm/radeon"),
            *("drivers/scsi", "drivers/ata", "drivers/md", "drivers/mtd", "drivers/mmc", "drivers/nvme"),
            *("drivers/target", "drivers/isdn", "drivers/bluetooth", "drivers/crypto", "drivers/comedi"),
            *("drivers/platform", "drivers/thunderbolt", "drivers/i2c", "drivers/watchdog", "drivers/edac"),
            *("drivers/usb/serial", "drivers/usb/gadget", "drivers/usb/misc", "drivers/input/touchscreen"),
            *("arch/x86/kvm", "net/bluetooth", "net/wireless", "net/mac80211", "net/nfc", "net/ceph", "net/sctp"),
            *("fs/xfs", "fs/btrfs", "fs/nfs", "fs/nfsd", "fs/ocfs2", "fs/smb", "fs/ceph", "fs/gfs2", "fs/f2fs"),
        )
    ),
)
"""Files that nobody reads, and drivers of hardware that QEMU's machine does not have."""
UNITS = (
    "deskarena-desktop.service",
    "deskarena-helper.socket",
    "deskarena-network.service",
    "deskarena-watchdog.service",
)
MASKED = (
    # Logins: the desktop is the only user.
    *("getty@tty1.service", "getty-static.service", "serial-getty@ttyS0.service", "user@.service"),
    # Maintenance of long-lived systems.
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "fstrim.timer", "e2scrub_all.timer"),
    *("e2scrub_reap.service", "systemd-pstore.service", "systemd-tmpfiles-clean.timer", "logrotate.timer"),
    *("systemd-random-seed.service", "systemd-update-utmp.service", "systemd-update-utmp-runlevel.service"),
    # Mounts and drivers that no desktop program needs; each costs boot time.
    *("sys-kernel-debug.mount", "sys-kernel-tracing.mount", "sys-kernel-config.mount", "dev-hugepages.mount"),
    *("dev-mqueue.mount", "proc-sys-fs-binfmt_misc.automount", "systemd-binfmt.service", "remote-fs.target"),
    *("modprobe@configfs.service", "modprobe@dm_mod.service", "modprobe@drm.service", "modprobe@loop.service"),
)
_PASSWORD = (  # "password", which OSWorld's tasks give to sudo. The salt is fixed: every build has the same file.
    "$6$deskarena$Yyj3CXT3MSk1ZS3Tc4G/18j4/akDF28RTPeF.nPSK9Aq3"  # noqa: S105
    "Zln.2sXzuE1ws0PXxsgIheVA0Gq7sLqEAdMSy6WH1"
)
_FONTS = "/usr/share/fonts /usr/local/share/fonts"
_CHROME = "/opt/google/chrome"


def bootstrap_command(
    options: LinuxBuildOptions, sources: BuildSources, packages: Sequence[str], folder: Path
) -> list[str]:
    """The command line; it writes `root.tar` and `packages.txt`.

    For a user other than root, hooks run as a mapped user who can read neither the folder nor the checkout: their
    inputs are passed by `tar-in` and `upload`, and each hook works inside the image.

    Args:
        options: of the build.
        sources: contents besides packages.
        packages: names to install.
        folder: has `layer.tar` (`layer.write_layer`); also receives the output.
    """
    hooks = [
        *_account(options),
        f"tar-in {folder / LAYER} /",
        *_system(options),
        *_chromium(options),
        *_facts(sources.linux / "list-packages", folder),
    ]
    return [
        *("mmdebstrap", "--variant=minbase", "--format=tar", f"--include={','.join(packages)}"),
        '--aptopt=Acquire::Retries "3"',
        *(f"--dpkgopt=path-exclude={path}" for path in KEPT_OUT),
        *(f"--customize-hook={hook}" for hook in hooks),
        *(options.suite, str(folder / "root.tar"), *options.sources),
    ]


def bootstrap_environment(options: LinuxBuildOptions, path: str) -> dict[str, str]:
    """Environment of the command, the same for every user."""
    # Without Debian's initrd, which takes minutes: the image has its own, which takes seconds.
    epoch = str(options.epoch)
    times = {"SOURCE_DATE_EPOCH": epoch, "E2FSPROGS_FAKE_TIME": epoch}
    return {"PATH": path, "LC_ALL": "C.UTF-8", "TZ": "UTC", "INITRD": "No", **times}


def _account(options: LinuxBuildOptions) -> list[str]:
    command = f'chroot "$1" useradd --create-home --uid {USER} --shell /bin/bash --groups audio,video user'
    if options.variant == "minimal":
        return [command]
    return [command, f"chroot \"$1\" usermod --append --groups sudo --password '{_PASSWORD}' user"]


def _system(options: LinuxBuildOptions) -> list[str]:
    enabled, masked = " ".join(UNITS), " ".join(MASKED)
    return [
        # The locale of the suites' images; minbase has only C.UTF-8.
        'chroot "$1" localedef --no-archive -i en_US -f UTF-8 en_US.UTF-8',
        # The font cache is valid only for folders with exactly this time; otherwise each program scans them.
        f'chroot "$1" find {_FONTS} -type d -exec touch --date=@{options.epoch} {{}} +',
        'chroot "$1" fc-cache --force --system-only',
        f'chroot "$1" python3 -I -m compileall -q --invalidation-mode unchecked-hash /{GUEST}',
        f'chroot "$1" systemctl --quiet enable {enabled}',
        f'chroot "$1" systemctl --quiet mask {masked}',
        'chroot "$1" systemctl --quiet set-default graphical.target',
        # One profile under both names: tasks prepare and read Chrome's, which is what Chromium uses.
        f'ln -s google-chrome "$1/{HOME}/.config/chromium"',
        f'chown -h {USER}:{USER} "$1/{HOME}/.config/chromium"',
    ]


def _chromium(options: LinuxBuildOptions) -> list[str]:
    """Chromium under Chrome's name, as on local desktops: tasks kill it by that name. A hard link has its own path."""
    if options.variant == "minimal":
        return []
    lay = f"mkdir -p {_CHROME} && cp -as /usr/lib/chromium/. {_CHROME}/ && rm {_CHROME}/chromium"
    return [f"chroot \"$1\" sh -c '{lay} && ln /usr/lib/chromium/chromium {_CHROME}/chrome'"]


def _facts(lister: Path, folder: Path) -> list[str]:
    """Every package with its version and the hash of its file, from apt's signed lists."""
    return [
        f"upload {lister} /{lister.name}",
        f'chroot "$1" sh /{lister.name} >"$1/{FACTS}"',
        f"download /{FACTS} {folder / FACTS}",
        f'rm "$1/{FACTS}" "$1/{lister.name}"',
    ]
