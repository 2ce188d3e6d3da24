"""What a supervisor knows of its machines, without a QEMU."""

from worker.qemu.slot import dirty_bytes


class TestDirtyBytes:
    def test_what_lies_in_files_counts_as_free_not_as_the_machine_s(self) -> None:
        maps = "0-1 ---p 0 00:00 0 [rollup]\nPrivate_Clean: 900 kB\nPrivate_Dirty: 12 kB\nPrivate_Hugetlb: 0 kB\n"
        assert dirty_bytes(maps) == 12 * 1024
