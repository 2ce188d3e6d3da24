from backend.services.benchmarks.views.task_description import evaluator_words, parameter_text, setup_words
from tests.factories.checkpoints import part, task_of_parts


class TestEvaluatorWords:
    def test_parts_with_their_calls(self) -> None:
        task = task_of_parts(part("a"), part("b", "a", weight=2.0, text="b says done"), protocol="windowsworld")
        found = evaluator_words(task.model_dump(mode="json"))
        assert found["protocol"] == "windowsworld"
        first, second = found["parts"]
        assert (first["name"], first["after"], first["when"]) == ("a", "", "after each step")
        assert (second["text"], second["weight"], second["after"]) == ("b says done", 2.0, "a")
        assert second["calls"][0]["func"] == "exact_match"

    def test_a_task_without_parts(self) -> None:
        found = evaluator_words({"evaluator": {"calls": [{"func": "exact_match"}]}})
        assert (found["parts"], found["protocol"], found["calls"][0]["func"]) == ([], "", "exact_match")


class TestParameterText:
    def test_no_value_looks_like_python(self) -> None:
        value = {"command": ["tar", "-xf", "a"], "shell": True, "wait": False, "rules": [{"until": None, "n": 0}]}
        assert parameter_text(value) == "command tar -xf a, shell yes, wait no, rules n 0"

    def test_of_a_step(self) -> None:
        step = {"type": "execute_command", "parameters": {"command": "ls", "shell": True}}
        assert setup_words({"setup": [step]}) == ["execute command: command ls, shell yes"]
