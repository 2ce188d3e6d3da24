"""Media as Windows' and virtio-win's, small enough for a test: laid out the same way, a few bytes of code for Windows.

The code boots as an install medium does, writes itself to the disk, reports over the serial port and switches off: so
the whole way of a build runs in a real machine, in seconds.
"""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

ORIGIN = 0x7C00
SECTOR = 512
EDITIONS = """<WIM>
<IMAGE INDEX="1"><NAME>Windows 11 Home</NAME><WINDOWS><ARCH>9</ARCH><EDITIONID>Core</EDITIONID>
<INSTALLATIONTYPE>Client</INSTALLATIONTYPE><LANGUAGES><LANGUAGE>en-US</LANGUAGE><DEFAULT>en-US</DEFAULT></LANGUAGES>
<VERSION><MAJOR>10</MAJOR><BUILD>26100</BUILD></VERSION></WINDOWS></IMAGE>
<IMAGE INDEX="2"><NAME>Windows 11 Pro</NAME><WINDOWS><ARCH>9</ARCH><EDITIONID>Professional</EDITIONID>
<INSTALLATIONTYPE>Client</INSTALLATIONTYPE><LANGUAGES><LANGUAGE>en-US</LANGUAGE><DEFAULT>en-US</DEFAULT></LANGUAGES>
<VERSION><MAJOR>10</MAJOR><BUILD>26100</BUILD></VERSION></WINDOWS></IMAGE>
<IMAGE INDEX="3"><NAME>Windows 11 for a phone</NAME><WINDOWS><ARCH>12</ARCH></WINDOWS></IMAGE>
</WIM>"""
INSTALLED = 'deskarena {"kind":"begin","stage":"drivers"}\ndeskarena {"kind":"phase","phase":"windows"}\n'
FINISHED = 'deskarena {"kind":"done","stage":"server","seconds":7}\ndeskarena {"kind":"phase","phase":"programs"}\n'
FAILED = 'deskarena {"kind":"failed","stage":"drivers","error":"no such driver"}\n'
DRIVERS = ("viostor", "NetKVM", "viogpudo", "viorng", "pvpanic")


def wim(description: str = EDITIONS) -> bytes:
    """A WIM file's header and its description, without images."""
    text = b"\xff\xfe" + description.encode("utf-16-le")
    header = bytearray(208)
    header[:8] = b"MSWIM\0\0\0"
    struct.pack_into("<Q", header, 72, len(text) | 2 << 56)
    struct.pack_into("<Q", header, 80, len(header))
    return bytes(header) + text


def boot_code(says: str, *, writes: bytes = b"") -> bytes:
    """Code of a boot sector or El Torito image: writes a sector to the first disk, says something, switches off.

    Args:
        says: to the first serial port.
        writes: becomes the disk's first sector; empty = nothing is written.
    """
    head = bytes.fromhex("31c0 8ed8")  # ds = 0
    if writes:
        head += bytes.fromhex("b80043 b280 be")  # int 13h, ah=43h: write sectors; si = what and where
        head += struct.pack("<H", ORIGIN + SECTOR) + bytes.fromhex("cd13")
    text_at = ORIGIN + len(head) + 3 + 23 + 10
    code = head + b"\xbe" + struct.pack("<H", text_at)
    code += bytes.fromhex("ac 84c0 7412 88c4")  # next character, up to a zero
    code += bytes.fromhex("bafd03 ec a820 74f8")  # until the port is free
    code += bytes.fromhex("baf803 88e0 ee ebe9")  # out with it
    code += bytes.fromhex("ba0406 b80020 ef f4 ebfd")  # the q35's power switch: state S5
    code += says.encode() + b"\0"
    assert len(code) <= SECTOR - 2
    sector = code.ljust(SECTOR - 2, b"\0") + b"\x55\xaa"
    if not writes:
        return sector
    address = struct.pack("<BBHHHQ", 16, 0, 1, ORIGIN + 2 * SECTOR, 0, 0)
    return sector + address.ljust(SECTOR, b"\0") + writes.ljust(SECTOR, b"\0") + bytes(SECTOR)


def windows_iso(folder: Path, boot: bytes = b"", description: str = EDITIONS) -> Path:
    """An install medium: UDF, with `sources/install.wim`, bootable by BIOS."""
    if shutil.which("genisoimage") is None:
        pytest.skip("needs genisoimage: apt install genisoimage")
    tree = folder / "windows"
    (tree / "sources").mkdir(parents=True)
    (tree / "sources" / "install.wim").write_bytes(wim(description))
    (tree / "boot.img").write_bytes(boot or boot_code(INSTALLED, writes=boot_code(FINISHED)))
    target = folder / "windows.iso"
    bootable = ["-b", "boot.img", "-no-emul-boot", "-boot-load-size", "4", "-c", "boot.cat"]
    subprocess.run(["genisoimage", "-quiet", "-udf", "-V", "CCCOMA_X64", *bootable, "-o", target, tree], check=True)
    return target


def virtio_iso(folder: Path, *, without: str = "") -> Path:
    """A medium of drivers, with as many folders as are taken out."""
    if shutil.which("xorriso") is None:
        pytest.skip("needs xorriso: apt install xorriso")
    tree = folder / "virtio"
    for name in DRIVERS:
        for system in ("w11", "2k22"):
            place = tree / name / system / "amd64"
            place.mkdir(parents=True)
            if name != without:
                (place / f"{name}.inf").write_text("[Version]\n")
                (place / f"{name}.sys").write_bytes(b"driver")
    if without:
        shutil.rmtree(tree / without)
    target = folder / "virtio-win.iso"
    command = [
        "xorriso",
        "-no_rc",
        "-as",
        "mkisofs",
        "-quiet",
        "-J",
        "-r",
        "-V",
        "virtio-win",
        "-o",
        str(target),
        str(tree),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return target
