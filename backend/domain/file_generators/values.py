"""Generates plausible values of columns; deterministic for a seed."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from random import Random

from backend.domain.file_generators.prompt import EACH_DAY, EACH_DAY_FROM_TODAY, Column

Value = str | int | float | date
NAMES = (
    "王伟", "李娜", "张伟", "刘洋", "陈静", "杨帆", "赵磊", "黄敏", "周杰", "吴倩", "徐强", "孙丽", "马超", "朱琳",
    "胡军", "郭靖", "何平", "高兰", "林峰", "罗曼", "郑爽", "梁宇", "谢芳", "宋佳", "唐亮", "韩雪", "冯涛", "董洁",
)  # fmt: skip
NAMES_EN = (
    "Alice Reed", "Brian Holt", "Carla Vance", "David Moss", "Elena Cruz", "Frank Dale", "Grace Lin", "Henry Ford",
    "Irene Ball", "James Pike", "Karen West", "Liam Stone", "Maria Lopez", "Nathan Cole", "Olga Petrov",
)  # fmt: skip
_DEPARTMENTS = ("人力资源部", "技术部", "市场部", "财务部", "销售部", "工程部")
_PRODUCTS = ("笔记本电脑", "显示器", "键盘", "鼠标", "打印机", "路由器", "耳机", "平板电脑", "摄像头", "移动硬盘")
_PRODUCTS_EN = ("Laptop", "Monitor", "Keyboard", "Mouse", "Printer", "Router", "Headset", "Tablet")
_COMPANIES = ("华远贸易", "东方实业", "星海科技", "北辰物流", "南山食品", "西湖文化", "中原机械", "长江印务")
_PROBLEMS = ("无法登录账户", "订单未按时送达", "退款迟迟未到账", "产品出现质量问题", "客服响应太慢", "发票信息有误")
_FEEDBACK = ("产品体验极佳", "客服响应迅速", "价格略高", "功能符合预期", "界面有待改进", "物流很快")
_TITLES = ("新品上线预告", "用户故事分享", "周末活动回顾", "使用技巧合集", "行业观察", "常见问题解答")
_WORDS = ("办公用品", "差旅", "餐饮", "交通", "设备采购", "通讯", "培训", "租金")
_YES_NO = ("是", "否")
FIXED = date(2024, 6, 17)
"""Date around which dates are generated if the description does not mention today."""

Maker = Callable[[Random, int, date], Value]


def _pick(*choices: str) -> Maker:
    return lambda random, row, day: random.choice(choices)  # noqa: ARG005


def _each(choices: Sequence[str]) -> Maker:
    """Values in sequence, numbered when they run out, so that names are unique."""

    def make(_random: Random, row: int, _day: date) -> Value:
        again = row // len(choices)
        return choices[row % len(choices)] + (str(again + 1) if again else "")

    return make


def _number(low: int, high: int, step: int = 1) -> Maker:
    return lambda random, row, day: random.randrange(low, high + 1, step)  # noqa: ARG005


def _pick_number(*choices: int) -> Maker:
    return lambda random, row, day: random.choice(choices)  # noqa: ARG005


_DATED = re.compile(r"(?i)^date$|日期|时间|到期日|开始|结束")
_BY_NAME: tuple[tuple[str, Maker], ...] = (
    (r"图片", lambda random, row, day: f"picture_{row + 1:02d}.png"),  # noqa: ARG005
    (r"姓名|员工|联系人|负责人|销售人员|成员|候选人", _each(NAMES)),
    (r"(?i)sales.?person|employee|(?:^| )name$|owner", _each(NAMES_EN)),
    (r"部门名称", _each(_DEPARTMENTS)),
    (r"部门", _pick(*_DEPARTMENTS)),
    (r"工号", _number(100_001, 999_999)),
    (r"电话|手机", lambda random, row, day: f"138{random.randrange(10**8):08d}"),  # noqa: ARG005
    (r"(?i)邮箱|email", lambda random, row, day: f"user{row + 1:02d}@example.com"),  # noqa: ARG005
    (r"(?i)region|区域", _pick("华东", "华南", "华北", "华西")),
    (r"平台", _pick("微博", "微信", "抖音")),
    (r"月份", lambda random, row, day: f"{row % 12 + 1}月"),  # noqa: ARG005
    (r"率|ROI|百分比", lambda random, row, day: round(random.uniform(0.01, 0.35), 3)),  # noqa: ARG005
    (r"评分|满意度", _number(1, 5)),
    (r"离职", _pick_number(2, 3, 3, 4, 4, 9)),
    (r"月初人数|月末人数", _number(110, 140)),
    (r"人数|天数", _number(0, 40)),
    (r"(?i)金额|额|工资|薪|奖金|支出|预算|利润|收入|成本|单价|price|amount|revenue", _number(1_000, 99_000, 10)),
    (r"数量|粉丝数|帖子数|任务总数|点赞|评论|分享|互动", _number(10, 900)),
    (r"已完成数", _number(1, 9)),
    (r"(?i)产品|商品|product", _each(_PRODUCTS)),
    (r"公司|客户名称|供应商|客户$", _each(_COMPANIES)),
    (r"(?i)客户ID|customer", lambda random, row, day: f"C{row % 8 + 1:03d}"),  # noqa: ARG005
    (r"(?i)工单ID|行动项ID|编号|^id$", lambda random, row, day: row + 1),  # noqa: ARG005
    (r"问题|投诉|说明|描述|备注", _pick(*_PROBLEMS)),
    (r"反馈|评价", _pick(*_FEEDBACK)),
    (r"标题|文案|主题|内容|名称|任务", _each(_TITLES)),
    (r"链接|(?i:url)", lambda random, row, day: f"https://example.com/material/{row + 1}"),  # noqa: ARG005
    (r"是否|完成状态", _pick(*_YES_NO)),
    (r"状态", _pick("已完成", "进行中", "未开始")),
    (r"类别|类型|项目", _pick(*_WORDS)),
    (r"职位|岗位", _pick("工程师", "专员", "经理", "助理")),
)  # fmt: skip
_RANGE = re.compile(r"(\d+(?:\.\d+)?)(万?)\s*(?:-|到|至|~)\s*(\d+(?:\.\d+)?)(万?)")


def column_values(column: Column, rows: int, seed: str, day: date) -> list[Value]:
    """The values of one column, top to bottom; counted values are spread over it.

    Args:
        column: the column.
        rows: number of values.
        seed: seed of the random generator.
        day: date around which dates are generated.
    """
    random = Random(f"{seed}/{column.name}")
    if column.blank:
        return [""] * rows
    values = [_value(column, random, row, day) for row in range(rows)]
    _put_in(values, column.counts, random)
    return values


def _put_in(values: list[Value], counts: Mapping[str, int], random: Random) -> None:
    """Makes every counted value occur often enough, replacing values that occur several times."""
    for value, number in counts.items():
        free = [row for row, known in enumerate(values) if known not in counts]
        free.sort(key=lambda row: (-values.count(values[row]), random.random()))
        spare = [row for row, known in enumerate(values) if known != value and row not in free]
        for row in (free + spare)[: max(0, number - values.count(value))]:
            values[row] = value


def _value(column: Column, random: Random, row: int, day: date) -> Value:
    if column.choices:
        several = len(column.choices)
        return column.choices[row] if row < several else random.choice(column.choices)
    if _DATED.search(column.name):
        return _date(column.note, random, row, day)
    span = _RANGE.search(column.note)
    if span:
        low, high = (float(span.group(n)) * (10_000 if span.group(n + 1) else 1) for n in (1, 3))
        return random.randint(int(low), max(int(low), int(high)))
    digits = re.search(r"([1-9])位", column.note)
    if digits:
        return random.randrange(10 ** (int(digits.group(1)) - 1), 10 ** int(digits.group(1)))
    for pattern, make in _BY_NAME:
        if re.search(pattern, column.name):
            return _in_english(column.name, make(random, row, day), row)
    return f"{column.name} {row + 1}"


def _date(note: str, random: Random, row: int, day: date) -> date:
    """Consecutive days from today or January 1; in the next two weeks (`未来`); or in the last 30 days."""
    if note == EACH_DAY_FROM_TODAY:
        return day + timedelta(days=row)
    if note == EACH_DAY:
        return date(day.year, 1, 1) + timedelta(days=row)
    if "未来" in note:
        return day + timedelta(days=random.randint(0, 13))
    back = re.search(r"近(\d{1,3})天", note)
    return day - timedelta(days=random.randrange(max(1, int(back.group(1))) if back else 30))


def _in_english(name: str, value: Value, row: int) -> Value:
    """Uses English words under an English heading."""
    if not name.isascii() or not isinstance(value, str) or value.isascii():
        return value
    if "product" in name.lower():
        again = row // len(_PRODUCTS_EN)
        return _PRODUCTS_EN[row % len(_PRODUCTS_EN)] + (str(again + 1) if again else "")
    if "region" in name.lower():
        return ("East", "West", "North", "South")[row % 4]
    return f"{name} {row + 1}"
