import pytest

from worker.base.json_lines import LineDecoder, LineError, encode


class TestLineDecoder:
    def test_decodes_messages_split_at_any_byte(self) -> None:
        data = encode({"a": 1}) + encode({"b": "ä\n"})
        decoder, found = LineDecoder(), []
        for byte in data:
            found += decoder.feed(bytes([byte]))
        assert found == [{"a": 1}, {"b": "ä\n"}]
        assert LineDecoder().feed(data) == found

    def test_empty_lines_are_ignored(self) -> None:
        assert LineDecoder().feed(b"\r\n\n{}\r\n") == [{}]

    @pytest.mark.parametrize("line", [b"x\n", b"[]\n", b"1\n", b"\xff\n", b"[" * 100_000 + b"\n"])
    def test_lines_other_than_objects_are_rejected(self, line: bytes) -> None:
        with pytest.raises(LineError):
            LineDecoder().feed(line)

    def test_unterminated_line_is_refused_at_the_limit(self) -> None:
        decoder = LineDecoder(most=10)
        decoder.feed(b"x" * 10)
        with pytest.raises(LineError):
            decoder.feed(b"x")

    def test_terminated_line_has_the_same_limit(self) -> None:
        assert LineDecoder(most=10).feed(b'{"a": 123}\n') == [{"a": 123}]
        with pytest.raises(LineError):
            LineDecoder(most=10).feed(b'{"a": 1234}\n')


class TestEncode:
    def test_refuses_messages_above_the_receivers_limit(self) -> None:
        assert LineDecoder(most=11).feed(encode({"a": 123}, most=11)) == [{"a": 123}]
        with pytest.raises(LineError):
            encode({"a": 123}, most=10)
