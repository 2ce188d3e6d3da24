"""Decodes 7-Zip's coders: AES-256 and the usual compression methods.

Source: the 7z format's description in the LZMA SDK (`7zFormat.txt`, `Methods.txt`), which is in the public domain; key
    derivation and the AES coder's properties as documented by 7-Zip.
"""

import bz2
import hashlib
import lzma
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.formats.failures import let_through

AES = bytes.fromhex("06f10701")
MAX_UNPACKED = 256 * 2**20
MAX_CYCLES = 22
"""Maximum rounds of key derivation, as a power of two; 7-Zip writes 19."""
_PLAIN_KEY = 0x3F
_KEY, _BLOCK = 32, 16
_MAX_LZMA2 = 40


@dataclass(frozen=True)
class Coder:
    """One step of packing. `size`: number of bytes after decoding."""

    method: bytes
    properties: bytes
    size: int


def undone(data: bytes, coder: Coder, password: str) -> bytes:
    """Decodes the bytes of one step.

    Raises:
        Invalid: they are damaged, too many, or the password is wrong.
        EvaluatorFailed: the method is not supported.
    """
    if coder.size > MAX_UNPACKED:
        raise Invalid(f"the archive unpacks to {coder.size // 2**20} MiB", code="archive_too_large")
    known: Mapping[bytes, Callable[[], bytes]] = {
        b"\x00": lambda: data,
        AES: lambda: _decrypt(data, coder.properties, password),
        bytes.fromhex("030101"): lambda: _lzma1(data, coder),
        b"\x21": lambda: _lzma2(data, coder),
        bytes.fromhex("03030103"): lambda: _x86(data),
        bytes.fromhex("040108"): lambda: zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, max(1, coder.size)),
        bytes.fromhex("040202"): lambda: bz2.BZ2Decompressor().decompress(data, coder.size),
    }
    if coder.method not in known:
        raise EvaluatorFailed(
            f"the archive is packed by an unsupported method: {coder.method.hex()}",
            code="archive_not_supported",
        )
    try:
        return known[coder.method]()[: coder.size]
    except (lzma.LZMAError, zlib.error, OSError, EOFError, ValueError) as error:
        let_through(error)
        raise Invalid(
            f"the archive is damaged, or the password is wrong: {error}", code="archive_damaged_or_encrypted"
        ) from error


def _lzma1(data: bytes, coder: Coder) -> bytes:
    if len(coder.properties) < 5:  # noqa: PLR2004 - a byte and a number of four.
        raise Invalid("the archive is damaged", code="archive_damaged")
    first, size = coder.properties[0], int.from_bytes(coder.properties[1:5], "little")
    options = {"lc": first % 9, "lp": first // 9 % 5, "pb": first // 45, "dict_size": max(size, 4096)}
    return _raw(data, {"id": lzma.FILTER_LZMA1, **options}, coder.size)


def _lzma2(data: bytes, coder: Coder) -> bytes:
    bits = coder.properties[0] if coder.properties else _MAX_LZMA2 + 1
    if bits > _MAX_LZMA2:
        raise Invalid("the archive is damaged", code="archive_damaged")
    size = 0xFFFFFFFF if bits == _MAX_LZMA2 else (2 | (bits & 1)) << (bits // 2 + 11)
    return _raw(data, {"id": lzma.FILTER_LZMA2, "dict_size": size}, coder.size)


def _raw(data: bytes, step: dict[str, int], size: int) -> bytes:
    # The dictionary is bounded by the data: a small archive may claim a dictionary of 4 GiB.
    step["dict_size"] = min(step["dict_size"], max(4096, size))
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[step]).decompress(data, size)


def _x86(data: bytes) -> bytes:
    """Undoes the branch filter of programs. The library only does so with LZMA, so the data is packed again."""
    packing = {"id": lzma.FILTER_LZMA2, "preset": 0}
    packed = lzma.compress(data, lzma.FORMAT_RAW, filters=[packing])
    return lzma.decompress(packed, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_X86}, packing])


def _decrypt(data: bytes, properties: bytes, password: str) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cycles, salt, start = _aes_properties(properties)
    cipher = Cipher(algorithms.AES256(_key(password, salt, cycles)), modes.CBC(start)).decryptor()
    return cipher.update(data[: len(data) // _BLOCK * _BLOCK])


def _aes_properties(properties: bytes) -> tuple[int, bytes, bytes]:
    """Rounds, salt and initial vector."""
    if not properties:
        raise Invalid("the archive is damaged", code="archive_damaged")
    first = properties[0]
    second = properties[1] if first & 0xC0 and len(properties) > 1 else 0
    salt, start = (first >> 7 & 1) + (second >> 4), (first >> 6 & 1) + (second & 0xF)
    remainder = properties[2:]
    return first & 0x3F, remainder[:salt], remainder[salt : salt + start].ljust(_BLOCK, b"\0")[:_BLOCK]


def _key(password: str, salt: bytes, cycles: int) -> bytes:
    secret = salt + password.encode("utf-16-le")
    if cycles == _PLAIN_KEY:
        return secret.ljust(_KEY, b"\0")[:_KEY]
    if cycles > MAX_CYCLES:
        raise Invalid(f"the archive's key needs 2 to the power of {cycles} rounds", code="archive_too_large")
    digest = hashlib.sha256()
    for start in range(0, 1 << cycles, 1 << 12):
        rounds = range(start, min(start + (1 << 12), 1 << cycles))
        digest.update(b"".join(secret + number.to_bytes(8, "little") for number in rounds))
    return digest.digest()
