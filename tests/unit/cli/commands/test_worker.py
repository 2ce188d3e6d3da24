from backend.cli.commands.worker import slots


class TestSlots:
    def test_counts_by_provider_and_state(self) -> None:
        found = [
            {"provider": "local", "state": "free"},
            {"provider": "local", "state": "used"},
            {"provider": "local", "state": "free"},
            {"provider": "qemu", "state": "broken"},
        ]
        assert slots(found) == "local: 2 free, 1 used; qemu: 1 broken"

    def test_none(self) -> None:
        assert slots([]) == ""
