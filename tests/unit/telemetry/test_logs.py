"""Logs as JSON: one line an event, ids in every thread, and nothing that somebody wrote gets out of its string."""

import io
import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from backend.domain.formats.foreign_text import VisibleLogRecord
from backend.telemetry.logs import (
    MOST_ID,
    MOST_TEXT,
    MOST_TRACE,
    add_log_ids,
    in_this_context,
    is_request_id,
    log_ids,
    use_json,
)

HOSTILE = 'end\n{"level": "CRITICAL"}\r\x1b[2J\u2028\x85\ud800 "quoted" \u202e'


@pytest.fixture
def written() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger as processes have it, and what it writes."""
    stream, logger = io.StringIO(), logging.getLogger("test of logs")
    handler = logging.StreamHandler(stream)
    logger.addHandler(handler)
    logger.propagate = False
    use_json(logger)
    before = logging.getLogRecordFactory()
    logging.setLogRecordFactory(VisibleLogRecord)
    yield logger, stream
    logging.setLogRecordFactory(before)
    logger.removeHandler(handler)


def fail(text: str) -> None:
    raise ValueError(text)


def events(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


class TestJsonFormatter:
    def test_an_event_is_a_line_whatever_it_says(self, written: tuple[logging.Logger, io.StringIO]) -> None:
        logger, stream = written
        with log_ids(run_id=HOSTILE):
            logger.warning("guest said %s", HOSTILE, extra={"status": 200})
            try:
                fail(HOSTILE)
            except ValueError:
                logger.exception("failed")
        said, failed = events(stream)
        assert stream.getvalue().isascii()
        assert stream.getvalue().count("\n") == 2
        assert (said["level"], said["logger"], said["status"]) == ("WARNING", "test of logs", 200)
        assert said["message"].startswith(r"guest said end\x0a{")
        assert "\x1b" not in said["message"] + said["run_id"] + failed["exception"]
        assert failed["exception"].strip().startswith("Traceback")
        assert said["time"].endswith("Z")

    def test_fields_are_truncated(self, written: tuple[logging.Logger, io.StringIO]) -> None:
        logger, stream = written
        with log_ids(run_id="x" * 10_000):
            try:
                fail("y" * 100_000)
            except ValueError:
                logger.exception("\x1b" * 100_000)
        event = events(stream)[0]
        assert (len(event["message"]), len(event["run_id"])) == (MOST_TEXT, MOST_ID)
        assert len(event["exception"]) == MOST_TRACE


class TestIds:
    def test_ids_apply_to_all_threads_of_a_context(self, written: tuple[logging.Logger, io.StringIO]) -> None:
        logger, stream = written
        logger.warning("before")
        with ThreadPoolExecutor(1) as pool:
            with log_ids(run_id="r1"), log_ids(attempt_id="a1"):
                add_log_ids(episode_id="e1")
                pool.submit(in_this_context(logger.warning), "beside").result()
                pool.submit(logger.warning, "another's").result()
            add_log_ids(lost="nowhere")
            logger.warning("after")
        ids = [{name: event[name] for name in event if name.endswith("_id")} for event in events(stream)]
        assert ids == [{}, {"run_id": "r1", "attempt_id": "a1", "episode_id": "e1"}, {}, {}]

    @pytest.mark.parametrize("text", ["", "a b", "x" * 65, "a\n", "é", "<b>"])
    def test_invalid_request_ids_are_rejected(self, text: str) -> None:
        assert not is_request_id(text)
        assert is_request_id("0f8fad5b-d9cb-469f-a165-70867728950e")
