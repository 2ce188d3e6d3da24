import pytest

from guest_server.protocol.machine import WindowInfo
from guest_server.protocol.window_matching import find_window

WINDOWS = [
    WindowInfo(1, "notes.txt - Mousepad", "mousepad.Mousepad", 0, 0, 10, 10),
    WindowInfo(2, "Files", "pcmanfm.Pcmanfm", 0, 0, 10, 10),
    WindowInfo(3, "other notes.txt - Mousepad", "mousepad.Mousepad", 0, 0, 10, 10),
]


class TestFindWindow:
    @pytest.mark.parametrize(
        ("name", "options", "number"),
        [
            ("NOTES", {}, 3),
            ("notes.txt - Mousepad", {"strict": True}, 1),
            ("notes", {"strict": True}, None),
            ("files", {}, 2),
            ("pcman", {"by_class": True}, 2),
            ("Pcmanfm", {"by_class": True, "strict": True}, 2),
            ("pcmanfm.Pcmanfm", {"by_class": True, "strict": True}, 2),
            ("pcman", {"by_class": True, "strict": True}, None),
            ("nothing", {}, None),
        ],
    )
    def test_window_is_found_by_title_or_class(self, name: str, options: dict[str, bool], number: int | None) -> None:
        result = find_window(WINDOWS, name, **options)
        assert (result.id if result else None) == number
