import pytest

from worker.local.namespaces import may_mount


class TestMayMount:
    @pytest.mark.parametrize(
        ("capabilities", "wanted"),
        [
            ("000001fffeffffff", True),
            ("0000000000200000", True),
            ("00000000a80425fb", False),
            ("0000000000000000", False),
        ],
        ids=["root", "only that one", "root in Docker", "ordinary user"],
    )
    def test_reads_the_effective_set(self, capabilities: str, wanted: bool) -> None:  # noqa: FBT001
        status = f"Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t{capabilities}\nCapBnd:\t000001ffffffffff\n"
        assert may_mount(status) is wanted
