import re

import pytest

from backend.domain.errors import GuestRefused
from backend.domain.ports.desktop import ExecResult
from tests.architecture.tree import ROOT
from tests.fakes.desktop import FakeDesktop
from worker.images.windows.accept.routes import ELSEWHERE, ROUTES, WINDOWS, ask_all

DOCUMENTED = set(re.findall(r"`((?:GET|POST) /[\w{}/]+)", (ROOT / "docs" / "internals" / "guest-api.md").read_text()))


class TestRoutes:
    def test_every_documented_route_is_asked_here_or_elsewhere(self) -> None:
        assert len(DOCUMENTED) > 40
        assert DOCUMENTED - {route.name for route in ROUTES} - set(ELSEWHERE) == set()

    def test_every_tested_route_is_documented(self) -> None:
        asked = {route.name for route in ROUTES if not route.windows}
        assert asked - DOCUMENTED == set()

    def test_routes_are_unique(self) -> None:
        names = [route.name for route in ROUTES]
        assert sorted(set(names)) == sorted(names)


class TestAskAll:
    def test_failing_routes_are_reported_and_the_rest_tested(self) -> None:
        desktop = FakeDesktop()
        desktop.commands["python"] = lambda _: ExecResult(returncode=0, output="41")
        lines = {line.name: line for line in ask_all(desktop, WINDOWS)}
        assert set(lines) == {route.name for route in ROUTES}
        assert lines["GET /probe"].ok
        assert "Python returned a wrong result" in lines["POST /run_python"].fault

    def test_a_desktop_that_is_gone_answers_nothing(self) -> None:
        desktop = FakeDesktop()
        desktop.die("killed")
        assert [line.name for line in ask_all(desktop, WINDOWS) if line.ok] == []

    def test_a_question_that_is_answered_by_no_is_answered(self) -> None:
        desktop = FakeDesktop()

        def no(_: object) -> object:
            raise GuestRefused("there is no such file", kind="not_found")

        desktop.routes["POST", "/file_exists"] = no
        lines = {line.name: line for line in ask_all(desktop, WINDOWS)}
        assert lines["POST /file_exists"].ok

    @pytest.mark.parametrize("windows", [True, False])
    def test_routes_of_windows_are_asked_there_only(self, *, windows: bool) -> None:
        names = {line.name for line in ask_all(FakeDesktop(), WINDOWS, windows=windows)}
        assert ("POST /execute_windows" in names) is windows
