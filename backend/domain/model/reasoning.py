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
from dataclasses import dataclass
from itertools import islice

_NAMES = (
    r"\w{0,20}(?:think|thinking|thoughts?|reasoning|monologue|rationale|reflection|scratchpad)(?:[_:]\w{1,80})?"
    "|reason|analysis|plan|cot|internal"
)
_WORDS = "(?:think|thinking|thoughts?|reason|reasoning)"
_BAR, _LOW = "[|\uff5c]", "[_\u2581]"
_LEFT, _RIGHT = r"(?:<|&lt;)\s{0,3}", r"\s{0,3}(?:>|&gt;)"
_OPEN = (
    rf"{_LEFT}(?:\w{{1,20}}[:|])?(?:{_NAMES})(?:\s[^<>\n]{{0,80}})?{_RIGHT}|\[THINK\]|◁think▷"
    rf"|<{_BAR}(?:(?:start|begin){_LOW}(?:of{_LOW})?)?{_WORDS}(?:{_LOW}(?:start|begin))?{_BAR}>"
    r"|<\|inner_prefix\|>|<unused94>|\[unused16\]|<\|channel>thought\b|<\|open\|>think<\|sep\|>"
    r"|(?:<\|message_model\|>\s*)?<\|content_thinking\|>"
    r"|<details\s[^<>]{0,200}\btype=[\"']?reasoning\b[^<>]{0,200}>"
    r"|<details\b[^<>]{0,200}>\s*<summary>[^<]{0,200}\b(?:think|thought|reason)[^<]{0,200}</summary>"
    r"|<\|im_start\|>\s*think(?:ing)?\b"
)
_CLOSE = (
    rf"{_LEFT}\\?/\s{{0,3}}(?:\w{{1,20}}[:|])?(?:{_NAMES}){_RIGHT}|\[/(?:THINK|THINKING|THOUGHTS?|REASONING)\]|◁/think▷"
    rf"|<{_BAR}(?:/|end{_LOW}(?:of{_LOW})?){_WORDS}{_BAR}>|<{_BAR}{_WORDS}{_LOW}end{_BAR}>|<\|inner_suffix\|>"
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
    r"\A(?:<(?P<tag>(?i:answer|response|output|final_answer))>(?P<tagged>.*)</(?P=tag)>"
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
    r"|\[\|endofturn\|\]|<\|endofturn\|>|<\|stop\|>|<\|close\|>message<\|sep\|>|<\|end_of_msg\|>|\[unused10\]"
    r"|<\|end_message\|>|<\|content_model_end_sampling\|>"
    r"|<\uff5chy_place\u2581holder\u2581no\u2581\d\uff5c>))+\s*\Z"
)
_TURN_START = re.compile(
    r"\A\s*(?:<\|im_start\|>\s*assistant\b(?:<\|im_sep\|>)?|<\|assistant\|>|\[\|assistant\|\]"
    r"|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|start_of_role\|>assistant<\|end_of_role\|>"
    r"|<\|im_assistant\|>assistant<\|im_middle\|>|<start_of_turn>model\b|<seed:bos>assistant\b|\]~b\]ai\b"
    r"|<\|START_OF_TURN_TOKEN\|><\|CHATBOT_TOKEN\|>|<\uff5c(?:hy_)?Assistant\uff5c>"
    r"|<\|message_model\|>\s*<\|content_text\|>)\s*"
)
_CHANNEL = re.compile(
    r"(?:<\|start\|>\s*assistant\s*)?"
    r"(?:<\|channel\|>\s*(?P<name>analysis|commentary|final)\b[^<]{0,200}(?:<\|constrain\|>[^<]{0,80})?"
    r"|to=(?P<recipient>[\w.\-]{1,100}))<\|message\|>"
)
"""Of gpt-oss by name, of Muse by recipient."""
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|eom|eot)\|>")
_BARE_CHANNELS = re.compile(
    r"\A\s*+analysis(?=[A-Z\"'\s])(?P<reasoning>.*?)assistant\s*final(?P<answer>.*)\Z", re.DOTALL
)
"""The channels of gpt-oss where a server dropped the special tokens and kept their words."""
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
_WHOLE_FORMS = (_BARE_CHANNELS, _SENTENCES, _FINAL, _STEPS, _TURNS, _FIRST_TURN)
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
    reply = _TURN_START.sub("", text)
    parts = _by_channel(reply) or _by_mark(reply)
    if parts is None:
        return ModelText(_bare(reply))
    answer, reasoning = parts
    return ModelText(_bare(answer), "\n\n".join(filter(None, map(str.strip, reasoning))))


def _bare(answer: str) -> str:
    """The answer without the marks of its turn's ends, or of an answer around it."""
    last = _TURN_END.search(answer, max(0, len(answer) - _NEAR))
    ended = answer[: last.start()] if last else answer
    wrapped = _WRAPPED.match(ended.strip())
    return next(filter(None, wrapped.groups()[1:]), "").strip() if wrapped else ended


def _by_channel(text: str) -> tuple[str, list[str]] | None:
    """Channels and sentences: only the final one is the answer. None if the text has none."""
    if bare := next(filter(None, (form.match(text) for form in _WHOLE_FORMS)), None):
        return (bare["answer"] or "").strip(), [bare["reasoning"]]
    if "<|message|>" not in text:
        return None
    starts = [start for start in islice(_CHANNEL.finditer(text), _MOST_MARKS) if not _is_quoted(text, start)]
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
    marks = [mark for mark in islice(_MARK.finditer(text), _MOST_MARKS) if mark["fence"] or not _is_quoted(text, mark)]
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
        elif not reasons and (_begins_line(text, mark) or mark.start() < last_close):
            answer.append(text[position : mark.start()])
            position, reasons, opening = mark.end(), True, mark["open"].lower()
    if not position:
        return None
    (reasoning if reasons else answer).append(text[position:])
    return "".join(answer).strip(), reasoning


def _ends(own_close: str, opening: str) -> bool:
    return opening.startswith("<details" if own_close.lower() == "</details>" else "<|im_start|>")


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
