"""Answer file for Windows Setup on our medium, built from options and checked by `autounattend_schema`.

Setup searches the root of removable media for `autounattend.xml`.
https://learn.microsoft.com/windows-hardware/manufacture/desktop/windows-setup-automation-overview Components and
settings: https://learn.microsoft.com/windows-hardware/customize/desktop/unattend/components-b-unattend
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from lxml import etree

from worker.images.windows.options import WindowsBuildOptions

UNATTEND = "urn:schemas-microsoft-com:unattend"
WCM = "http://schemas.microsoft.com/WMIConfig/2002/State"
FILE = "autounattend.xml"
LABEL = "DESKARENA"
"""Volume name of our medium."""
_LETTERS = "D E F G H I J"
_SHELL = "Microsoft-Windows-Shell-Setup"
_IDENTITY = {
    "processorArchitecture": "amd64",
    "publicKeyToken": "31bf3856ad364e35",
    "language": "neutral",
    "versionScope": "nonSxS",
}

Tree: TypeAlias = "str | Mapping[str, Tree] | Sequence[Mapping[str, Tree]]"
"""Text, named children, or several children of the one name that precedes the list."""


def answer_file(options: WindowsBuildOptions, index: int, *, server: bool = False) -> bytes:
    """The answer file.

    Args:
        options: of the build.
        index: of the edition in the medium's `install.wim`, from 1.
        server: whether the edition is a Windows Server.
    """
    root = etree.Element(f"{{{UNATTEND}}}unattend", nsmap=cast("dict[str, str]", {None: UNATTEND, "wcm": WCM}))
    for name, components in _passes(options, index, server=server).items():
        settings = etree.SubElement(root, f"{{{UNATTEND}}}settings", {"pass": name})
        for component, tree in components.items():
            _fill(etree.SubElement(settings, f"{{{UNATTEND}}}component", {"name": component, **_IDENTITY}), tree)
    return etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)


def _passes(options: WindowsBuildOptions, index: int, *, server: bool) -> dict[str, dict[str, Tree]]:
    return {
        "windowsPE": {
            "Microsoft-Windows-International-Core-WinPE": {
                "SetupUILanguage": {"UILanguage": options.language},
                **_international(options),
            },
            "Microsoft-Windows-Setup": _setup(options, index),
        },
        "specialize": dict(_specialize(options, server=server)),
        "oobeSystem": {
            "Microsoft-Windows-International-Core": _international(options),
            _SHELL: _first_start(options, server=server),
        },
    }


def _international(options: WindowsBuildOptions) -> dict[str, Tree]:
    return {
        "InputLocale": options.keyboard,
        "SystemLocale": options.language,
        "UILanguage": options.language,
        "UserLocale": options.language,
    }


def _setup(options: WindowsBuildOptions, index: int) -> dict[str, Tree]:
    # Evaluations need no key; "Never" keeps other media from asking for one.
    key: dict[str, Tree] = {"Key": options.product_key} if options.product_key else {}
    return {
        "DynamicUpdate": {"Enable": "false", "WillShowUI": "Never"},
        "RunSynchronous": {"RunSynchronousCommand": _ordered_commands("Path", REQUIREMENT_CHECKS_OFF)},
        "DiskConfiguration": {"WillShowUI": "OnError", "Disk": [_disk(options)]},
        "ImageInstall": {
            "OSImage": {
                "InstallFrom": {"MetaData": [{"Key": "/IMAGE/INDEX", "Value": str(index)}]},
                "InstallTo": {"DiskID": "0", "PartitionID": "3" if options.firmware == "uefi" else "2"},
                "WillShowUI": "OnError",
            }
        },
        "UserData": {
            "ProductKey": {**key, "WillShowUI": "Never"},
            "AcceptEula": "true",
            "FullName": options.user,
        },
    }


_LAB = r"reg.exe add HKLM\SYSTEM\Setup\LabConfig /v {} /t REG_DWORD /d 1 /f"
# Microsoft documents that Windows 11 can be installed on unsupported machines, but not these names; Setup reads them
# since Windows 11 21H2, and common tools for virtual machines set them. Cloning memory requires a machine without TPM.
REQUIREMENT_CHECKS_OFF = tuple(
    _LAB.format(f"Bypass{what}Check") for what in ("TPM", "SecureBoot", "RAM", "CPU", "Storage")
)


def _disk(options: WindowsBuildOptions) -> dict[str, Tree]:
    """Partitions as Microsoft recommends, without a recovery partition: nothing here is ever repaired.

    https://learn.microsoft.com/windows-hardware/manufacture/desktop/configure-uefigpt-based-hard-drive-partitions
    https://learn.microsoft.com/windows-hardware/manufacture/desktop/configure-biosmbr-based-hard-drive-partitions
    """
    system: dict[str, Tree] = {"Format": "NTFS", "Label": "Windows", "Letter": "C"}
    if options.firmware == "uefi":
        create = [{"Type": "EFI", "Size": "300"}, {"Type": "MSR", "Size": "16"}, {"Type": "Primary", "Extend": "true"}]
        modify: list[dict[str, Tree]] = [
            {"PartitionID": "1", "Format": "FAT32", "Label": "System"},
            {"PartitionID": "2"},
            {"PartitionID": "3", **system},
        ]
    else:
        create = [{"Type": "Primary", "Size": "300"}, {"Type": "Primary", "Extend": "true"}]
        modify = [
            {"PartitionID": "1", "Active": "true", "Format": "NTFS", "Label": "System"},
            {"PartitionID": "2", **system},
        ]
    return {
        "DiskID": "0",
        "WillWipeDisk": "true",
        "CreatePartitions": {"CreatePartition": _number_items(create)},
        "ModifyPartitions": {"ModifyPartition": _number_items(modify)},
    }


def _specialize(options: WindowsBuildOptions, *, server: bool) -> Iterator[tuple[str, Tree]]:
    yield _SHELL, {"ComputerName": options.computer, "TimeZone": options.time_zone}
    # The disk is an overlay of an image that must not change: disable automatic encryption.
    yield "Microsoft-Windows-SecureStartup-FilterDriver", {"PreventDeviceEncryption": "true"}
    yield "Microsoft-Windows-ErrorReportingCore", {"DisableWER": "1"}
    if server:
        yield "Microsoft-Windows-ServerManager-SvrMgrNc", {"DoNotOpenServerManagerAtLogon": "true"}


def _first_start(options: WindowsBuildOptions, *, server: bool) -> dict[str, Tree]:
    password: dict[str, Tree] = {"Value": options.password.get_secret_value(), "PlainText": "true"}
    account: dict[str, Tree] = {"Password": password, "Group": "Administrators", "Name": options.user}
    accounts: dict[str, Tree] = {"LocalAccounts": {"LocalAccount": [account]}}
    if server:
        # Without it Setup stops and asks.
        accounts["AdministratorPassword"] = password
    return {
        "OOBE": {
            "HideEULAPage": "true",
            "HideOEMRegistrationScreen": "true",
            "HideOnlineAccountScreens": "true",
            "HideWirelessSetupInOOBE": "true",
            "ProtectYourPC": "3",
        },
        "UserAccounts": accounts,
        # Setup limits the number of automatic logons; our first script removes the limit.
        "AutoLogon": {"Password": password, "Enabled": "true", "LogonCount": "3", "Username": options.user},
        "FirstLogonCommands": {
            "SynchronousCommand": _ordered_commands("CommandLine", [FIRST_COMMAND], RequiresUserInput="false")
        },
    }


# Drive letters of CD drives are unknown; our script exists on one of them only.
FIRST_COMMAND = (
    f'cmd.exe /d /c "for %d in ({_LETTERS}) do if exist %d:\\deskarena\\start.cmd call %d:\\deskarena\\start.cmd"'
)


def _ordered_commands(name: str, commands: Sequence[str], **further: str) -> list[dict[str, Tree]]:
    return _number_items([{name: command, **further} for command in commands])


def _number_items(items: Sequence[Mapping[str, Tree]]) -> list[dict[str, Tree]]:
    return [{"Order": str(number), **item} for number, item in enumerate(items, start=1)]


def _fill(parent: etree._Element, tree: Tree) -> None:
    if isinstance(tree, str):
        parent.text = tree
    elif isinstance(tree, Mapping):
        for name, below in tree.items():
            _add(parent, name, below)


def _add(parent: etree._Element, name: str, below: Tree) -> None:
    several = isinstance(below, Sequence) and not isinstance(below, str)
    # List items are added, not replaced.
    attributes = {f"{{{WCM}}}action": "add"} if several else {}
    for item in below if isinstance(below, Sequence) and not isinstance(below, str) else (below,):
        _fill(etree.SubElement(parent, f"{{{UNATTEND}}}{name}", attributes), item)
