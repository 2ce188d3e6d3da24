"""Reasoning in a model's text, as the templates of open model families mark it."""

import time

import pytest

from backend.domain.actions.computer import ComputerSpace
from backend.domain.actions.computer_13 import Computer13
from backend.domain.actions.prosoft import ProSoft
from backend.domain.actions.pyautogui import Pyautogui
from backend.domain.model.reasoning import split_reasoning

CODE = "```python\npyautogui.click(2, 2)\n```"
SECONDS = 1.0
FENCED = "Maybe ```python\npyautogui.hotkey('alt', 'f4')\n``` first?"
FAMILIES = {
    "DeepSeek-R1": f"<think>\n{FENCED}\n</think>\n\n{CODE}",
    "DeepSeek-R1, begun by its template": f"{FENCED}\n</think>\n\n{CODE}<\uff5cend\u2581of\u2581sentence\uff5c>",
    "Qwen3": f"<think>\n{FENCED}\n</think>\n\n{CODE}<|im_end|>",
    "QwQ": f"{FENCED}\n</think>\n{CODE}",
    "GLM-4.5": f"\n<think>{FENCED}</think>\n{CODE}",
    "GLM-4.1V-Thinking": f"<think>{FENCED}</think><answer>{CODE}</answer>",
    "MiniMax-M2": f"<think>\n{FENCED}\n</think>\n\n{CODE}\n",
    "Nemotron": f"<think>\n{FENCED}\n</think>\n\n{CODE}<|eot_id|>",
    "Hunyuan-A13B": f"<think>\n{FENCED}\n</think>\n<answer>\n{CODE}\n</answer>",
    "Granite-3.3": f"<think>{FENCED}</think><response>{CODE}</response>",
    "EXAONE-Deep": f"<thought>\n{FENCED}\n</thought>\n\n{CODE}",
    "Seed-OSS": f"<seed:think>{FENCED}</seed:think>{CODE}",
    "Seed-1.8": f"<think_never_used_51bce0c7>{FENCED}</think_never_used_51bce0c7>{CODE}",
    "a prompt that asks for an analysis": f"<analysis>\n{FENCED}\n</analysis>\n{CODE}",
    "a prompt that asks for a scratchpad": f"<scratchpad>{FENCED}</scratchpad>\n{CODE}",
    "ChatML, with its beginning": f"<|im_start|>assistant\n<think>{FENCED}</think>\n{CODE}<|im_end|>",
    "Magistral": f"[THINK]{FENCED}[/THINK]{CODE}</s>",
    "Kimi-VL-Thinking": f"\u25c1think\u25b7{FENCED}\u25c1/think\u25b7{CODE}<|im_end|>",
    "Command A Reasoning": f"<|START_THINKING|>{FENCED}<|END_THINKING|><|START_RESPONSE|>{CODE}<|END_RESPONSE|>",
    "OpenThinker": (
        f"<|begin_of_thought|>\n\n{FENCED}\n\n<|end_of_thought|>\n\n<|begin_of_solution|>\n{CODE}\n<|end_of_solution|>"
    ),
    "Apertus": f"<|inner_prefix|>{FENCED}<|inner_suffix|>{CODE}",
    "MedGemma": f"<unused94>thought\n{FENCED}<unused95>{CODE}",
    "LongCat": f"<longcat_think>\n{FENCED}\n</longcat_think>\n{CODE}",
    "gpt-oss": (
        f"<|channel|>analysis<|message|>{FENCED}<|end|><|start|>assistant<|channel|>final<|message|>{CODE}<|return|>"
    ),
    "gpt-oss, with a comment": (
        f"<|channel|>analysis<|message|>{FENCED}<|end|><|start|>assistant<|channel|>commentary<|message|>Now.<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{CODE}"
    ),
    "gpt-oss, without its special tokens": f"analysisLet me see. {FENCED}assistantfinal{CODE}",
    "gpt-oss, without its special tokens, with code first": f"analysis{FENCED}assistantfinal{CODE}",
    "Gemma 4": f"<|channel>thought\n{FENCED}<channel|>{CODE}<turn|>",
    "Gemma 4, with two thoughts": f"<|channel>thought\n<channel|><|channel>thought\n{FENCED}<channel|>{CODE}<turn|>",
    "Phi-4-reasoning": f"<think>{FENCED}</think>\n\n{CODE}<|im_end|>",
    "Kimi-K2-Thinking": f"<think>{FENCED}</think>{CODE}<|im_end|>",
    "Qwen3-VL-Thinking, begun by its template": f"{FENCED}\n</think>\n\n{CODE}<|im_end|>",
    "GLM-4.6": f"\n<think>{FENCED}</think>\n{CODE}<|user|>",
    "DeepSeek-V3.2, begun by its template": f"{FENCED}</think>{CODE}<\uff5cend\u2581of\u2581sentence\uff5c>",
    "MiniMax-M2, with its end": f"<think>\n{FENCED}\n</think>\n\n{CODE}[e~[",
    "Nemotron-Nano-2": f"<think>\n{FENCED}\n</think>\n\n{CODE}<SPECIAL_12>",
    "Apriel": f"Here are my reasoning steps:\n{FENCED}\n[BEGIN FINAL RESPONSE]\n{CODE}\n[END FINAL RESPONSE]\n<|end|>",
    "Apriel without its first sentence": f"{FENCED}\n[BEGIN FINAL RESPONSE]\n{CODE}",
    "a prompt that asks for a plan": f"<plan>\n{FENCED}\n</plan>\n{CODE}",
    "a prompt that asks for inner thoughts": f"<inner_thoughts>{FENCED}</inner_thoughts>{CODE}",
    "Granite-3.2": f"Here is my thought process:\n\n{FENCED}\n\nHere is my response:\n\n{CODE}<|end_of_text|>",
    "ERNIE-4.5-Thinking": f"<think>\n{FENCED}\n</think>\n\n<response>\n{CODE}\n</response>\n</s>",
    "Reka-Flash-3": f"<reasoning>{FENCED}</reasoning>{CODE} <sep>",
    "Ring": f"<think>\n{FENCED}\n</think>\n\n{CODE}<|role_end|>",
    "Solar-Open": f"<|think|>{FENCED}<|end|><|begin|>assistant<|content|>{CODE}<|end|>",
    "Ministral-3-Reasoning": f"[THINK]{FENCED}[/THINK]{CODE}</s>",
    "DeepSeek-V3.1, begun by its template": f"{FENCED}</think>{CODE}",
    "DeepSeek-V4": f"<\uff5cAssistant\uff5c><think>{FENCED}</think>{CODE}<\uff5cend\u2581of\u2581sentence\uff5c>",
    "Kimi-K3": (
        f"<|open|>think<|sep|>{FENCED}<|close|>think<|sep|><|open|>response<|sep|>{CODE}<|close|>response<|sep|>"
        "<|close|>message<|sep|><|end_of_msg|>"
    ),
    "Kimi-K2, with its turn": f"<|im_assistant|>assistant<|im_middle|><think>{FENCED}</think>{CODE}<|im_end|>",
    "MiniMax-M3": f"<mm:think>{FENCED}</mm:think>{CODE}[e~[",
    "MiniMax-M2, with its turn": f"]~b]ai\n<think>\n{FENCED}\n</think>\n\n{CODE}[e~[",
    "Step-3": f"<think>\n{FENCED}\n</think>\n{CODE}<|im_end|>",
    "Skywork-R1V": f"<think>\n{FENCED}\n</think>\n\n{CODE}<|im_end|>",
    "GLM-4.5V": f"<think>{FENCED}</think>\n<|begin_of_box|>{CODE}<|end_of_box|>",
    "Seed-OSS, with its turn": f"<seed:bos>assistant\n<seed:think>\n{FENCED}\n</seed:think>\n{CODE}<seed:eos>",
    "Hunyuan-7B": (
        f"<think>\n{FENCED}\n</think>\n<answer>\n{CODE}\n</answer><\uff5chy_place\u2581holder\u2581no\u25812\uff5c>"
    ),
    "Hunyuan 3": f"<think:opensource>{FENCED}</think:opensource>{CODE}<|eos|>",
    "EXAONE-Deep, with its turn": f"[|assistant|]<thought>\n{FENCED}\n</thought>\n\n{CODE}[|endofturn|]",
    "EXAONE-4": f"<think>\n{FENCED}\n</think>\n\n{CODE}[|endofturn|]",
    "Phi-4-reasoning, with its turn": f"<|im_start|>assistant<|im_sep|><think>{FENCED}</think>\n\n{CODE}<|im_end|>",
    "Granite-3.3, with its turn": (
        f"<|start_of_role|>assistant<|end_of_role|><think>{FENCED}</think><response>{CODE}</response><|end_of_text|>"
    ),
    "Command A Reasoning, with its turn": (
        f"<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>{FENCED}<|END_THINKING|>"
        f"<|START_RESPONSE|>{CODE}<|END_RESPONSE|><|END_OF_TURN_TOKEN|>"
    ),
    "Pangu": f"[unused16]{FENCED}[unused17]{CODE}[unused10]",
    "K2 Horizon": f"<ifm|think>{FENCED}</ifm|think>{CODE}",
    "K2 Horizon, fast": f"<ifm|think_faster>{FENCED}</ifm|think_faster>{CODE}",
    "Inkling": (
        f"<|message_model|><|content_thinking|>{FENCED}<|end_message|><|message_model|><|content_text|>{CODE}"
        "<|end_message|><|content_model_end_sampling|>"
    ),
    "Muse": (f"<|start|>assistant to=self<|message|>{FENCED}<|eom|><|start|>assistant to=user<|message|>{CODE}<|eot|>"),
    "HyperCLOVA-X-Think": f"/think\n{FENCED}<|im_end|>\n<|im_start|>assistant\n{CODE}<|im_end|>",
    "HyperCLOVA-X-Think, begun by its template": f"{FENCED}<|im_end|>\n<|im_start|>assistant\n{CODE}<|endofturn|>",
    "s1": f"<|im_start|>think\n{FENCED}\n<|im_start|>answer\n{CODE}<|im_end|>",
    "s1, within a turn": f"<|im_start|>assistant\n<|im_start|>think\n{FENCED}\n<|im_start|>answer\n{CODE}<|im_end|>",
    "a turn of thoughts": f"<|im_start|>think\n{FENCED}\n<|im_end|>\n{CODE}<|im_end|>",
    "a turn of thoughts before the assistant's": (
        f"<|im_start|>think\n{FENCED}<|im_end|>\n<|im_start|>assistant\n{CODE}<|im_end|>"
    ),
    "Open WebUI": (
        '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n'
        f"{FENCED}\n</details>\n{CODE}"
    ),
    "a fold of thoughts": f"<details>\n<summary>Thinking Process</summary>\n\n{FENCED}\n\n</details>\n\n{CODE}",
    "a fold of reasoning": f"<details open><summary>\U0001f4ad Reasoning</summary>{FENCED}</details>{CODE}",
    "Marco-o1": f"<Thought>\n{FENCED}\n</Thought>\n<Output>\n{CODE}\n</Output>",
    "Reflection": f"<thinking>\n{FENCED}\n<reflection>\nWell.\n</reflection>\n</thinking>\n<output>\n{CODE}\n</output>",
    "a prompt that asks for <thinking>": f"<thinking>\n{FENCED}\n</thinking>\n{CODE}",
    "a prompt that asks for a rationale": f"<rationale>{FENCED}</rationale>\n{CODE}",
    "Claude's older prompts": f"<antThinking>{FENCED}</antThinking>{CODE}",
    "a thinking process": f"<thinking_process>\n{FENCED}\n</thinking_process>\n{CODE}",
    "a monologue": f"<inner_monologue>{FENCED}</inner_monologue>{CODE}",
    "marks of thoughts' ends": f"<|thought_start|>{FENCED}<|thought_end|>{CODE}",
    "marks with a bar": f"<|think|>{FENCED}<|/think|>{CODE}",
    "marks with wide bars": (
        f"<\uff5cbegin\u2581of\u2581thinking\uff5c>{FENCED}<\uff5cend\u2581of\u2581thinking\uff5c>{CODE}"
    ),
    "square brackets": f"[THOUGHT]{FENCED}[/THOUGHT]{CODE}",
    "spaces in the marks": f"< think >{FENCED}</ think >{CODE}",
    "an escaped end": f"<think>{FENCED}<\\/think>{CODE}",
    "marks of a working out": f"<start_working_out>{FENCED}<end_working_out><SOLUTION>{CODE}</SOLUTION>",
    "tags of begin and end": f"<begin_of_thought>{FENCED}<end_of_thought>\n{CODE}",
    "tags of start and end": f"<start_thinking>{FENCED}<end_thinking>{CODE}",
    "square brackets of begin and end": f"[BEGIN_THOUGHT]{FENCED}[END_THOUGHT]{CODE}",
    "square brackets of start and end": f"[START_OF_REASONING]{FENCED}[END_OF_REASONING]{CODE}",
    "marks of an assistant": f"<|assistant_thinking|>{FENCED}<|/assistant_thinking|>{CODE}",
    "reasoning and solution": f"<REASONING>\n{FENCED}\n</REASONING>\n<SOLUTION>\n{CODE}\n</SOLUTION>",
    "a final part": f"<think>{FENCED}</think>\n<final>{CODE}</final>",
    "Jamba": f"<|bom|><|assistant|> <think>{FENCED}</think>{CODE}<|eom|>",
    "dots": f"<|response|><think>{FENCED}</think>{CODE}<|endofresponse|>",
    "Step, with its end": f"<think>{FENCED}</think>{CODE}<|EOT|>",
    "gpt-oss, a turn without a channel": f"<|start|>assistant<|message|><think>{FENCED}</think>{CODE}<|return|>",
    "a user's turn behind it": f"<think>{FENCED}</think>{CODE}<|im_end|>\n<|im_start|>user\nGo on. {FENCED}<|im_end|>",
    "Llama, with a user's turn": (
        f"<think>{FENCED}</think>{CODE}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n{FENCED}"
    ),
    "DeepSeek, with a user's turn": (
        f"{FENCED}</think>{CODE}<\uff5cend\u2581of\u2581sentence\uff5c><\uff5cUser\uff5c>{FENCED}"
    ),
    "Gemma, with a user's turn": f"<think>{FENCED}</think>{CODE}<end_of_turn>\n<start_of_turn>user\n{FENCED}",
    "Mistral, with a user's turn": f"[THINK]{FENCED}[/THINK]{CODE}</s>[INST]{FENCED}[/INST]{CODE}",
    "escaped for a web page": f"&lt;think&gt;{FENCED}&lt;/think&gt;{CODE}",
}


class TestFamilies:
    @pytest.mark.parametrize("text", FAMILIES.values(), ids=list(FAMILIES))
    def test_only_the_answer_is_left(self, text: str) -> None:
        parts = split_reasoning(text)
        assert parts.answer == CODE
        assert FENCED in parts.reasoning
        assert [action.type for action in Pyautogui(None).parse(text)] == ["CLICK"]


class TestMarks:
    @pytest.mark.parametrize(
        ("text", "answer"),
        [
            ("<think>The file is there. DONE", ""),
            ("I click.\n<think>Or not?", "I click."),
            ("DONE\n</think>\nWAIT", "WAIT"),
            ("<think>a</think> b </think> DONE", "DONE"),
            ("<think><think>a</think>DONE", "DONE"),
            ("<THINK>a</Think>DONE", "DONE"),
            ('<think reason="hard">a</think>DONE', "DONE"),
            ("<think>I don't know</think> Let's wait", "Let's wait"),
            ("First.\n<think>a</think>\nThen.\n<think>b</think>\nDONE", "First.\n\nThen.\n\nDONE"),
            ("<think></think>DONE", "DONE"),
            ("<|channel|>analysis<|message|>cut off in the mid", ""),
            ("<|channel>thought\ncut off in the mid", ""),
            ("<|channel>thought\n<channel|>DONE<turn|>", "DONE"),
            ("thought\nI am done.<channel|>DONE", "DONE"),
            ("[THINK]cut off in the mid", ""),
            ("Well[/THINK]DONE", "DONE"),
            ("Here's my thought process: cut off. DONE", ""),
            ("Here are my reasoning steps:\ncut off. DONE", ""),
            ("\u25c1think\u25b7cut off. DONE", ""),
            ("<|open|>think<|sep|>cut off. DONE", ""),
            ("<|im_start|>think\ncut off. DONE", ""),
            ("<|im_assistant|>assistant<|im_middle|><think>cut off. DONE", ""),
            ("/think\ncut off. DONE", ""),
            ('<details type="reasoning" done="false">\n<summary>Thinking...</summary>\n> cut off. DONE', ""),
            ("<|start|>assistant to=self<|message|>cut off. DONE", ""),
            ("Done?\u25c1/think\u25b7DONE", "DONE"),
            ("analysisI am done, or not. DONE", ""),
            ("<begin_of_thought>cut off. DONE", ""),
            ("Done?<end_of_thought>DONE", "DONE"),
            ("Done?[END_THINKING]DONE", "DONE"),
            ("<think>a</think><think>cut off. DONE", ""),
            ("<think>a</think> [THINK]cut off. DONE", ""),
            ("", ""),
        ],
    )
    def test_start_or_end_mark_may_be_missing(self, text: str, answer: str) -> None:
        assert split_reasoning(text).answer == answer

    @pytest.mark.parametrize(
        "text",
        [
            "```python\npyautogui.write('</think>')\n```",
            '```python\npyautogui.write("<think>a</think>")\n```',
            '{"action_type": "TYPING", "text": "<think>"}',
            "I type `<think>` now.",
            "The page says <think> in its title.",
            "```html\n<think>\n```",
            "```python\npyautogui.write('''<plan>\nx\n</plan>''')\n```",
            "<details><summary>The code</summary>\nDONE\n</details>",
            "I open the details.\n</details>\nDONE",
            "```python\npyautogui.write(f'<think>{x}</think>')\n```",
            '```python\npyautogui.write("it\'s </think>")\n```',
            "I type '<|im_start|>user' now.",
            "Action: type(content='<note>\n<reason>\nlate\n</reason>\n</note>')",
            'Action: type(content="<plan>\na\n</plan>")\nhotkey(key="enter")',
            "actions:\nTYPE [<reason>late</reason>]",
            "actions:\nTYPE [<note>\n<reason>\nlate\n</reason>\n</note>]\nENTER",
            "<function=computer_use>\n<parameter=text>\n<plan>\nx\n</plan>\n</parameter>\n</function>",
            '{"action": "type", "text": "<note>\n<reason>\nlate\n</reason>\n"}',
            "no mark at all ",
        ],
    )
    def test_marks_that_the_model_types_or_quotes_stay_in_the_answer(self, text: str) -> None:
        assert split_reasoning(text).answer == text

    @pytest.mark.parametrize(
        ("text", "answer"),
        [
            ("<think>The users' menu.</think>I open the users' menu. DONE", "I open the users' menu. DONE"),
            ('<think>A 15" screen.</think>I set 17" now. DONE', 'I set 17" now. DONE'),
            ("<think>The key ` is near.</think>I press ` now. DONE", "I press ` now. DONE"),
            (
                "<|channel|>analysis<|message|>Users' file<|channel|>final<|message|>Users' file. DONE",
                "Users' file. DONE",
            ),
            ("<think>I type(content='a').\n</think>\nAction: type(content='b')", "Action: type(content='b')"),
            ("<think>I type(content='a\n</think>\nAction: type(content='b')", "Action: type(content='b')"),
            ("<think>TYPE [a]\n</think>\nactions:\nTYPE [b]", "actions:\nTYPE [b]"),
        ],
    )
    def test_mark_beside_unpaired_signs_and_calls_is_recognized(self, text: str, answer: str) -> None:
        assert split_reasoning(text).answer == answer

    def test_foreign_turn_is_kept_as_reasoning(self) -> None:
        parts = split_reasoning("WAIT<|im_end|>\n<|im_start|>user\nNow?<|im_end|>\n<|im_start|>assistant\nDONE")
        assert parts.answer.strip() == "WAIT"
        assert "DONE" in parts.reasoning

    def test_many_tags_and_arguments_are_read_quickly(self) -> None:
        text = "value='<plan>" * 2_000
        before = time.thread_time()
        split_reasoning(text)
        split_reasoning("<|im_start|>user'" * 5_000)
        assert time.thread_time() - before < SECONDS

    def test_end_mark_after_many_quotes_is_recognized(self) -> None:
        step = '{"Status": "FINISH", "Args": {"keys": "x"}}'
        assert split_reasoning(f"<think>{step * 9}</think>{step}").answer == step

    @pytest.mark.parametrize("begin", [" " * 200_000, "\n" * 200_000, "x" * 300_000 + "<|im_end|>\n"])
    def test_blank_runs_do_not_slow_down_parsing(self, begin: str) -> None:
        assert split_reasoning(f"{begin}DONE").answer.endswith("DONE")

    def test_marks_alone_give_an_empty_answer(self) -> None:
        assert split_reasoning("</think>DONE\n" * 10_000).answer == ""


class TestActionSpaces:
    def test_action_in_the_reasoning_is_not_executed(self) -> None:
        fail = '<think>If not: ```json\n{"action_type": "FAIL"}\n```</think>\n```json\n{"action_type": "WAIT"}\n```'
        assert [action.type for action in Computer13(None).parse(fail)] == ["WAIT"]
        done = "<think>```decision\nDONE\n```</think>\n```decision\nWAIT\n```"
        assert [action.type for action in ComputerSpace(None).parse(done)] == ["WAIT"]
        assert [action.type for action in ProSoft(None).parse("<think>\nDONE\n</think>\nWAIT")] == ["WAIT"]
