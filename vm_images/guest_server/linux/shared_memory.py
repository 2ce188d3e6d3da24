"""Screen pictures through memory shared with the X server (extension MIT-SHM 1.0).

A picture of 1920x1080 has 8 MB; sending it over the connection would be slow. python-xlib does not support the
extension, so its three requests are implemented here from the specification.
"""

import ctypes
from typing import Any

from Xlib.protocol import rq

from guest_server.linux.x11 import XClient
from guest_server.protocol.errors import GuestError

_NAME = "MIT-SHM"
_IPC_PRIVATE, _IPC_RMID, _IPC_CREAT, _SHM_RDONLY = 0, 0, 0o1000, 0o10000
_OWNER_ONLY = 0o600
_ALL_PLANES, _Z_PIXMAP = 0xFFFFFFFF, 2
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.shmat.restype = ctypes.c_void_p
_LIBC.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
_LIBC.shmdt.argtypes = [ctypes.c_void_p]
_LIBC.shmget.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_int]


class _Attach(rq.Request):  # type: ignore[misc]
    _request = rq.Struct(
        rq.Card8("opcode"), rq.Opcode(1), rq.RequestLength(),
        rq.Card32("segment"), rq.Card32("id"), rq.Bool("read_only"), rq.Pad(3),
    )  # fmt: skip


class _Detach(rq.Request):  # type: ignore[misc]
    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(2), rq.RequestLength(), rq.Card32("segment"))


class _GetImage(rq.ReplyRequest):  # type: ignore[misc]
    _request = rq.Struct(
        rq.Card8("opcode"), rq.Opcode(4), rq.RequestLength(), rq.Drawable("drawable"),
        rq.Int16("x"), rq.Int16("y"), rq.Card16("width"), rq.Card16("height"),
        rq.Card32("plane_mask"), rq.Card8("format"), rq.Pad(3), rq.Card32("segment"), rq.Card32("offset"),
    )  # fmt: skip
    _reply = rq.Struct(
        rq.ReplyCode(), rq.Card8("depth"), rq.Card16("sequence_number"), rq.ReplyLength(),
        rq.Card32("visual"), rq.Card32("size"), rq.Pad(16),
    )  # fmt: skip


class SharedPicture:
    """Shared memory into which the X server writes pictures. Use it with its client locked."""

    def __init__(self, client: XClient, size: int) -> None:
        """Shares `size` bytes.

        Raises:
            GuestError: The system or the X server refuses.
        """
        extension = client.display.query_extension(_NAME)
        if not extension.present:
            raise GuestError("not_available", f"the X server has no {_NAME} extension")
        self._client, self._opcode, self.size = client, extension.major_opcode, size
        number = _LIBC.shmget(_IPC_PRIVATE, size, _IPC_CREAT | _OWNER_ONLY)
        address = _LIBC.shmat(number, None, _SHM_RDONLY) if number >= 0 else None
        if address in (None, ctypes.c_void_p(-1).value):
            raise GuestError("failed", f"the system gives no shared memory (errno {ctypes.get_errno()})")
        self._address = address
        self._memory = memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")
        self._segment = client.display.display.allocate_resource_id()
        _Attach(display=client.display.display, opcode=self._opcode, segment=self._segment, id=number, read_only=False)
        client.sync()
        # It is freed with its last user, so nothing is left behind.
        _LIBC.shmctl(number, _IPC_RMID, None)

    def take(self, drawable: Any, width: int, height: int) -> memoryview:
        """The drawable's current pixels, from its upper left corner; overwritten by the next call.

        Raises:
            BadMatch: It is smaller than that.
        """
        reply = _GetImage(
            display=self._client.display.display, opcode=self._opcode, drawable=drawable, x=0, y=0, width=width,
            height=height, plane_mask=_ALL_PLANES, format=_Z_PIXMAP, segment=self._segment, offset=0,
        )  # fmt: skip
        return self._memory[: int(reply.size)]

    def close(self) -> None:
        """Frees the memory; earlier pictures must not be read any more."""
        _Detach(display=self._client.display.display, opcode=self._opcode, segment=self._segment)
        self._client.sync()
        self._memory.release()
        _LIBC.shmdt(self._address)
