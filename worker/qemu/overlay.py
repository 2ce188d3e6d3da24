"""Qcow2 images: the empty overlay for a machine's writes (QEMU's command line names its base), and small disks.

Source: QEMU's docs/interop/qcow2. Starting QEMU's own program takes longer than a clone may take in total.
"""

import struct

_CLUSTER_BITS = 16
_CLUSTER = 1 << _CLUSTER_BITS
_ENTRY = 8
_VERSION = 3
_REFCOUNT_ORDER = 4  # 16 bits for each cluster's count
_HEADER_BYTES = 104
_FIRST_LEVEL = 3  # the cluster at which the first-level table begins
_COPIED = 1 << 63  # of a table's entry: used once, so it may be written in place


def small_image(content: bytes, size: int) -> bytes:
    """A complete image with data at its beginning, for programs of a few sectors.

    Args:
        content: data from byte 0 on; at most what one second-level table describes (512 MiB).
        size: bytes for the guest, zeros after the content.
    """
    image = bytearray(empty_overlay(size))
    first_level, counts = _FIRST_LEVEL * _CLUSTER, 2 * _CLUSTER
    second_level = len(image)
    data = [content[at : at + _CLUSTER].ljust(_CLUSTER, b"\0") for at in range(0, len(content), _CLUSTER)]
    places = [second_level + (number + 1) * _CLUSTER for number in range(len(data))]
    table = b"".join(struct.pack(">Q", offset | _COPIED) for offset in places)
    image[first_level : first_level + _ENTRY] = struct.pack(">Q", second_level | _COPIED)
    used = second_level // _CLUSTER + 1 + len(data)
    image[counts : counts + 2 * used] = struct.pack(f">{used}H", *([1] * used))
    return bytes(image) + table.ljust(_CLUSTER, b"\0") + b"".join(data)


def empty_overlay(size: int) -> bytes:
    """The complete file.

    Args:
        size: bytes for the guest; the base's virtual size.
    """
    data_per_table = _CLUSTER * (_CLUSTER // _ENTRY)
    tables = -(-size // data_per_table)
    table_clusters = max(1, -(-tables * _ENTRY // _CLUSTER))
    # In this order: header, reference count table, its one block, first-level table.
    used = 3 + table_clusters
    header = struct.pack(
        ">4sIQIIQIIQQIIQQQQII",
        b"QFI\xfb",
        _VERSION,
        0,  # no name of a base
        0,
        _CLUSTER_BITS,
        size,
        0,  # not encrypted
        tables,
        _FIRST_LEVEL * _CLUSTER,
        1 * _CLUSTER,
        1,
        0,  # no snapshots
        0,
        0,  # no features that a reader must know, may know, or may write without
        0,
        0,
        _REFCOUNT_ORDER,
        _HEADER_BYTES,
    )
    counts_table = struct.pack(">Q", 2 * _CLUSTER)
    counts = struct.pack(f">{used}H", *([1] * used))
    parts = (header, counts_table, counts, b"")
    return b"".join(part.ljust(_CLUSTER, b"\0") for part in parts[:3]) + bytes(table_clusters * _CLUSTER)
