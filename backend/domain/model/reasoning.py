"""Takes the reasoning off a model's text: what its template marks as not being the answer.

Servers that do not know a model's template leave its marks in the text. The marks are those of open model families'
chat templates: `<think>` (DeepSeek-R1, Qwen3, GLM, MiniMax, Nemotron), `<thinking>`, `<thought>` (EXAONE),
`<seed:think>` (Seed-OSS), `<think_never_used_...>` (Seed-1.8), `[THINK]` (Magistral), `◁think▷` (Kimi-VL),
`<|START_THINKING|>` (Command A), `<|begin_of_thought|>` (OpenThinker), `<|inner_prefix|>` (Apertus), `<unused94>`
(MedGemma), `<|channel>thought` (Gemma 4), `<|think|>` (Solar Open), sentences (Granite 3.2, Apriel), channels (gpt-oss)
and tags that prompts ask for, such as `<analysis>`, `<plan>` and `<scratchpad>`.
"""

import re
from dataclasses import dataclass
from itertools import islice

_NAMES = (
    r"\w{0,20}(?:think|thinking|thoughts?|reasoning|monologue|rationale|reflection|scratchpad)(?:_\w{1,80})?"
    "|reason|analysis|plan|cot|internal"
)
_WORDS = "(?:think|thinking|thoughts?|reason|reasoning)"
_BAR, _LOW = "[|\uff5c]", "[_\u2581]"
_LEFT, _RIGHT = r"(?:<|&lt;)\s{0,3}", r"\s{0,3}(?:>|&gt;)"
_OPEN = (
    rf"{_LEFT}(?:\w{{1,20}}:)?(?:{_NAMES})(?:\s[^<>\n]{{0,80}})?{_RIGHT}|\[THINK\]|◁think▷"
    rf"|<{_BAR}(?:(?:start|begin){_LOW}(?:of{_LOW})?)?{_WORDS}(?:{_LOW}(?:start|begin))?{_BAR}>"
    r"|<\|inner_prefix\|>|<unused94>|<\|channel>thought\b"
)
_CLOSE = (
    rf"{_LEFT}\\?/\s{{0,3}}(?:\w{{1,20}}:)?(?:{_NAMES}){_RIGHT}|\[/(?:THINK|THINKING|THOUGHTS?|REASONING)\]|◁/think▷"
    rf"|<{_BAR}(?:/|end{_LOW}(?:of{_LOW})?){_WORDS}{_BAR}>|<{_BAR}{_WORDS}{_LOW}end{_BAR}>|<\|inner_suffix\|>"
    r"|<unused95>|<channel\|>|<\|end\|>\s*<\|begin\|>assistant(?:<\|content\|>)?"
)
_MARK = re.compile(rf"(?P<fence>```)|(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)
_WRAPPED = re.compile(
    r"\A(?:<(?P<tag>answer|response|output|final_answer)>(?P<tagged>.*)</(?P=tag)>"
    r"|<\|begin_of_solution\|>(?P<solved>.*)<\|end_of_solution\|>"
    r"|<\|START_RESPONSE\|>(?P<responded>.*)<\|END_RESPONSE\|>"
    r"|<\|begin_of_box\|>(?P<boxed>.*)<\|end_of_box\|>)\Z",
    re.DOTALL,
)
_TURN_END = re.compile(
    r"(?:\s*(?:<\|im_end\|>|<\|eot_id\|>|<\|eom_id\|>|<\|end\|>|<\|return\|>|<\|endoftext\|>|<\|end_of_text\|>"
    r"|<\|END_OF_TURN_TOKEN\|>|<end_of_turn>|<turn\|>|<\uff5cend\u2581of\u2581sentence\uff5c>|</s>|<\|role_end\|>"
    r"|<\|user\|>|<\|observation\|>|<\|eos\|>|<sep>|<SPECIAL_12>|\[e~\[))+\s*\Z"
)
_TURN_START = re.compile(
    r"\A\s*(?:<\|im_start\|>\s*assistant\b|<\|assistant\|>|<\|start_header_id\|>assistant<\|end_header_id\|>)\s*"
)
_CHANNEL = re.compile(
    r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?P<name>analysis|commentary|final)\b[^<]{0,200}"
    r"(?:<\|constrain\|>[^<]{0,80})?<\|message\|>"
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start)\|>")
_BARE_CHANNELS = re.compile(
    r"\A\s*analysis(?=[A-Z\"'\s])(?P<reasoning>.*?)assistant\s*final(?P<answer>.*)\Z", re.DOTALL
)
"""The channels of gpt-oss where a server dropped the special tokens and kept their words."""
_SENTENCES = re.compile(
    r"\A\s*Here(?: is|'s) my thought process:(?P<reasoning>.*?)(?:Here(?: is|'s) my response:(?P<answer>.*))?\Z",
    re.DOTALL,
)
"""Granite 3.2 has no marks: two sentences take their place."""
_FINAL = re.compile(
    r"\A\s*(?:Here are my reasoning steps:)?(?P<reasoning>.*?)\[BEGIN FINAL RESPONSE\](?P<answer>.*?)"
    r"(?:\[END FINAL RESPONSE\].*)?\Z",
    re.DOTALL,
)
_STEPS = re.compile(r"\A\s*Here are my reasoning steps:(?P<reasoning>.*)(?P<answer>)\Z", re.DOTALL)
"""Apriel marks its answer and begins with a sentence, which templates write themselves."""
_WHOLE_FORMS = (_BARE_CHANNELS, _SENTENCES, _FINAL, _STEPS)
_NO_QUOTE = re.compile(r"(?<=\w)'(?=\w)|```")
_NEAR = 1_000
"""Characters before and after a mark in which its line is looked for, so that a text without lines costs little."""


_MOST_MARKS = 5_000
"""A text with more is no answer."""


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
    parts = _by_channel(text) or _by_mark(text)
    if parts is None:
        return ModelText(_bare(text))
    answer, reasoning = parts
    return ModelText(_bare(answer), "\n\n".join(filter(None, map(str.strip, reasoning))))


def _bare(answer: str) -> str:
    """The answer without the marks of its turn's ends, or of an answer around it."""
    last = _TURN_END.search(answer, max(0, len(answer) - _NEAR))
    ended = _TURN_START.sub("", answer[: last.start()] if last else answer)
    wrapped = _WRAPPED.match(ended.strip())
    return next(filter(None, wrapped.groups()[1:]), "").strip() if wrapped else ended


def _by_channel(text: str) -> tuple[str, list[str]] | None:
    """Channels and sentences: only the final one is the answer. None if the text has none."""
    if bare := next(filter(None, (form.match(text) for form in _WHOLE_FORMS)), None):
        return (bare["answer"] or "").strip(), [bare["reasoning"]]
    starts = [start for start in islice(_CHANNEL.finditer(text), _MOST_MARKS) if not _is_quoted(text, start)]
    if not starts:
        return None
    before = _CHANNEL_END.sub("", text[: starts[0].start()])
    answer: list[str] = []
    reasoning = [before]
    for start, end in zip(starts, [*(each.start() for each in starts[1:]), len(text)], strict=True):
        body = _CHANNEL_END.split(text[start.end() : end], maxsplit=1)[0]
        (answer if start["name"] == "final" else reasoning).append(body)
    return "".join(answer).strip(), reasoning


def _by_mark(text: str) -> tuple[str, list[str]] | None:
    """Marks around reasoning. None if the text has none."""
    marks = [mark for mark in islice(_MARK.finditer(text), _MOST_MARKS) if mark["fence"] or not _is_quoted(text, mark)]
    if len(marks) == _MOST_MARKS:
        return "", [text]
    last_close = max((mark.start() for mark in marks if mark["close"]), default=-1)
    answer: list[str] = []
    reasoning: list[str] = []
    position, reasons, in_code, in_text = 0, False, False, 0
    for mark in marks:
        if mark["fence"]:
            in_code, in_text = not in_code, 0
        elif in_code and not reasons and (not mark["close"] or in_text):
            in_text += -1 if mark["close"] else 1  # A pair within a code block is what the model types.
        elif mark["close"]:
            reasoning += [*([] if reasons else answer), text[position : mark.start()]]
            answer = answer if reasons else []
            position, reasons, in_code = mark.end(), False, False
        elif not reasons and (_begins_line(text, mark) or mark.start() < last_close):
            answer.append(text[position : mark.start()])
            position, reasons = mark.end(), True
    if not position:
        return None
    (reasoning if reasons else answer).append(text[position:])
    return "".join(answer).strip(), reasoning


def _begins_line(text: str, mark: re.Match[str]) -> bool:
    near = text[max(0, mark.start() - _NEAR) : mark.start()]
    return not near[near.rfind("\n") + 1 :].strip()


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark lies within quotes of its line; not if the line is too long to tell."""
    start = max(0, mark.start() - _NEAR)
    _, line_end, before = text[start : mark.start()].rpartition("\n")
    if start and not line_end:
        return False
    after = text[mark.end() : mark.end() + _NEAR].partition("\n")[0]
    before, after = (_NO_QUOTE.sub("", part) for part in (before, after))
    return any(before.count(quote) % 2 and quote in after for quote in "\"'`")
