"""Finds the cases by which plug-ins are tried: modules of a package, each with `CASES`."""

import importlib
import pkgutil
from collections.abc import Iterable
from typing import Any

from backend.domain.registry import COMMON


def collected(package: str, path: Iterable[str]) -> dict[tuple[str, str], Any]:
    """Every case by (dialect, name). A module's `CASES` has keys `name` or, for a dialect's own, `name@dialect`.

    Args:
        package: name of the package; its modules that begin with an underscore have no cases.
        path: the package's `__path__`.
    """
    cases_by_name: dict[tuple[str, str], Any] = {}
    for module in pkgutil.iter_modules(path, f"{package}."):
        if module.name.rsplit(".", 1)[1].startswith("_"):
            continue
        for key, case in importlib.import_module(module.name).CASES.items():
            name, _, dialect = key.partition("@")
            place = (dialect or COMMON, name)
            if place in cases_by_name:
                raise ValueError(f"{key} has two cases, one of them in {module.name}")
            cases_by_name[place] = case
    return cases_by_name
