import tracemalloc

import pytest

from worker.images.windows.reports import Reports, StageReport


class TestReports:
    def test_cuts_lines_out_of_whatever_comes(self) -> None:
        reports = Reports()
        assert reports.feed(b'SeaBIOS\r\ndeskarena {"kind":"beg') == []
        assert reports.feed(b'in","stage":"drivers"}\nmore') == [StageReport("begin", "drivers", "")]

    def test_reports_why_a_stage_failed(self) -> None:
        line = b'deskarena {"kind":"failed","stage":"program-vlc","error":"ended with 5","at":"At C:\\\\x.ps1:1"}\n'
        assert Reports().feed(line)[0].line() == "  Windows: program-vlc failed: ended with 5 At C:\\x.ps1:1"

    @pytest.mark.parametrize(
        "line",
        [b"deskarena {", b"deskarena []", b"deskarena " + b"[" * 9000, b'{"kind":"x"}', b"\xff\xfe", b"deskarena "],
    )
    def test_other_files_are_left_out(self, line: bytes) -> None:
        assert Reports().feed(line + b"\n") == []

    def test_a_guest_that_never_ends_a_line_fills_no_memory(self) -> None:
        reports, part = Reports(), b"x" * 65536
        tracemalloc.start()
        try:
            for _ in range(100):
                reports.feed(part)
            assert tracemalloc.get_traced_memory()[0] < 2 * len(part)
        finally:
            tracemalloc.stop()

    def test_removes_terminal_escape_sequences(self) -> None:
        (report,) = Reports().feed(b'deskarena {"kind":"done","stage":"\\u001b[2J\\nx"}\n')
        assert report.line() == "  Windows: ?[2J x done"
