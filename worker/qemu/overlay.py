"""An empty qcow2 image: the overlay into which a machine writes. QEMU's command line names what lies below it.

Source: QEMU's docs/interop/qcow2. Its own program for this takes longer to start than a clone may take altogether.
"""

import struct

_CLUSTER_BITS = 16
_CLUSTER = 1 << _CLUSTER_BITS
_ENTRY = 8
_VERSION = 3
_REFCOUNT_ORDER = 4  # 16 bits for each cluster's count
_HEADER_BYTES = 104


def empty_overlay(size: int) -> bytes:
    """The whole file.

    Args:
        size: bytes that the guest sees; the base's virtual size.
    """
    data_per_table = _CLUSTER * (_CLUSTER // _ENTRY)
    tables = -(-size // data_per_table)
    table_clusters = max(1, -(-tables * _ENTRY // _CLUSTER))
    # In this order: header, table of reference counts, their one block, first-level table.
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
        3 * _CLUSTER,
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
