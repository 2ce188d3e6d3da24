"""Validates an answer file before Windows Setup sees it: components, passes, settings and their consistency.

The rules are in `vm_images/windows/unattend.schema.yaml`, written from Microsoft's documentation. Microsoft's own
catalogue is part of each installation medium, but only its Windows tools can read it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

import yaml
from lxml import etree
from pydantic import Field

from backend.domain.model.task import Frozen
from worker.images.windows.autounattend import UNATTEND, WCM

FILE = Path(__file__).resolve().parents[3] / "vm_images" / "windows" / "unattend.schema.yaml"
_IDENTITY = {"processorArchitecture": "amd64", "publicKeyToken": "31bf3856ad364e35", "language": "neutral"}


class SettingSchema(Frozen):
    """Allowed values of one setting; the head of the file explains each field."""

    of: dict[str, "SettingSchema"] = Field(default={})
    type: Literal["text", "boolean", "integer"] = "text"
    values: tuple[str, ...] = ()
    least: int = Field(default=0, alias="from")
    to: int = 2**32 - 1
    most: int = 1024
    required: bool = False
    required_in: tuple[str, ...] = ()
    several: bool = False


class Component(Frozen):
    """A component: allowed passes, required passes, and its settings."""

    source: str = Field(pattern=r"^https://learn\.microsoft\.com/")
    passes: tuple[str, ...]
    required_in: tuple[str, ...]
    settings: dict[str, SettingSchema]


class Schema(Frozen):
    """Schema of Autounattend.xml."""

    passes: tuple[str, ...]
    components: dict[str, Component]


@cache
def read_schema(file: Path = FILE) -> Schema:
    """The rules. Raises OSError or pydantic's ValidationError: they are ours, and tested."""
    return Schema.model_validate(yaml.safe_load(file.read_text()))


def faults(answers: bytes, schema: Schema | None = None) -> list[str]:
    """Faults of an answer file, each with its place; empty if it is valid."""
    try:
        root = etree.fromstring(answers, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError as error:
        return [f"not valid XML: {error}"]
    if root.tag != f"{{{UNATTEND}}}unattend":
        return [f"its root is {root.tag}, not unattend of {UNATTEND}"]
    problems = list(_file(root, schema or read_schema()))
    return problems or list(_agreement(root))


def _file(root: etree._Element, schema: Schema) -> Iterator[str]:
    names = [str(settings.get("pass")) for settings in root]
    yield from (
        f"settings of the pass {name} occur {count} times" for name, count in Counter(names).items() if count > 1
    )
    for settings, name in zip(root, names, strict=True):
        if name not in schema.passes:
            yield f"unknown pass {name}"
            continue
        yield from _pass(settings, name, schema)
    for name, component in schema.components.items():
        yield from (f"{pass_name}: {name} is missing" for pass_name in component.required_in if pass_name not in names)


def _pass(settings: etree._Element, name: str, schema: Schema) -> Iterator[str]:
    present = [str(setting.get("name")) for setting in settings]
    yield from (f"{name}: {child} occurs {count} times" for child, count in Counter(present).items() if count > 1)
    for element, title in zip(settings, present, strict=True):
        where, component = f"{name}/{title}", schema.components.get(title)
        if component is None:
            yield f"{where}: unknown component"
            continue
        if name not in component.passes:
            yield f"{where}: only allowed in {', '.join(component.passes)}"
        yield from (f"{where}: {key} must be {value}" for key, value in _IDENTITY.items() if element.get(key) != value)
        yield from _children(element, component.settings, where, name)
    for title, component in schema.components.items():
        if name in component.required_in and title not in present:
            yield f"{name}: {title} is missing"


def _children(parent: etree._Element, settings: Mapping[str, SettingSchema], where: str, stage: str) -> Iterator[str]:
    tags = [etree.QName(child).localname for child in parent]
    for name, setting in settings.items():
        if name not in tags and (setting.required or stage in setting.required_in):
            yield f"{where}/{name}: missing"
        if tags.count(name) > 1 and not setting.several:
            yield f"{where}/{name}: occurs {tags.count(name)} times"
    for child, tag in zip(parent, tags, strict=True):
        path = f"{where}/{tag}"
        if tag not in settings or etree.QName(child).namespace != UNATTEND:
            yield f"{path}: unknown setting"
            continue
        if settings[tag].several and child.get(f"{{{WCM}}}action") != "add":
            yield f'{path}: wcm:action="add" is missing'
        yield from (
            _children(child, settings[tag].of, path, stage) if settings[tag].of else _value(child, settings[tag], path)
        )
    orders = [order.text or "" for child in parent for order in child.findall(f"{{{UNATTEND}}}Order")]
    if orders != [str(number) for number in range(1, len(orders) + 1)]:
        yield f"{where}: Order has {', '.join(orders)}, not 1, 2, 3"


def _value(element: etree._Element, setting: SettingSchema, where: str) -> Iterator[str]:
    text = (element.text or "").strip()
    if len(element):
        yield f"{where}: has nested settings, expected a value"
    elif setting.values and text not in setting.values:
        yield f"{where}: {text!r} is not one of {', '.join(setting.values)}"
    elif setting.type == "boolean" and text not in {"true", "false"}:
        yield f"{where}: {text!r} is neither true nor false"
    elif setting.type == "integer" and not (text.isdecimal() and setting.least <= int(text) <= setting.to):
        yield f"{where}: {text!r} is not a number from {setting.least} to {setting.to}"
    elif not 0 < len(text) <= setting.most:
        yield f"{where}: has {len(text)} characters, expected 1 to {setting.most}"


def _agreement(root: etree._Element) -> Iterator[str]:
    """Checks beyond the schema: names and numbers that refer to each other."""
    created = _texts(root, "CreatePartition", "Order")
    yield from (
        f"ModifyPartition changes partition {number}, which is not created"
        for number in _texts(root, "ModifyPartition", "PartitionID")
        if number not in created
    )
    target = _texts(root, "InstallTo", "PartitionID")[0]
    if target not in created:
        yield f"InstallTo names partition {target}, which is not created"
    *early, _last = _all(root, "CreatePartition")
    if any(_texts(element, "", "Extend") == ["true"] for element in early):
        yield "a partition that takes the rest of the disk precedes another"
    for element in _all(root, "CreatePartition"):
        if bool(_texts(element, "", "Size")) == (_texts(element, "", "Extend") == ["true"]):
            yield "a partition needs either Size or Extend"
    yield from _logon(root)


def _logon(root: etree._Element) -> Iterator[str]:
    accounts = dict(zip(_texts(root, "LocalAccount", "Name"), _passwords(root, "LocalAccount"), strict=True))
    user = _texts(root, "AutoLogon", "Username")[0]
    if user not in accounts:
        yield f"AutoLogon names the user {user}, who has no LocalAccount"
    elif [accounts[user]] != _passwords(root, "AutoLogon"):
        yield "AutoLogon's password differs from the user's LocalAccount"


def _passwords(root: etree._Element, holder: str) -> list[str]:
    return [
        _texts(password, "", "Value")[0] for element in _all(root, holder) for password in _all(element, "Password")
    ]


def _all(root: etree._Element, name: str) -> list[etree._Element]:
    return list(root.iter(f"{{{UNATTEND}}}{name}"))


def _texts(root: etree._Element, holder: str, name: str) -> list[str]:
    """Texts of the settings called `name` directly below each `holder`, or below `root` itself."""
    holders = _all(root, holder) if holder else [root]
    return [cast("Any", child).text or "" for parent in holders for child in parent.findall(f"{{{UNATTEND}}}{name}")]
