from backend.cli.commands.worker import slots, why


class TestSlots:
    def test_counts_by_provider_and_state(self) -> None:
        found = [
            {"provider": "local", "state": "free"},
            {"provider": "local", "state": "used"},
            {"provider": "local", "state": "free"},
            {"provider": "qemu", "state": "broken"},
        ]
        assert slots(found) == "local: 2 free, 1 used; qemu: 1 broken"

    def test_no_slots_are_empty(self) -> None:
        assert slots([]) == ""


def broken(reason: str, state: str = "broken") -> dict[str, str]:
    return {"provider": "k8s", "state": state, "reason": reason}


class TestWhy:
    def test_says_each_reason_once(self) -> None:
        found = [broken("no such image"), broken(""), broken("no such image"), broken("fewer now", "draining")]
        assert why("", found) == "2 broken: no such image; 1 draining: fewer now"
        assert why("cordoned", found[1:3]) == "cordoned; 1 broken: no such image"

    def test_says_nothing_of_slots_at_work_and_of_none(self) -> None:
        assert why("", [broken("it was ill", "leased")]) == why("", []) == ""

    def test_reasons_are_truncated(self) -> None:
        told = why("", [broken(f"{number} is\n{'ill ' * 100}") for number in range(5)])
        assert told.endswith("; and 2 more reasons")
        assert "\n" not in told
        assert len(told) < 500

    def test_an_older_service_gives_no_reasons(self) -> None:
        assert why("", [{"provider": "local", "state": "broken"}]) == ""
