"""Parses descriptions of files by rules. Chinese and English."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_ROWS = 1000
MAX_COLUMNS = 40
DEFAULT_ROWS = 10
_PAIR = 2  # columns of a list of names with one number each
_QUOTES = r"[‘’“”'\"「」]"
QUOTED = re.compile(rf"{_QUOTES}([^‘’“”'\"「」]{{1,80}}){_QUOTES}")
_NOTE = re.compile(r"（([^（）]*)）|\(([^()]*)\)")
_ROWS = re.compile(r"(\d{1,5})\s*(?:-\s*\d{1,4}\s*)?(?:行|条|名|个月|家|个部门|个客户|个里程碑|人|rows|records)")
_TOTAL = re.compile(r"共\s*(\d{1,5})\s*行")
_DAILY = re.compile(r"(\d{1,2})-(\d{1,2})月各日")
_LETTERED = re.compile(r"[A-Z]列为([^，,。；;]+)")
_IN_BRACKETS = re.compile(r"列标题\x00(\d+)\x00")
_ONE_KIND = re.compile(r"([^，,。；;、包含大]{2,6}类别)\x00(\d+)\x00的预算表")
_APPENDED = (re.compile(r"最后一列是(\w+?)(?:百分比)?(?:$|[，。])"), re.compile(r"(预留\w+?)插入列"))
_MARKED = (
    re.compile(r"(?:列|列标题|列包括|列为|包含列|包含列标题|字段|包含字段)(?:（[^（）]*）)?[：:]\s*([^；;。，]+)"),
    re.compile(r"(?:列包括|列标题为|每条有)([^；;。，]+)"),
    re.compile(r"(?:包含|包括|含有|含|有)([^；;。，]*、[^；;。，]*?)(?:等)?[两三四五六]?(?:列|字段|指标)"),
    re.compile(r"(?:包含|包括|含|与)([^；;。，]*?)(?:等)?[两三四五六]?(?:列|字段|指标)(?:[，,。；;]|的|$|等|数据|，)"),
    re.compile(r"(?:包含|包括|含有|含)([^；;。，]*[、和][^；;。，]*)"),
    re.compile(r"([^；;。，]{1,20}与[^；;。，]{1,20})的映射表"),
)
_COUNTED = (
    re.compile(rf"(?P<n>\d{{1,4}})(?:-\d+)?\s*(?:行|人|家|个|条)(?P<column>\w*?)(?:属于|为){_QUOTES}?(?P<value>[^’”'\"；;。，、]+)"),
    re.compile(r"其中(?P<value>\w+?)有\d+-(?P<n>\d+)条记录"),
    re.compile(r"包含(?P<value>\w+?)(?P<column>平台)的多行"),
)  # fmt: skip
_SEVERAL = 3
"""Rows with a value if the description only says that some exist."""
EACH_DAY, EACH_DAY_FROM_TODAY = "各日", "从今天起"
"""Our notes for a column of consecutive dates."""
_LONGEST_VALUE = 20  # characters
_BLANK = ("留空", "空白", "预留")


@dataclass
class Column:
    """One column of a table.

    Attributes:
        name: its heading.
        note: text in brackets after it.
        choices: the allowed values, if described.
        counts: value -> minimum number of rows with it.
        blank: whether it stays empty.
    """

    name: str
    note: str = ""
    choices: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def blank(self) -> bool:
        """Whether the column stays empty."""
        return any(word in self.note for word in _BLANK) or self.name.startswith(_BLANK)


@dataclass
class Table:
    """A described table.

    Attributes:
        sheet: name of its sheet; empty = default.
        rows: number of rows.
        total: whether there is a sum below; `shown_total`: a wrong sum to show instead.
    """

    columns: list[Column]
    rows: int
    sheet: str = ""
    total: bool = False
    shown_total: int | None = None
    real_total: int | None = None


def quoted_texts(prompt: str) -> list[str]:
    """Quoted texts, distinct, in order."""
    return list(dict.fromkeys(QUOTED.findall(prompt)))


def number_of_rows(prompt: str) -> int | None:
    """Number of rows that a description requires; the first number of a range, None if there is none."""
    daily = _DAILY.search(prompt)
    if daily:
        return max(0, min(MAX_ROWS, 30 * (int(daily.group(2)) - int(daily.group(1)) + 1)))
    before = re.split(r"其中|确保", prompt, maxsplit=1)[0]
    match = _TOTAL.search(prompt) or _ROWS.search(before)
    return min(int(match.group(1)), MAX_ROWS) if match else None


def table_of(prompt: str, like: str = "") -> Table:
    """The table in a description.

    Args:
        prompt: the description.
        like: the description that "the same as above" refers to; provides the columns if `prompt` has none.
    """
    columns = _columns(prompt)
    if not columns and like:
        model = table_of(like)
        return Table(model.columns, number_of_rows(prompt) or model.rows, model.sheet, model.total)
    columns = columns or [Column("编号"), Column("名称"), Column("数量")]
    for column in columns:
        column.choices = column.choices or _choices(column, prompt)
        if "日期" in column.name:
            column.note = (
                EACH_DAY if _DAILY.search(prompt) else EACH_DAY_FROM_TODAY if "今天的日期" in prompt else column.note
            )
    _count(columns, prompt)
    wrong = re.search(r"实际总和为(\d{1,12})，?但显示为(\d{1,12})", prompt)
    sheet = re.search(rf"{_QUOTES}([^‘’“”'\"]{{1,30}}){_QUOTES}工作表", prompt)
    return Table(
        columns=columns,
        rows=_rows(columns, prompt),
        sheet=sheet.group(1) if sheet else "",
        total=bool(re.search(r"汇总行|汇总单元格|总和单元格", prompt)),
        shown_total=int(wrong.group(2)) if wrong else None,
        real_total=int(wrong.group(1)) if wrong else None,
    )


def _rows(columns: list[Column], prompt: str) -> int:
    """Number of rows: as required, else one per value of a leading column, and at least the counted values."""
    rows = number_of_rows(prompt)
    if rows is None:
        rows = len(columns[0].choices) if columns[0].choices and len(columns) <= _PAIR else DEFAULT_ROWS
    return min(MAX_ROWS, max(rows, *(sum(column.counts.values()) for column in columns)))


def _columns(prompt: str) -> list[Column]:
    notes: list[str] = []

    def keep(match: "re.Match[str]") -> str:
        notes.append(match.group(1) or match.group(2) or "")
        return f"\x00{len(notes) - 1}\x00"

    plain = _NOTE.sub(keep, prompt)
    for names in (*_special(plain, notes), *(_marked_names(plain, pattern) for pattern in _MARKED)):
        columns = [_column(name, notes) for name in names]
        columns = [column for column in columns if column.name][:MAX_COLUMNS]
        if len(columns) > 1 or (columns and "列" in prompt):
            added = [_column(match.group(1), notes) for pattern in _APPENDED if (match := pattern.search(plain))]
            return _unique([*(part for column in columns for part in _spread(column)), *added])
    return []


def _spread(column: Column) -> list[Column]:
    """Expands `互动量（点赞、评论、分享）` into one column each."""
    return [Column(name) for name in column.choices] if column.name.endswith("量") and column.choices else [column]


def _special(plain: str, notes: list[str]) -> Iterator[list[str]]:
    """Forms that are not a list after a word: `A列为X`, `列标题（X、Y）`, `费用类别（X、Y）的预算表`."""
    yield _LETTERED.findall(plain)
    bracketed = _IN_BRACKETS.search(plain)
    yield notes[int(bracketed.group(1))].split("、") if bracketed else []
    kind = _ONE_KIND.search(plain)
    yield [f"{kind.group(1)}\x00{kind.group(2)}\x00", "金额"] if kind else []


def _marked_names(plain: str, pattern: "re.Pattern[str]") -> list[str]:
    match = pattern.search(plain)
    if match is None:
        return []
    text = match.group(1)
    # "含有 X 的表格": the text before the list does not belong to it.
    text = re.split(r"(?:包含|包括|其中|数据，|：|:)", text)[-1]
    return [name for name in re.split(r"[、,，]|和(?!鲸)|与", text) if name.strip()]


def _column(text: str, notes: list[str]) -> Column:
    note = " ".join(notes[int(number)] for number in re.findall(r"\x00(\d+)\x00", text))
    name = re.sub(r"\x00\d+\x00", "", text)
    name = re.sub(_QUOTES, "", name).strip().removeprefix("生成")
    name = re.sub(r"(?:等|[两三四五六]?列|[两三四五]个字段|字段|指标|数据|表格|的.*)$", "", name).strip()
    return Column(name if len(name) <= _LONGEST_VALUE else "", note, _bracketed_values(note))


def _bracketed_values(note: str) -> tuple[str, ...]:
    """Values in brackets: `如A、B、C等`, `高/中/低`, `Oct, Nov, Dec`. Ranges and formats are excluded."""
    text = re.sub(r"^(?:如|含|例如|部分为)|等$", "", note).strip()
    if (
        not text
        or re.search(r"\d\s*-\s*\d|位|格式|数字|范围|之间|至少|随机|中文名", text)
        or any(w in text for w in _BLANK)
    ):
        return ()
    values = [re.sub(_QUOTES, "", part).strip() for part in re.split(r"[、/,，]", text)]
    values = [value for value in values if value and len(value) <= _LONGEST_VALUE]
    return tuple(values) if len(values) > 1 or note.startswith(("如", "含", "部分为")) else ()


def _choices(column: Column, prompt: str) -> tuple[str, ...]:
    """Values that the description gives for a column elsewhere: `部门包括A、B`, `Region列包含East、West`."""
    match = re.search(rf"{re.escape(column.name)}(?:列|值)?(?:包括|包含|为)[：:]?([^；;。，]*[、][^；;。，]*)", prompt)
    if match is None:
        span = re.search(rf"{re.escape(column.name)}值为([A-Z])-([A-Z])", prompt)
        return tuple(map(chr, range(ord(span.group(1)), ord(span.group(2)) + 1))) if span else ()
    for value, number in re.findall(r"([^、（）()]+)[（(](\d+)[人行条][）)]", match.group(1)):
        column.counts[value] = int(number)
    values = [_NOTE.sub("", re.sub(_QUOTES, "", part)) for part in match.group(1).split("、")]
    values = [re.sub(r"等.*$", "", value).strip() for value in values]
    return tuple(value for value in values if value and len(value) <= _LONGEST_VALUE)


def _count(columns: list[Column], prompt: str) -> None:
    """`至少5行为X`: a minimum number of rows with a value, in the column that it belongs to."""
    for pattern in _COUNTED:
        for match in pattern.finditer(prompt):
            groups = match.groupdict()
            value = re.sub(r"(?<=.)(?:员工|数据|类别|部门|记录|的).*$", "", groups["value"].strip())
            column = _owner(columns, groups.get("column") or "", value)
            if column is not None and 0 < len(value) <= _LONGEST_VALUE:
                column.counts.setdefault(value, min(int(groups.get("n") or _SEVERAL), MAX_ROWS))
    for value in quoted_texts(prompt):
        column = _owner(columns, "", value) if re.search(rf"包含{_QUOTES}{re.escape(value)}", prompt) else None
        if column is not None and value not in [column.name for column in columns]:
            column.counts.setdefault(value, 1)
    for column in columns:
        if column.note.startswith(("含", "部分为")):
            often = _SEVERAL if column.note.startswith("部分为") else 1
            column.counts = {**dict.fromkeys(column.choices, often), **column.counts}
            column.choices = column.choices if len(column.choices) > 1 else ()
        fixed = re.search(rf"{re.escape(column.name[-2:])}为([\d,]{{3,12}})", prompt)
        if fixed and "," in fixed.group(1):
            column.choices = (fixed.group(1).replace(",", ""),)


def _owner(columns: list[Column], name: str, value: str) -> Column | None:
    for column in columns:
        if column.name == name or value in column.choices:
            return column
    ends = {"部": "部门", "团队": "部门", "科学": "部门", "用品": "类别", "VIP": "等级", "Chen": "姓名", "期": "状态"}
    for end, part in ends.items():
        if value.endswith(end):
            return next((column for column in columns if part in column.name), None)
    return None


def _unique(columns: list[Column]) -> list[Column]:
    return list({column.name: column for column in columns}.values())
