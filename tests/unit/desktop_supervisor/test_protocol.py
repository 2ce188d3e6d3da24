import pytest

from worker.desktop_supervisor.protocol import MAX_MESSAGE, MessageDecoder, ProtocolError, encode


class TestDecoder:
    def test_takes_messages_however_they_are_cut(self) -> None:
        stream = encode({"a": 1}) + encode({"b": "ü"})
        for size in (1, 3, 7, len(stream)):
            decoder = MessageDecoder()
            found = [message for at in range(0, len(stream), size) for message in decoder.feed(stream[at : at + size])]
            assert found == [{"a": 1}, {"b": "ü"}]

    def test_refuses_a_length_that_no_message_has(self) -> None:
        with pytest.raises(ProtocolError, match="too long"):
            MessageDecoder().feed(b"\xff\xff\xff\xff")

    def test_refuses_what_is_no_object(self) -> None:
        with pytest.raises(ProtocolError, match="object"):
            MessageDecoder().feed(b"\x00\x00\x00\x02[]")

    def test_refuses_what_is_no_json(self) -> None:
        with pytest.raises(ValueError, match="Expecting"):
            MessageDecoder().feed(b"\x00\x00\x00\x01x")


class TestEncode:
    def test_refuses_to_send_too_much(self) -> None:
        with pytest.raises(ProtocolError, match="too long"):
            encode({"a": "x" * MAX_MESSAGE})
