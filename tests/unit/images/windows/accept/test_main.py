from pathlib import Path

from worker.images.windows.accept.__main__ import template_section
from worker.qemu.templates import Template


class TestFrozen:
    def test_reports_template_times_and_sizes(self) -> None:
        made = Template(
            place=Path("t"),
            key="k",
            image="windows",
            screen=(1440, 900),
            secret="s" * 16,
            seconds={"boot": 40.0, "freeze": 2.5},
            sizes={"memory": 2**33},
        )
        section = template_section(made)
        assert section.ok
        assert section.facts == {"seconds": {"boot": 40.0, "freeze": 2.5}, "bytes": {"memory": 2**33}}
