"""The uncompressed kernel: unpacked at build time, because an emulated CPU takes seconds for it at every boot.

A compressed kernel is a small program followed by the real one. Its header has the offset, see
https://docs.kernel.org/arch/x86/boot.html. QEMU starts the real one at its PVH entry.
"""

import bz2
import gzip
import lzma
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType

_SECTORS, _SECTOR, _USUAL_SECTORS = 0x1F1, 512, 4
_MAGIC, _MAGIC_AT = b"HdrS", 0x202
_PAYLOAD_AT = 0x248
_ELF = b"\x7fELF"
_UNPACKERS: Mapping[bytes, Callable[[bytes], bytes]] = MappingProxyType(
    {
        b"\xfd7zXZ": lambda data: lzma.LZMADecompressor().decompress(data),
        b"\x1f\x8b": gzip.decompress,
        b"BZh": lambda data: bz2.BZ2Decompressor().decompress(data),
    }
)


def unpacked(kernel: bytes) -> bytes:
    """The ELF file in a compressed kernel; the kernel unchanged if Python cannot decompress it.

    Raises:
        ValueError: It is not a kernel.
    """
    if kernel[_MAGIC_AT : _MAGIC_AT + 4] != _MAGIC:
        raise ValueError("not a kernel for x86")
    start = ((kernel[_SECTORS] or _USUAL_SECTORS) + 1) * _SECTOR
    offset, length = struct.unpack_from("<II", kernel, _PAYLOAD_AT)
    payload = kernel[start + offset : start + offset + length]
    for magic, unpack in _UNPACKERS.items():
        if payload.startswith(magic):
            # The uncompressed length follows the data, in four bytes that belong to no format.
            data = unpack(payload if magic != b"\x1f\x8b" else payload[:-4])
            if data.startswith(_ELF):
                return data
    return kernel
