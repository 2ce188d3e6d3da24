"""Getters of OmniBench's checks."""

from backend.domain.evaluators.facts import FactValue
from tests.factories.desktops import linux
from tests.factories.getter_cases import GetterCase

A = "/home/user/a.txt"
FACT = {"type": "check_file_exists", "file_path": A}

CASES = {
    "check_file_exists@omnibench": GetterCase(
        parameters={"file_path": A},
        found=lambda: linux({A: b"more than a byte"}),
        value=True,
        absent=linux,
        absent_value=False,
    ),
    "facts@omnibench": GetterCase(
        parameters={"facts": [FACT]},
        found=lambda: linux({A: b"A"}),
        value=[FactValue(fact=FACT, value=True)],
        absent=linux,
        absent_value=[FactValue(fact=FACT, value=False)],
    ),
}
