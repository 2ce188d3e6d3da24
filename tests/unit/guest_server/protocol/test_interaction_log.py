"""Presses become bounded entries: clicks, texts in one go, keys."""

from dataclasses import replace

from guest_server.protocol.interaction_log import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_ENTRIES,
    MOST_PICTURES,
    MOST_TOLD,
    InteractionLog,
    InteractionTarget,
    key_words,
)

EDITOR = InteractionTarget(control="Body", role="text", rect=(1, 2, 30, 40), window="notes.txt")
BUTTON = InteractionTarget(control="Save", role="push button", rect=(5, 5, 50, 20), window="notes.txt")


def typed(log: InteractionLog, text: str) -> None:
    for char in text:
        log.character(char)


class TestLog:
    def test_a_text_typed_in_one_go_is_one_entry_with_the_focused_control(self) -> None:
        log = InteractionLog(lambda: EDITOR)
        typed(log, "Hello €")
        [entry] = log.entries(0)
        assert entry == {
            "number": 1, "kind": "type", "button": "", "x": None, "y": None, "text": "Hello €", "control": "Body",
            "role": "text", "rect": (1, 2, 30, 40), "window": "notes.txt", "picture": "",
        }  # fmt: skip

    def test_a_click_or_a_key_ends_a_text(self) -> None:
        log = InteractionLog(lambda: EDITOR)
        typed(log, "ab")
        log.key("enter")
        typed(log, "cd")
        log.click("left", 7, 8, BUTTON)
        typed(log, "ef")
        told = log.entries(0)
        assert [one["text"] for one in told] == ["ab", "{enter}", "cd", "", "ef"]
        assert [one["number"] for one in told] == [1, 2, 3, 4, 5]
        assert told[3]["control"] == "Save"
        assert (told[3]["button"], told[3]["x"], told[3]["y"]) == ("left", 7, 8)

    def test_the_focus_is_asked_for_once_a_text(self) -> None:
        asked = []
        log = InteractionLog(lambda: asked.append(1) or EDITOR)  # type: ignore[func-returns-value]
        typed(log, "long text")
        assert not asked
        log.entries(0)
        assert len(asked) == 1

    def test_returns_entries_after_a_number(self) -> None:
        log = InteractionLog(lambda: EDITOR)
        log.click("left", 1, 1, BUTTON)
        log.click("right", 2, 2, BUTTON)
        assert [one["number"] for one in log.entries(1)] == [2]
        assert log.entries(2) == []

    def test_oldest_entries_are_dropped_and_responses_are_bounded(self) -> None:
        log = InteractionLog(lambda: EDITOR)
        for place in range(MOST_ENTRIES + 5):
            log.click("left", place, 0, BUTTON)
        told = log.entries(0)
        assert len(told) == MOST_TOLD
        assert told[0]["number"] == 6

    def test_texts_names_and_pictures_are_bounded(self) -> None:
        log = InteractionLog(lambda: InteractionTarget(control="n" * 9000, window="w" * 9000))
        typed(log, "x" * (LONGEST_TEXT + 10))
        assert [len(one["text"]) for one in log.entries(0)] == [LONGEST_TEXT, 10]
        assert {len(one["control"]) for one in log.entries(0)} == {LONGEST_NAME}
        for place in range(MOST_PICTURES + 3):
            log.click("left", place, 0, replace(BUTTON, picture="abc"))
        assert sum(bool(one["picture"]) for one in log.entries(0)) == MOST_PICTURES


class TestKeyWords:
    def test_modifiers_stand_in_a_fixed_order(self) -> None:
        assert key_words("s", frozenset({"shift", "ctrl"})) == "ctrl+shift+s"
        assert key_words("enter", frozenset()) == "enter"
