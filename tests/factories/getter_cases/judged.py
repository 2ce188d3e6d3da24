"""Getters of judgements."""

from tests.factories.desktops import linux
from tests.factories.getter_cases import GetterCase
from tests.factories.starter_tasks import FakeContext


def with_judge() -> FakeContext:
    context = linux()
    context.judged = b'{"votes": []}'
    return context


CASES = {"vlm_judge": GetterCase(parameters={}, found=with_judge, value={"votes": []})}
