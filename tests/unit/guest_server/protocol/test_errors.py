import errno

import pytest

from guest_server.protocol.errors import STATUS, GuestError, from_os_error


class TestBody:
    def test_says_type_message_and_details(self) -> None:
        error = GuestError("timeout", "too slow", output="so far")
        assert error.status == 504
        assert error.body() == {"status": "error", "error": "timeout", "message": "too slow", "output": "so far"}


class TestFromOsError:
    @pytest.mark.parametrize(
        ("number", "kind"),
        [
            (errno.ENOENT, "not_found"),
            (errno.ENOTDIR, "not_found"),
            (errno.EACCES, "forbidden"),
            (errno.EISDIR, "bad_request"),
            (errno.EEXIST, "conflict"),
            (errno.ENOSPC, "no_space"),
            (errno.EDQUOT, "no_space"),
            (errno.ENAMETOOLONG, "bad_request"),
            (errno.ELOOP, "bad_request"),
            (errno.ENXIO, "bad_request"),
            (errno.EINVAL, "bad_request"),
            (errno.ENOEXEC, "bad_request"),
            (errno.ETXTBSY, "bad_request"),
            (errno.EMFILE, "failed"),
            (errno.ENOMEM, "failed"),
            (errno.EIO, "failed"),
        ],
    )
    def test_each_refusal_of_the_system_has_its_type(self, number: int, kind: str) -> None:
        error = from_os_error(OSError(number, "because", "/some/file"))
        assert error.kind == kind
        assert kind in STATUS
        assert "/some/file" in error.message
