"""Text of a document from its description: title, paragraphs, fields, list."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from backend.domain.file_generators.prompt import QUOTED, number_of_rows, quoted_texts
from backend.domain.file_generators.values import NAMES

_TITLED = re.compile(r"(?:主?标题(?:为)?[‘“']([^’”']+)[’”'])|(?:[‘“']([^’”']+)[’”']标题)")
_PAIRS = re.compile(r"([^\s，,。；;（(、：:]{1,12})[：:]\s*([^，,。；;、）)]{1,40})")
_FIELDS = re.compile(r"字段[：:]\s*([^。；;]+)")
_PLACEHOLDER = re.compile(r"\[[^\[\]]{1,30}\]")
_PAGES = re.compile(r"页数不少于(\d{1,2})页")
_HEADINGS = re.compile(r"(?:内容包括|包含|包括)([^，。；;‘“']*[、和][^，。；;‘“']*)")
_SENTENCES = (
    "本文件用于内部沟通，请在使用前核对其中的信息。",
    "相关工作按照既定计划推进，各环节均有专人负责。",
    "如有疑问，请及时与负责人联系并记录处理结果。",
    "本阶段的主要目标已经明确，后续安排将另行通知。",
    "现将有关情况说明如下，供各部门参考。",
)
_CLAUSES = ("工作内容与地点", "工作时间与休假", "劳动报酬", "社会保险", "保密义务", "合同的变更与解除")
_LINKS = (
    "https://upload.wikimedia.org/wikipedia/commons/a/a9/Example.jpg",
    "https://upload.wikimedia.org/wikipedia/commons/4/47/PNG_transparency_demonstration_1.png",
    "https://example.com/image.jpg",
    "https://example.com/missing.png",
    "https://csdn.net/private.jpg",
)
_MILESTONES = (
    ("立项", "100%"),
    ("需求分析", "85%"),
    ("开发", "60%"),
    ("测试", "40%"),
    ("部署", "20%"),
    ("验收", "0%"),
)
_LONGEST_HEADING = 16  # characters
_SHORTEST_REMARK = 4
_REMARKS = (
    "产品体验极佳", "客服响应迅速", "交付准时", "功能符合预期", "界面有待改进", "The pricing is too expensive for us",
    "We find the pricing costly", "The pricing is fair", "Pricing information is hard to find", "Setup was easy",
)  # fmt: skip


@dataclass(frozen=True)
class Prose:
    """A document: title, headed sections of paragraphs, fields with values, numbered items, a page minimum."""

    title: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]
    fields: tuple[tuple[str, str], ...] = ()
    items: tuple[str, ...] = ()
    pages: int = 1

    def lines(self) -> list[str]:
        """The document as lines, the title first."""
        lines = [self.title]
        for heading, paragraphs in self.sections:
            lines += [*([heading] if heading else []), *paragraphs]
        return [*lines, *(f"{name}：{value}" for name, value in self.fields), *self.items]


def prose_of(prompts: Sequence[str], name: str, seed: str) -> Prose:
    """The document that all descriptions of one file specify; quoted text appears verbatim."""
    prompt = "；".join(prompts)
    random = Random(seed)
    titled = _TITLED.search(prompt)
    title = (titled.group(1) or titled.group(2)) if titled else name.rsplit(".", 1)[0].replace("_", " ")
    pages = _PAGES.search(prompt)
    headings = _headings(prompt)
    quotes = [text for text in quoted_texts(prompt) if text != title and text not in headings]
    fields = _fields(prompt, name)
    sections: list[tuple[str, tuple[str, ...]]] = [(heading, (random.choice(_SENTENCES),)) for heading in headings]
    sections.append(("", tuple(_paragraphs(prompt, quotes, random))))
    return Prose(
        title=title,
        sections=tuple(sections),
        fields=tuple(fields),
        items=tuple(_items(prompt, quotes, random)),
        pages=min(20, int(pages.group(1))) if pages else 1,
    )


def _headings(prompt: str) -> list[str]:
    named = [
        text for text in quoted_texts(prompt) if re.search(rf"[‘“'](?:{re.escape(text)})[’”'](?:章节|部分)", prompt)
    ]
    listed = _HEADINGS.search(prompt)
    words = re.split(r"[、和]", listed.group(1)) if listed else []
    titles = [re.sub(r"等.*$|的.*$", "", word).strip() for word in words if not re.search(r"^\d|列|字段", word)]
    titles = titles if "结构" in prompt else [word for word in titles if not re.search(r"标题|正文|文字", word)]
    clauses = list(_CLAUSES) if "劳动合同" in prompt else []
    return list(dict.fromkeys([*named, *(word for word in titles if 1 < len(word) <= _LONGEST_HEADING), *clauses]))[:12]


def _fields(prompt: str, name: str) -> list[tuple[str, str]]:
    empty = _FIELDS.search(prompt)
    if empty:
        return [(name.strip(), "") for name in re.split(r"[、,，]", empty.group(1)) if name.strip()][:20]
    plain = re.sub(r"(?:例如|如|并明确写出)\s*[：:]?\s*", "，", QUOTED.sub("", prompt))
    pairs = [(label.strip(), value.strip()) for label, value in _PAIRS.findall(plain)]
    if "里程碑" in prompt:
        pairs = [(label, f"{share}%") for label, share in re.findall(r"(\w{2,8})\s(\d{1,3})%", prompt)]
        pairs = [*pairs, *(milestone for milestone in _MILESTONES if milestone[0] not in dict(pairs))][
            : number_of_rows(prompt) or 5
        ]
    blank = [(text.rstrip("：:"), "") for text in quoted_texts(prompt) if text.endswith(("：", ":"))]
    person = next((person for person in NAMES if person in name), NAMES[0])
    people = [("姓名", person), ("日期", "2024-06-17"), ("总金额", "1,280.00 元")] if "报销单" in prompt else []
    return list(dict.fromkeys([*pairs, *blank, *people]))[:30]


def _paragraphs(prompt: str, quotes: Sequence[str], random: Random) -> list[str]:
    dollars = re.findall(r"\d[\d,]*美元", prompt)
    paragraphs = [f"付款条款：甲方应支付 {amount}。" for amount in dollars]
    paragraphs += [text for text in quotes if not text.endswith(("：", ":"))]
    paragraphs += [f"{random.choice(_SENTENCES)[:-1]}：{placeholder}。" for placeholder in _PLACEHOLDER.findall(prompt)]
    paragraphs += [f"图片引用：{link}" for link in _LINKS] if "链接" in prompt else []
    number = 3 if re.search(r"三段", prompt) else 2
    return [*paragraphs, *(random.choice(_SENTENCES) for _ in range(number))]


def _items(prompt: str, quotes: Sequence[str], random: Random) -> list[str]:
    """A numbered list if a number of tasks, remarks or milestones is required."""
    if not re.search(r"反馈|行动项|待办|任务", prompt):
        return []
    number = min(50, number_of_rows(prompt) or _requested_count(prompt))
    remarks = [text for text in quotes if len(text) >= _SHORTEST_REMARK] if "反馈" in prompt else []
    kinds = (
        [*remarks, *_REMARKS]
        if "反馈" in prompt
        else ["更新项目计划", "整理会议记录", "联系供应商", "准备演示材料", "核对预算"]
    )
    team = re.search(r"(\d{1,3})条分配给[‘“']([^’”']+)[’”']", prompt)
    owners = [team.group(2)] * min(number, int(team.group(1))) if team else []
    items = []
    for row in range(number):
        owner = owners[row] if row < len(owners) else random.choice(NAMES)
        text = kinds[row % len(kinds)]
        items.append(f"{row + 1}. {text}" + ("" if "反馈" in prompt else f"（负责人：{owner}）"))
    return items


def _requested_count(prompt: str) -> int:
    span = re.search(r"(\d{1,2})(?:-\d{1,2})?\s*(?:项|条)", prompt)
    return int(span.group(1)) if span else 5
