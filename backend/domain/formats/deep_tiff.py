"""Reads TIFF pictures whose samples Pillow has no mode for: half and double precision, colours of 32 bits.

Also floating point in general, because Pillow swaps the bytes of compressed files of the other byte order twice, and
channels that are stored apart (planar), of which Pillow takes one for the other or reads half of each sample.

Source: TIFF 6.0, and Adobe's TIFF technical note 3 for the predictor of floating point.
"""

import io
import struct
from typing import TYPE_CHECKING, Any

from backend.domain.formats.sample_range import STRIP, to_eight_bits, white_of

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

_BYTE_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, _FILL_ORDER = 256, 257, 258, 259, 262, 266
_OFFSETS, _ORIENTATION, _SAMPLES, _ROWS, _COUNTS, _PLANES, _PREDICTOR = 273, 274, 277, 278, 279, 284, 317
_TILE_WIDTH, _TILE_HEIGHT, _TILE_OFFSETS, _TILE_COUNTS, _FORMAT = 322, 323, 324, 325, 339
_COPIED_TAGS = (_COMPRESSION, _FILL_ORDER, _ROWS, _TILE_HEIGHT)
_PARTS = {_OFFSETS, _COUNTS, _TILE_OFFSETS, _TILE_COUNTS}
_JPEG = {6, 7}
_UNSIGNED, _FLOAT = 1, 3
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_LONG = 4
_MOST_BYTES = 160 * 2**20


def read_deep_tiff(data: bytes, most_pixels: int) -> "Image | None":
    """The picture in 8 bits a channel, or None if it is not such a file or larger.

    Pillow decompresses it as a grey picture of its bytes; what they mean is read here.

    Raises:
        Exception: Pillow's and numpy's, if the file is damaged.
    """
    import numpy as np
    from PIL import Image as Pictures
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    order = _BYTE_ORDERS.get(data[:4])
    if order is None:
        return None
    file = io.BytesIO(data)
    tags = ImageFileDirectory_v2(data[:8])
    file.seek(tags.next)
    tags.load(file)
    depth, kind, channels = _samples(tags)
    width, height = int(tags[_WIDTH]), int(tags[_HEIGHT])
    if not depth or width * height > most_pixels or width * height * channels * depth > _MOST_BYTES:
        return None
    planes = channels if is_planar(tags) else 1
    dtype = np.dtype(f"{order}{kind}{depth}")
    values = np.concatenate([_plane(data, tags, dtype, channels // planes, part) for part in range(planes)], axis=2)
    values = values[..., : max(_MODES)]
    colours = values[..., : 1 if channels < 3 else 3]  # noqa: PLR2004 - red, green, blue.
    most = white_of(colours) if kind == "f" else float(2 ** (8 * depth) - 1)
    shown = np.empty(values.shape, dtype=np.uint8)
    for row in range(0, height, STRIP):  # So that large pictures do not fill the memory.
        shown[row : row + STRIP] = np.rint(to_eight_bits(values[row : row + STRIP], most))
    if tags.get(_PHOTOMETRIC) == 0:
        shown[..., 0] = 255 - shown[..., 0]
    picture = Pictures.fromarray(shown[..., 0] if values.shape[2] == 1 else shown, _MODES[values.shape[2]])
    exif = Pictures.Exif()
    exif[_ORIENTATION] = tags.get(_ORIENTATION, 1)
    picture.info["exif"] = exif.tobytes()
    picture.format = "TIFF"
    return picture


def _samples(tags: Any) -> tuple[int, str, int]:
    """Bytes, kind (`f`, `u`) and number of the samples; 0 bytes if they are of another form."""
    channels = int(tags.get(_SAMPLES, 1))
    bits, kinds = set(tags.get(_BITS, (1,))), set(tags.get(_FORMAT, (_UNSIGNED,)))
    kind = {_UNSIGNED: "u", _FLOAT: "f"}.get(min(kinds), "")
    same = len(bits) == len(kinds) == 1 and bits <= {16, 32, 64, 8 if kind == "u" else 16} and kind
    known = same and tags.get(_PHOTOMETRIC, 1) in {0, 1, 2} and tags.get(_COMPRESSION) not in _JPEG
    return (min(bits) // 8 if known and 0 < channels <= 8 else 0), kind, channels  # noqa: PLR2004


def is_planar(tags: Any) -> bool:
    """Whether each channel is stored apart."""
    return bool(tags.get(_PLANES, 1) == 2)  # noqa: PLR2004 - the format's value.


def _plane(data: bytes, tags: Any, dtype: "np.dtype[Any]", channels: int, part: int) -> "np.ndarray":
    """Samples of channels that are stored together, as rows, columns, channels.

    Args:
        data: the file.
        tags: its tags.
        dtype: of the samples.
        channels: how many are stored together.
        part: which of those that are stored apart.
    """
    import numpy as np
    from PIL import Image as Pictures

    width, height, size = int(tags[_WIDTH]), int(tags[_HEIGHT]), channels * dtype.itemsize
    across = width if _OFFSETS in tags else int(tags[_TILE_WIDTH])  # Prediction ends with each tile.
    tiles = -(-width // across)
    with Pictures.open(io.BytesIO(_as_bytes(data, tags, tiles * across * size, size, part))) as stored:
        rows = np.asarray(stored).reshape(height * tiles, across * size)
    values = _undo_prediction(rows, tags.get(_PREDICTOR, 1), dtype, channels)
    return values.reshape(height, tiles * across, channels)[:, :width]


def _as_bytes(data: bytes, tags: Any, width: int, size: int, part: int) -> bytes:
    """The file as a grey picture of one byte a pixel: `width` in a row, `size` of them in place of each pixel."""
    order = _BYTE_ORDERS[data[:4]]
    longs = {name: tags[name] for name in _COPIED_TAGS if name in tags}
    longs |= {_WIDTH: width, _HEIGHT: tags[_HEIGHT], _BITS: 8, _PHOTOMETRIC: 1, _SAMPLES: 1}
    longs |= {_TILE_WIDTH: tags[_TILE_WIDTH] * size} if _TILE_WIDTH in tags else {}
    for name in _PARTS & tags.keys():
        values = tags[name] if isinstance(tags[name], tuple) else (tags[name],)
        number = len(values) // (tags.get(_SAMPLES, 1) if is_planar(tags) else 1)
        longs[name] = values[part * number : (part + 1) * number]
    start = len(data) + len(data) % 2
    offset = start + 2 + 12 * len(longs) + 4
    entries, arrays = b"", b""
    for name, value in sorted(longs.items()):
        numbers = value if isinstance(value, tuple) else (value,)
        packed = struct.pack(f"{order}{len(numbers)}I", *numbers)
        if len(numbers) > 1:
            packed, arrays = struct.pack(f"{order}I", offset + len(arrays)), arrays + packed
        entries += struct.pack(f"{order}HHI", name, _LONG, len(numbers)) + packed
    table = struct.pack(f"{order}H", len(longs)) + entries + bytes(4)
    return data[:4] + struct.pack(f"{order}I", start) + data[8:].ljust(start - 8, b"\0") + table + arrays


def _undo_prediction(rows: "np.ndarray", predictor: int, dtype: "np.dtype[Any]", channels: int) -> "np.ndarray":
    """The values of rows of bytes, which a predictor may have stored as differences along the row."""
    import numpy as np

    if predictor == 1:
        return np.ascontiguousarray(rows).view(dtype)
    if predictor == 2:  # noqa: PLR2004 - differences of whole values.
        unsigned = dtype.newbyteorder("=").str.replace("f", "u")
        values = np.ascontiguousarray(rows).view(dtype.str.replace("f", "u")).astype(unsigned)
        values = values.reshape(len(rows), -1, channels).cumsum(axis=1, dtype=unsigned)
        return values.reshape(len(rows), -1).view(dtype.newbyteorder("="))
    planes = rows.reshape(len(rows), -1, channels).cumsum(axis=1, dtype=np.uint8)
    planes = planes.reshape(len(rows), dtype.itemsize, -1).transpose(0, 2, 1)  # Most significant bytes come first.
    return np.ascontiguousarray(planes).reshape(len(rows), -1).view(dtype.newbyteorder(">"))
