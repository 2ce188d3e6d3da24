import json
from typing import Any

from backend.domain.omnibench.by_model import TextModel, retold
from backend.domain.omnibench.task_file import GraphTask, read_task
from tests.factories.omnibench import LIST, small_pool, task_json
from tests.fakes.models import FakeModels

POOL = small_pool()
TEXT = f"Please write 'milk' into '{LIST}', then pack '{LIST}' into an archive. Do draw as well, '/home/user/plan.png'."
ASKED = {"asked": ["A", "B", "C"], "before": [["C", "B"]]}
"""Letters go by the words: A draws, B packs, C writes."""


def task() -> GraphTask:
    return read_task(
        task_json(["write", "pack", "draw"], {"write": ["pack"]}, task_instruction_orders=["x"]), "1", POOL
    )


def told(*answers: Any) -> tuple[GraphTask | None, FakeModels]:
    models = FakeModels(*(one if isinstance(one, str) else json.dumps(one) for one in answers))
    return retold(task(), POOL, TextModel(models.client("any"), "m"), tries=2), models


class TestRetold:
    def test_a_text_that_says_what_the_graph_says(self) -> None:
        result, models = told({"instruction": TEXT}, f"Here it is: {json.dumps(ASKED)}")
        assert result is not None
        assert (result.instruction, result.orders, result.graph) == (TEXT, (), task().graph)
        assert len(models.asked) == 2

    def test_the_reader_has_not_seen_the_graph(self) -> None:
        _, models = told({"instruction": TEXT}, ASKED)
        words = "".join(part.text or "" for message in models.asked[1].messages for part in message.parts)
        assert "must be done before" not in words
        assert "pack:" not in words

    def test_inconsistent_text_is_retried_with_the_mistake(self) -> None:
        short = TEXT.replace("milk", "oats")
        result, models = told({"instruction": short}, {**ASKED, "before": []}, {"instruction": TEXT}, ASKED)
        assert result is not None
        again = models.asked[2].messages[1].parts[0].text or ""
        assert "it lacks 'milk'" in again
        assert "it does not say that write must be done before pack" in again

    def test_text_that_stays_inconsistent_is_dropped(self) -> None:
        result, _ = told(
            {"instruction": TEXT}, {**ASKED, "before": [["A", "B"]]}, {"instruction": TEXT}, {"asked": ["A"]}
        )
        assert result is None

    def test_invalid_replies_are_dropped(self) -> None:
        assert told("no", {"instruction": 7})[0] is None
        assert (
            told({"instruction": TEXT}, "no", {"instruction": TEXT}, {"asked": ["A", "B", "C"], "before": [["Z"]]})[0]
            is None
        )

    def test_implied_steps_may_be_left_out(self) -> None:
        chain = read_task(
            task_json(["write", "pack", "draw"], {"write": ["pack", "draw"], "pack": ["draw"]}), "1", POOL
        )
        models = FakeModels(
            json.dumps({"instruction": TEXT}), json.dumps({**ASKED, "before": [["C", "B"], ["B", "A"]]})
        )
        assert retold(chain, POOL, TextModel(models.client("any"), "m")) is not None
