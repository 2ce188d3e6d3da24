"""Takes the reasoning off a model's text: what its template marks as not being the answer.

Servers that do not know a model's template leave its marks in the text. The marks are those of open model families'
chat templates: `<think>` (DeepSeek-R1, Qwen3, GLM, MiniMax, Nemotron), `<thinking>`, `<thought>` (EXAONE),
`<seed:think>` (Seed-OSS), `<think_never_used_...>` (Seed-1.8), `<ifm|think>` (K2 Horizon), `[THINK]` (Magistral),
`◁think▷` (Kimi-VL), `<|open|>think<|sep|>` (Kimi K3), `<|START_THINKING|>` (Command A), `<|begin_of_thought|>`
(OpenThinker), `<|inner_prefix|>` (Apertus), `<unused94>` (MedGemma), `[unused16]` (Pangu), `<|channel>thought`
(Gemma 4), `<|think|>` (Solar Open), `<|content_thinking|>` (Inkling), `<|im_start|>think` (s1), turns (HyperCLOVA X),
sentences (Granite 3.2, Apriel), channels (gpt-oss, Muse) and tags that prompts ask for, such as `<analysis>`, `<plan>`
and `<scratchpad>`; and `<details>`, into which web interfaces between us and a model fold its reasoning.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from backend.domain.model.quotes import NEAR, is_quoted

_NAMES = (
    r"\w{0,20}(?:think|thinking|thoughts?|reasoning|monologue|rationale|reflection|scratchpad|working_out)"
    r"(?:[_:]\w{1,80})?"
    "|reason|analysis|plan|cot|internal"
)
_WORDS = "(?:think|thinking|thoughts?|reason|reasoning)"
_BAR, _LOW = "[|\uff5c]", "[_\u2581]"
_LEFT, _RIGHT = r"(?:<|&lt;)\s{0,3}", r"\s{0,3}(?:>|&gt;)"
_OPEN = (
    rf"{_LEFT}(?!end_)(?:\w{{1,20}}[:|])?(?:{_NAMES})(?:\s[^<>\n]{{0,80}})?{_RIGHT}|\[THINK\]|◁think▷"
    rf"|\[(?:BEGIN|START)_(?:OF_)?{_WORDS}\]"
    rf"|<{_BAR}(?:assistant_)?(?:(?:start|begin){_LOW}(?:of{_LOW})?)?{_WORDS}(?:{_LOW}(?:start|begin))?{_BAR}>"
    r"|<\|inner_prefix\|>|<unused94>|\[unused16\]|<\|channel>thought\b|<\|open\|>think<\|sep\|>"
    r"|(?:<\|message_model\|>\s*)?<\|content_thinking\|>"
    r"|<details\s[^<>]{0,200}\btype=[\"']?reasoning\b[^<>]{0,200}>"
    r"|<details\b[^<>]{0,200}>\s*<summary>[^<]{0,200}\b(?:think|thought|reason)[^<]{0,200}</summary>"
    r"|<\|im_start\|>\s*think(?:ing)?\b"
)
_CLOSE = (
    rf"{_LEFT}(?:\\?/\s{{0,3}}|end_(?:of_)?)(?:\w{{1,20}}[:|])?(?:{_NAMES}){_RIGHT}|\[(?:/|END_(?:OF_)?){_WORDS}\]|◁/think▷"
    rf"|<{_BAR}(?:/(?:assistant_)?|end{_LOW}(?:of{_LOW})?){_WORDS}{_BAR}>|<{_BAR}{_WORDS}{_LOW}end{_BAR}>|<\|inner_suffix\|>"
    r"|<unused95>|\[unused17\]|<channel\|>|<\|close\|>think<\|sep\|>"
    r"|<\|end\|>\s*<\|begin\|>assistant(?:<\|content\|>)?"
    r"|<\|end_message\|>\s*<\|message_model\|>\s*<\|content_text\|>"
)
_OWN_CLOSE = r"</details>|(?:<\|im_end\|>\s*)?<\|im_start\|>\s*(?:answer|assistant)\b|<\|im_end\|>"
"""Ends of these beginnings only: elsewhere they are no marks of reasoning."""
_STARTS = "`<&\\[\u25c1"
"""How a mark begins: texts without one, however long, cost next to nothing."""
_MARK_START = re.compile(f"[{_STARTS}]")
_MARK = re.compile(
    rf"(?=[{_STARTS}])(?:(?P<fence>```)|(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<own_close>{_OWN_CLOSE}))",
    re.IGNORECASE,
)
_WRAPPED = re.compile(
    r"\A(?:<(?P<tag>(?i:answer|response|output|final|final_answer|solution))>(?P<tagged>.*)</(?P=tag)>"
    r"|<\|open\|>response<\|sep\|>(?P<opened>.*)<\|close\|>response<\|sep\|>"
    r"|<\|begin_of_solution\|>(?P<solved>.*)<\|end_of_solution\|>"
    r"|<\|START_RESPONSE\|>(?P<responded>.*)<\|END_RESPONSE\|>"
    r"|<\|begin_of_box\|>(?P<boxed>.*)<\|end_of_box\|>)\Z",
    re.DOTALL,
)
_TURN_END = re.compile(
    r"(?:\s*(?:<\|im_end\|>|<\|eot_id\|>|<\|eom_id\|>|<\|end\|>|<\|return\|>|<\|endoftext\|>|<\|end_of_text\|>"
    r"|<\|END_OF_TURN_TOKEN\|>|<end_of_turn>|<turn\|>|<\uff5cend\u2581of\u2581sentence\uff5c>|</s>|<\|role_end\|>"
    r"|<\|user\|>|<\|observation\|>|<\|eos\|>|<sep>|<SPECIAL_12>|\[e~\[|<\|eot\|>|<\|eom\|>|<seed:eos>"
    r"|\[\|endofturn\|\]|<\|endofturn\|>|<\|stop\|>|<\|EOT\|>|<\|endofresponse\|>|<\|close\|>message<\|sep\|>|<\|end_of_msg\|>|\[unused10\]"
    r"|<\|end_message\|>|<\|content_model_end_sampling\|>"
    r"|<\uff5chy_place\u2581holder\u2581no\u2581\d\uff5c>))+\s*\Z"
)
_TURN_START = re.compile(
    r"\A\s*(?:<\|im_start\|>\s*assistant\b(?:<\|im_sep\|>)?|(?:<\|bom\|>)?<\|assistant\|>|\[\|assistant\|\]"
    r"|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|start_of_role\|>assistant<\|end_of_role\|>"
    r"|<\|im_assistant\|>assistant<\|im_middle\|>|<start_of_turn>model\b|<seed:bos>assistant\b|\]~b\]ai\b"
    r"|<\|START_OF_TURN_TOKEN\|><\|CHATBOT_TOKEN\|>|<\uff5c(?:hy_)?Assistant\uff5c>"
    r"|<\|message_model\|>\s*<\|content_text\|>|<\|start\|>assistant<\|message\|>|<\|response\|>)\s*"
)
_OTHER_TURN = re.compile(
    r"<\|im_start\|>\s*(?:user|system|tool)\b|<\|(?:start_header_id|start_of_role)\|>(?:user|system|tool|ipython)<\|"
    r"|<start_of_turn>user\b|<\|start\|>(?:user|system|developer)\b|<\uff5cUser\uff5c>|<\|user\|>|<\|im_user\|>"
    r"|\[\|user\|\]|\[INST\]|<\|START_OF_TURN_TOKEN\|><\|USER_TOKEN\|>"
)
"""The turn of somebody else, which a model writes that runs on behind its own: no part of its answer."""
_CHANNEL = re.compile(
    r"(?:<\|start\|>\s*assistant\s*)?"
    r"(?:<\|channel\|>\s*(?P<name>analysis|commentary|final)\b[^<]{0,200}(?:<\|constrain\|>[^<]{0,80})?"
    r"|to=(?P<recipient>[\w.\-]{1,100}))<\|message\|>"
)
"""Of gpt-oss by name, of Muse by recipient."""
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|eom|eot)\|>")
_BARE_CHANNELS = re.compile(
    r"\A\s*+analysis(?=[A-Z\"'`\s])(?P<reasoning>.*?)assistant\s*final(?P<answer>.*)\Z", re.DOTALL
)
"""The channels of gpt-oss where a server dropped the special tokens and kept their words."""
_BARE_ANALYSIS = re.compile(r"\A\s*+analysis(?=[A-Z][a-z' ])(?P<reasoning>.*)(?P<answer>)\Z", re.DOTALL)
_SENTENCES = re.compile(
    r"\A\s*+Here(?: is|'s) my thought process:(?P<reasoning>.*?)(?:Here(?: is|'s) my response:(?P<answer>.*))?\Z",
    re.DOTALL,
)
"""Granite 3.2 has no marks: two sentences take their place."""
_FINAL = re.compile(
    r"\A\s*+(?:Here are my reasoning steps:)?(?P<reasoning>.*?)\[BEGIN FINAL RESPONSE\](?P<answer>.*?)"
    r"(?:\[END FINAL RESPONSE\].*)?\Z",
    re.DOTALL,
)
_STEPS = re.compile(r"\A\s*+Here are my reasoning steps:(?P<reasoning>.*)(?P<answer>)\Z", re.DOTALL)
"""Apriel marks its answer and begins with a sentence, which templates write themselves."""
_TURNS = re.compile(
    r"\A\s*+(?:/think\n)?(?P<reasoning>[^<]*+(?:<(?!\|im_)[^<]*+)*+)<\|im_end\|>\s*<\|im_start\|>\s*assistant\b"
    r"\s*(?P<answer>.*)\Z",
    re.DOTALL,
)
_FIRST_TURN = re.compile(r"\A\s*+/think\n(?P<reasoning>.*)(?P<answer>)\Z", re.DOTALL)
"""HyperCLOVA X thinks in a turn of its own."""
_WHOLE_FORMS = (_BARE_CHANNELS, _BARE_ANALYSIS, _SENTENCES, _FINAL, _STEPS, _TURNS, _FIRST_TURN)
_TAG = re.compile(r"</?(\w{1,40})>\Z")
_ARGUMENT = re.compile(
    r"(?P<parameter><parameter=\w{1,40}>)|\bTYPE[ \t]{0,9}\["
    r"|\b(?:content|text|value|message)[\"']?\s{0,9}[=:]\s{0,9}(?P<quote>[\"'])"
)
"""Where a text begins that a model types by a call."""
_ARGUMENT_ENDS = {
    "": re.compile(r"\][ \t]*(?:\n|\Z)"),
    "<": re.compile("</parameter>"),
    **{quote: re.compile(rf"{quote}\s*(?:[,)}}\]]|\Z)") for quote in "\"'"},
}
_LONGEST_CALL = 30_000
_MOST_MARKS = 5_000
"""A text with more is no answer."""
_MOST_TYPED = 100
"""In a text with more tags, none is looked for in the arguments of calls."""


@dataclass(frozen=True)
class ModelText:
    """A model's text in two parts.

    Attributes:
        answer: what counts; the text unchanged if it has no marks.
        reasoning: what the model marked as not its answer, without the marks.
    """

    answer: str
    reasoning: str = ""


def split_reasoning(text: str) -> ModelText:
    """Splits a text into answer and reasoning, in time linear in its length.

    Reasoning without an end goes to the end of the text; an end without a beginning makes everything before it
    reasoning, as templates write the beginning themselves. A mark within quotes, and a beginning within a code block
    with its end, are text that the model types.
    """
    reply, others = _own_turn(_TURN_START.sub("", text))
    answer, reasoning = _by_channel(reply) or _by_mark(reply) or (reply, [])
    reasoning = [*reasoning, others]
    return ModelText(_bare(answer), "\n\n".join(filter(None, map(str.strip, reasoning))))


def _own_turn(text: str) -> tuple[str, str]:
    """The model's own turn, and what it wrote behind it in the place of others."""
    for turn in islice(_OTHER_TURN.finditer(text), _MOST_MARKS):
        if not is_quoted(text, *turn.span()):
            return text[: turn.start()], text[turn.start() :]
    return text, ""


def _bare(answer: str) -> str:
    """The answer without the marks of its turn's ends, or of an answer around it."""
    last = _TURN_END.search(answer, max(0, len(answer) - NEAR))
    ended = answer[: last.start()] if last else answer
    wrapped = _WRAPPED.match(ended.strip())
    return next(filter(None, wrapped.groups()[1:]), "").strip() if wrapped else ended


def _by_channel(text: str) -> tuple[str, list[str]] | None:
    """Channels and sentences: only the final one is the answer. None if the text has none."""
    if bare := next(filter(None, (form.match(text) for form in _WHOLE_FORMS)), None):
        return (bare["answer"] or "").strip(), [bare["reasoning"]]
    if "<|message|>" not in text:
        return None
    starts = [start for start in islice(_CHANNEL.finditer(text), _MOST_MARKS) if not is_quoted(text, *start.span())]
    if not starts:
        return None
    before = _CHANNEL_END.sub("", text[: starts[0].start()])
    answer: list[str] = []
    reasoning = [before]
    for start, end in zip(starts, [*(match.start() for match in starts[1:]), len(text)], strict=True):
        body = _CHANNEL_END.split(text[start.end() : end], maxsplit=1)[0]
        (answer if start["name"] == "final" or start["recipient"] == "user" else reasoning).append(body)
    return "".join(answer).strip(), reasoning


def _by_mark(text: str) -> tuple[str, list[str]] | None:
    """Marks around reasoning. None if the text has none."""
    if not _MARK_START.search(text):
        return None
    marks = _marks(text)
    if len(marks) == _MOST_MARKS:
        return "", [text]
    last_close = max((mark.start() for mark in marks if mark["close"]), default=-1)
    answer: list[str] = []
    reasoning: list[str] = []
    position, reasons, in_code, in_text, opening = 0, False, False, 0, ""
    for mark in marks:
        if mark["own_close"] and not (reasons and _ends(mark["own_close"], opening)):
            continue
        if mark["fence"]:
            in_code, in_text = not in_code, 0
        elif in_code and not reasons and (mark["open"] or in_text):
            in_text += 1 if mark["open"] else -1  # A pair within a code block is what the model types.
        elif not mark["open"]:
            reasoning += [*([] if reasons else answer), text[position : mark.start()]]
            answer = answer if reasons else []
            position, reasons, in_code = mark.end(), False, False
        elif not reasons and (_begins_line(text, mark, position) or mark.start() < last_close):
            answer.append(text[position : mark.start()])
            position, reasons, opening = mark.end(), True, mark["open"].lower()
    if not position:
        return None
    (reasoning if reasons else answer).append(text[position:])
    return "".join(answer).strip(), reasoning


def _marks(text: str) -> list[re.Match[str]]:
    """Fences, and the marks that are not text that the model types or quotes."""
    marks = list(islice(_MARK.finditer(text), _MOST_MARKS))
    tags = sum(mark["fence"] is None for mark in marks)
    arguments = list(_ARGUMENT.finditer(text)) if len(text) <= _LONGEST_CALL and tags <= _MOST_TYPED else []
    return [
        mark
        for mark in marks
        if mark["fence"] or not (is_quoted(text, *mark.span()) or _is_typed(text, mark, arguments))
    ]


def _is_typed(text: str, mark: re.Match[str], arguments: Sequence[re.Match[str]]) -> bool:
    """Whether a tag, together with its other half, lies within an argument of a call that may have line ends."""
    tag = _TAG.match(mark[0])
    number = bisect_right(arguments, mark.start(), key=lambda argument: argument.end())
    if tag is None or not number:
        return False
    argument = arguments[number - 1]
    ends = _ARGUMENT_ENDS["<" if argument["parameter"] else argument["quote"] or ""]
    end = ends.search(text, argument.end())
    if end is None or end.start() < mark.end():
        return False
    inner = text[argument.end() : end.start()].lower()
    return f"<{tag[1]}>".lower() in inner and f"</{tag[1]}>".lower() in inner


def _ends(own_close: str, opening: str) -> bool:
    return opening.startswith("<details" if own_close.lower() == "</details>" else "<|im_start|>")


def _begins_line(text: str, mark: re.Match[str], position: int) -> bool:
    """Whether a mark begins a line, or follows the mark before it, which ended at `position`."""
    near = text[max(position, mark.start() - NEAR) : mark.start()]
    return not near[near.rfind("\n") + 1 :].strip()
