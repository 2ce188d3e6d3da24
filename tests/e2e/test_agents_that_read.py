"""Agents that read the screen as a list of elements, on a desktop, with recorded replies."""

import re
from collections.abc import Iterator

import pytest

from tests.e2e.test_model_agents import ENDPOINTS, FIRST, MODEL, scores, steps_of, submitted
from tests.fakes.model_apis import ScriptedReply
from tests.fakes.model_server import ModelServer, ReceivedRequest, model_server
from tests.integration.embedded.test_up import Up, with_worker

pytestmark = [pytest.mark.stack, pytest.mark.desktop, pytest.mark.timeout(900), pytest.mark.sampled(1, of="agent")]
DESCRIBER = "describer-2026-01-01"
COPIED = "what stands in the list"
CONTROL = re.compile(r"^(\d+)\ttext\t", re.MULTILINE)
ELEMENT = re.compile(r"^(\d+)\t[a-z]+\t.*\(0\.\d", re.MULTILINE)
OMNI = (
    '{{"Status": "CONTINUE", "ControlLabel": "{0}", "Function": "click_input", "Args": {{"button": "left"}}}}',
    '{{"Status": "CONTINUE", "ControlLabel": "{0}", "Function": "click_input", "Args": {{"button": "x"}}}}',
    '{{"Status": "CONTINUE", "Function": "keyboard_input", "Args": {{"keys": "^{{END}}milk{{ENTER}}^s"}}}}',
    '{{"Status": "FINISH", "Function": ""}}',
)
NAVI = (
    f'computer.clipboard.copy_image(id={{0}}, description="{COPIED}")',
    'computer.keyboard.press("ctrl+end")',
    'computer.keyboard.write("milk\\n")',
    'computer.keyboard.press("ctrl+s")',
)


def omni(words: str) -> str:
    """The reply of the step that the list of earlier steps says."""
    control = CONTROL.findall(words)
    return OMNI[len(re.findall(r"^\d+\. .*->", words, re.MULTILINE))].format(*control[-1:])


def navi(words: str) -> str:
    """The same, by the memory that the agent keeps."""
    memory = re.search(r"6\. Memory:\n(\d)", words)
    step = int(memory[1]) if memory else 0
    if step == len(NAVI):
        return "```decision\nDONE\n```"
    code = NAVI[step].format(*ELEMENT.findall(words)[:1])
    return f"```decision\nCOMMAND\n```\n```python\n{code}\n```\n```memory\n{step + 1}\n```"


def recorded(asked: ReceivedRequest) -> ScriptedReply:
    """One server for both agents, and for the model that describes."""
    if asked.body["model"] == DESCRIBER:
        return ScriptedReply("\n".join(f"{number}: a crumpled sheet {number}" for number in range(1, 12)))
    words = asked.text.replace("\\n", "\n").replace("\\t", "\t")
    return ScriptedReply(omni(words) if "ControlLabel" in words else navi(words))


@pytest.fixture(scope="module")
def models() -> Iterator[ModelServer]:
    with model_server() as server:
        server.answer = recorded
        yield server


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory, models: ModelServer) -> Iterator[Up]:
    """An installation that knows it."""
    with with_worker(tmp_path_factory.mktemp("data"), 1, ENDPOINTS.format(address=models.address)) as up:
        yield up


class TestOmni:
    def test_uses_controls_by_number_and_the_button_back(self, up: Up, models: ModelServer) -> None:
        run = submitted(up, agent=("omni",), names=(FIRST,))
        assert scores(run) == {FIRST: (1.0, 1)}
        click, back, *_ = steps_of(up, run["episodes"][0])
        assert [action["type"] for action in click["actions"]] == ["CLICK"]
        assert [action["type"] for action in back["actions"]] == ["MOVE_TO", "HOTKEY"]
        assert back["actions"][1]["keys"] == ["alt", "left"]
        # The accessibility tree of the desktop says what each control lies in.
        lines = models.asked[0].text.replace("\\n", "\n").replace("\\t", "\t").splitlines()
        assert "index\ttag\tname\ttext\tparent name\tparent tag" in lines
        assert any(re.match(r"\d+\ttext\t.*\t\S[^\t]*$", line) for line in lines)


class TestNavi:
    def test_reads_text_where_it_stands_and_asks_another_model_about_pictures(
        self, up: Up, models: ModelServer
    ) -> None:
        before = len(models.asked)
        more = (
            *("--param", f"describer_model={DESCRIBER}", "--param", "describer_endpoint=recorded_server"),
            *("--observation-param", 'sources=["tree", "ocr"]'),
        )
        run = submitted(up, *more, agent=("navi",), names=(FIRST,))
        assert scores(run) == {FIRST: (1.0, 1)}
        asked = models.asked[before:]
        questions = [each.text for each in asked if each.body["model"] == MODEL]
        assert any(each.body["model"] == DESCRIBER for each in asked)
        assert "Text on the screen, roughly where it stands:" in questions[0]
        assert "bread" in questions[0].split("roughly where it stands:")[1].split("5. Actions before")[0]
