import struct

import pytest

from worker.qemu.overlay import empty_overlay

CLUSTER = 65536


class TestEmptyOverlay:
    @pytest.mark.parametrize("size", [1, 2**26, 2**35, 2**40, 2**45])
    def test_says_its_size_and_where_its_tables_lie(self, size: int) -> None:
        data = empty_overlay(size)
        magic, version, base, _, bits, virtual = struct.unpack_from(">4sIQIIQ", data)
        assert (magic, version, base, bits, virtual) == (b"QFI\xfb", 3, 0, 16, size)
        (tables,) = struct.unpack_from(">I", data, 36)
        assert tables == -(-size // (512 * 2**20)) or tables == 1

    def test_every_cluster_is_counted_once_and_no_other(self) -> None:
        data = empty_overlay(2**35)
        counts = struct.unpack_from(f">{CLUSTER // 2}H", data, 2 * CLUSTER)
        used = len(data) // CLUSTER
        assert counts == (1,) * used + (0,) * (CLUSTER // 2 - used)
