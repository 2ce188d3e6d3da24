from backend.domain.drafts.preconditions import addresses, undeclared_steps, unmade
from backend.domain.model.task import MetricCall, SetupStep
from tests.factories.drafts import make_content


class TestUndeclared:
    def test_steps_that_say_what_is_there(self) -> None:
        assert undeclared_steps(make_content()) == []

    def test_commands_and_recorded_input(self) -> None:
        steps = (SetupStep(type="execute", parameters={"command": "rm x"}), SetupStep(type="perform"))
        assert [line.split(" says")[0] for line in undeclared_steps(make_content(setup=steps))] == [
            "Set-up step 1 (execute)", "Set-up step 2 (perform)",
        ]  # fmt: skip


class TestUnmade:
    def test_a_file_that_set_up_makes_or_the_instruction_names(self) -> None:
        made = MetricCall(func="x", result={"type": "vm_file", "path": "/home/user/Documents/shopping.txt"})
        named = MetricCall(func="x", result={"type": "vm_file", "path": "~/copy.txt"})
        assert unmade(make_content(checks=(made, named), instruction="Copy it to copy.txt.")) == []

    def test_a_name_that_the_agent_has_to_guess(self) -> None:
        check = MetricCall(func="x", result={"type": "vm_file", "path": "/home/user/Documents/out.csv"})
        assert len(unmade(make_content(checks=(check,)))) == 1


class TestAddresses:
    def test_each_once_from_everywhere(self) -> None:
        steps = (SetupStep(type="download", parameters={"files": [{"url": "https://a.example/x.txt"}]}),)
        content = make_content(setup=steps, instruction="Open https://a.example/x.txt, then http://b.example/.")
        assert addresses(content) == ["https://a.example/x.txt", "http://b.example/"]
