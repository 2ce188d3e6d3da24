import gzip
import lzma
import struct
from collections.abc import Callable

import pytest

from worker.images.linux.kernel import unpacked

INNER = b"\x7fELF" + b"kernel" * 1000


def kernel(payload: bytes, *, sectors: int = 3) -> bytes:
    """A compressed kernel: real-mode part, a program, then the payload."""
    start = (sectors + 1) * 512
    head = bytearray(start)
    head[0x1F1], head[0x202:0x206] = sectors, b"HdrS"
    struct.pack_into("<II", head, 0x248, 16, len(payload) + 4)
    return bytes(head) + b"p" * 16 + payload + struct.pack("<I", len(INNER)) + b"tail"


class TestUnpacked:
    @pytest.mark.parametrize("pack", [lzma.compress, gzip.compress])
    def test_the_kernel_inside_is_found(self, pack: Callable[[bytes], bytes]) -> None:
        assert unpacked(kernel(pack(INNER))) == INNER

    def test_a_packing_that_python_cannot_undo_stays(self) -> None:
        packed = kernel(b"\x02!L\x18" + b"x" * 100)
        assert unpacked(packed) == packed

    def test_files_that_are_not_kernels_are_rejected(self) -> None:
        with pytest.raises(ValueError, match="not a kernel"):
            unpacked(b"x" * 2048)
