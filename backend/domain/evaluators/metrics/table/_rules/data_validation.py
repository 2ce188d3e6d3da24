"""`data_validation`: data validations of cells."""

from typing import Any, Literal

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.table._books import Rule, SheetReference, WorkbookPair
from backend.domain.evaluators.metrics.table._matching import ValueRule
from backend.domain.formats.sheet import Sheet

Attribute = Literal[
    "ranges", "sqref", "cells", "type", "formula1", "formula2", "operator", "allowBlank", "allow_blank", "showDropDown",
    "hide_drop_down", "showInputMessage", "showErrorMessage", "error", "errorTitle", "errorStyle", "prompt",
    "promptTitle", "imeMode",
]  # fmt: skip
_SAME = {"ranges": "sqref", "cells": "sqref", "allow_blank": "allowBlank", "hide_drop_down": "showDropDown"}
_DEFAULTS = {"type": "none", "operator": "between", "errorStyle": "stop", "imeMode": "noControl"}
"""Values that programs omit or write (18.3.1.33)."""
_FLAGS = {"allowBlank", "showDropDown", "showInputMessage", "showErrorMessage"}


class DataValidationRule(Rule):
    """The sheet's validations are exactly those described.

    Upstream accepts the right number of validations, even if all match the first description.

    Attributes:
        dv_props: one description each: attribute -> comparison.
    """

    type: Literal["data_validation"]
    sheet_idx: SheetReference
    dv_props: tuple[dict[Attribute, ValueRule], ...]

    def judge(self, books: WorkbookPair) -> list[str]:
        sheet = books.sheet(self.sheet_idx)
        if sheet is None:
            return [books.lacks(self.sheet_idx)]
        actual = validations(sheet, extended=not books.strict)
        fits = [
            [_fits(validation, description, strict=books.strict) for description in self.dv_props]
            for validation in actual
        ]
        reasons = [
            f"a validation is {short(validation)}" for validation, row in zip(actual, fits, strict=True) if not any(row)
        ]
        if books.strict:
            return reasons if len(actual) >= len(self.dv_props) else [f"there are {len(actual)} validations"]
        missing = [number for number in range(len(self.dv_props)) if not any(row[number] for row in fits)]
        return reasons + [f"no validation matches description {number + 1} says" for number in missing]


def validations(sheet: Sheet, *, extended: bool) -> list[dict[str, Any]]:
    """Attributes of each validation; `extended`: also Excel's separate ones, which refer to other sheets."""
    items = sheet.root.findall("{*}dataValidations/{*}dataValidation")
    if extended:
        items += sheet.root.iterfind("{*}extLst//{*}dataValidations/{*}dataValidation")
    return [_validation(item) for item in items]


def _validation(item: Any) -> dict[str, Any]:
    values: dict[str, Any] = dict.fromkeys(("type", "operator", "error", "errorTitle", "errorStyle", "prompt"))
    values |= {str(key): value for key, value in item.items()}
    values |= {flag: item.get(flag, "0") not in {"0", "false"} for flag in _FLAGS}
    for name in ("formula1", "formula2"):
        text = "".join(item.find(f"{{*}}{name}").itertext()) if item.find(f"{{*}}{name}") is not None else None
        values[name] = text
    values["sqref"] = item.get("sqref") or item.findtext("{*}sqref") or ""
    return values


def _fits(validation: dict[str, Any], description: dict[Attribute, ValueRule], *, strict: bool) -> bool:
    return all(
        any(rule.matches(value, strict=strict) for value in _values(validation, _SAME.get(name, name), strict=strict))
        for name, rule in description.items()
    )


def _values(validation: dict[str, Any], name: str, *, strict: bool) -> list[Any]:
    """The value of an attribute in each form that it may have."""
    value = validation.get(name)
    default = _DEFAULTS.get(name)
    return [value] if strict or default is None or value not in {None, default} else [None, default]
