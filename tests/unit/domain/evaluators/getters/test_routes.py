from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import NO_ROUTE
from backend.domain.evaluators.getters._routes import agreed, answer, ask_route, text_at
from backend.domain.model.score import Blob
from tests.error_codes import raises_code, raises_fields
from tests.factories.desktops import linux, refuses, says_no
from tests.fakes.desktop import FakeDesktop

SERVER = Path(__file__).parents[5] / "vm_images" / "guest_server" / "app.py"


def of(reply: object) -> Blob:
    return ask_route(linux(routes={("POST", "/check"): reply}), "/check", {"a": 1})


class TestAnswers:
    def test_success_is_true_and_no_is_false(self) -> None:
        assert agreed(of({"status": "success"})) is True
        assert agreed(of(says_no)) is False
        assert agreed(of(refuses("no", "no"))) is False

    @pytest.mark.parametrize("kind", ["bad_request", "failed", "timeout", "not_available", "forbidden"])
    def test_other_errors_give_no_verdict(self, kind: str) -> None:
        with raises_code(EvaluatorFailed, "evidence_unreadable", mentions="/check"):
            agreed(of(refuses("because", kind)))

    def test_missing_route_gives_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "evidence_unreadable"):
            agreed(ask_route(linux(), "/is_details_view"))

    def test_message_equals_the_guest_servers(self) -> None:
        assert NO_ROUTE in SERVER.read_text()
        with raises_fields(GuestRefused, kind="not_found", mentions=NO_ROUTE):
            FakeDesktop().call("POST", "/nothing")

    @pytest.mark.parametrize("data", [b"[]", b"{", b"{}", None])
    def test_damaged_evidence_gives_no_verdict(self, data: bytes | None) -> None:
        with pytest.raises(EvaluatorFailed):
            answer(Blob(name="/check", data=data))


class TestTextAt:
    def test_text_of_the_field_is_returned(self) -> None:
        assert text_at(of({"path": "/a"}), "path") == "/a"

    @pytest.mark.parametrize("reply", [{"path": 1}, {}, [], says_no])
    def test_answer_without_the_text_gives_no_verdict(self, reply: object) -> None:
        with raises_code(EvaluatorFailed, "evidence_unreadable"):
            text_at(of(reply), "path")
