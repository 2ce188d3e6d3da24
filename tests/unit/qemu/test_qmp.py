import json
import os
import tempfile
import time
from collections.abc import Iterator

import pytest

from tests.error_codes import raises_code
from tests.fakes.qmp import FakeQmp
from tests.waiting import until
from worker.qemu.qmp import Qmp, QmpError, QmpLost


@pytest.fixture
def fake() -> Iterator[FakeQmp]:
    made = FakeQmp()
    yield made
    made.close()


class TestGreeting:
    def test_is_answered_by_switching_to_commands(self, fake: FakeQmp) -> None:
        Qmp(fake.theirs)
        assert [each["execute"] for each in fake.asked] == ["qmp_capabilities"]

    def test_foreign_greeting_is_refused(self) -> None:
        fake = FakeQmp(greeting=b'{"hello": 1}\n')
        with raises_code(QmpLost, "qmp_invalid"):
            Qmp(fake.theirs)
        fake.close()

    def test_greeting_that_is_not_json_is_refused(self) -> None:
        fake = FakeQmp(greeting=b"220 mail\r\n")
        with raises_code(QmpLost, "qmp_invalid", mentions="JSON"):
            Qmp(fake.theirs)
        fake.close()

    def test_that_does_not_come_is_not_waited_for(self) -> None:
        fake, begun = FakeQmp(greeting=b""), time.monotonic()
        with raises_code(QmpLost, "qmp_timeout"):
            Qmp(fake.theirs, seconds=0.05)
        assert time.monotonic() - begun < 30
        fake.close()


class TestAsk:
    def test_returns_what_the_command_returns(self, fake: FakeQmp) -> None:
        fake.on("query-status", {"return": {"running": True}})
        assert Qmp(fake.theirs).ask("query-status") == {"running": True}

    def test_carries_arguments_and_descriptors(self, fake: FakeQmp) -> None:
        with tempfile.TemporaryFile() as file:
            Qmp(fake.theirs).ask("getfd", {"fdname": "state"}, fds=[file.fileno()])
            assert fake.asked[-1]["arguments"] == {"fdname": "state"}
            assert os.fstat(fake.descriptors[0]).st_ino == os.fstat(file.fileno()).st_ino
            os.close(fake.descriptors[0])

    def test_keeps_events_that_come_between(self, fake: FakeQmp) -> None:
        fake.on("stop", {"event": "STOP", "data": {}}, {"return": {}})
        client = Qmp(fake.theirs)
        client.ask("stop")
        assert [event.name for event in client.hear()] == ["STOP"]
        assert client.hear() == []

    def test_a_late_answer_to_an_earlier_command_is_not_taken_for_this_one(self, fake: FakeQmp) -> None:
        fake.on("second", {"return": "right"})
        fake.answers["second"] = lambda asked: [{"return": "late", "id": 1}, {"return": "right", "id": asked["id"]}]
        assert Qmp(fake.theirs).ask("second") == "right"

    def test_a_refusal_says_why(self, fake: FakeQmp) -> None:
        fake.on("migrate", {"error": {"class": "GenericError", "desc": "State blocked by a device"}})
        with raises_code(QmpError, "qmp_refused", mentions="migrate: State blocked"):
            Qmp(fake.theirs).ask("migrate")

    def test_missing_reply_times_out_despite_events(self, fake: FakeQmp) -> None:
        fake.answers["query-status"] = lambda _: [{"event": "RESET", "data": {}}] * 50
        client, begun = Qmp(fake.theirs), time.monotonic()
        with raises_code(QmpLost, "qmp_timeout"):
            client.ask("query-status", seconds=0.1)
        assert time.monotonic() - begun < 30

    def test_the_end_of_qemu_is_noticed(self, fake: FakeQmp) -> None:
        client = Qmp(fake.theirs)
        fake.close()
        with pytest.raises(QmpLost):
            client.ask("query-status")

    def test_an_endless_line_is_not_read(self, fake: FakeQmp) -> None:
        client = Qmp(fake.theirs)
        fake.answers["x"] = lambda asked: [{"return": "a" * 5 * 2**20, "id": asked["id"]}]
        with raises_code(QmpLost, "qmp_invalid", mentions="4194304 bytes"):
            client.ask("x")


class TestWait:
    def test_returns_the_event_with_its_data(self, fake: FakeQmp) -> None:
        client = Qmp(fake.theirs)
        fake.tell("RESET", guest=True)
        fake.tell("MIGRATION", status="completed")
        assert client.wait({"MIGRATION"}, 5).data == {"status": "completed"}

    def test_ends_at_the_deadline(self, fake: FakeQmp) -> None:
        with raises_code(QmpLost, "qmp_timeout"):
            Qmp(fake.theirs).wait({"MIGRATION"}, 0.05)


class TestHear:
    def test_last_words_come_before_the_end(self, fake: FakeQmp) -> None:
        client = Qmp(fake.theirs)
        fake.tell("SHUTDOWN", guest=True)
        fake.hang_up()
        assert [event.name for event in client.hear()] == ["SHUTDOWN"]
        with pytest.raises(QmpLost):
            client.hear()

    def test_a_flood_does_not_hold_it_up(self, fake: FakeQmp) -> None:
        client = Qmp(fake.theirs)
        flood = json.dumps({"event": "RTC_CHANGE"}).encode() + b"\n"
        fake.say(flood * 1000 + flood.replace(b"RTC_CHANGE", b"SHUTDOWN"))
        first = client.hear()
        assert 0 < len(first) <= 256
        until(lambda: any(event.name == "SHUTDOWN" for event in client.hear()))
