import pytest

from worker.local import uids
from worker.local.uids import UserNumbers


class TestUserNumbers:
    def test_user_ids_are_unique_across_processes(self) -> None:
        one, two = UserNumbers(), UserNumbers()
        taken = [one.take(), two.take(), one.take()]
        assert len(set(taken)) == 3
        for numbers, number in zip((one, two, one), taken, strict=True):
            numbers.give_back(number)

    def test_returned_id_is_free_again(self) -> None:
        numbers = UserNumbers()
        first = numbers.take()
        numbers.give_back(first)
        second = numbers.take()
        numbers.give_back(second)
        assert uids.FIRST <= second <= uids.LAST

    def test_says_when_none_is_left(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(uids, "FIRST", 70000)
        monkeypatch.setattr(uids, "LAST", 70000)
        numbers = UserNumbers()
        taken = numbers.take()
        with pytest.raises(RuntimeError, match="in use"):
            numbers.take()
        numbers.give_back(taken)
