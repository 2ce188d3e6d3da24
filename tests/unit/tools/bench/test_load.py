import pytest

from tools.bench.load import LoadAnswer, Samples, growth, section


def samples(*memory: float, files: float = 9.0, connections: float = 6.0) -> Samples:
    opened = [*[9.0] * (len(memory) - 1), files]
    return Samples({"API 1": list(memory)}, {"API 1": opened}, [5.0, 6.0, 6.0, connections])


class TestGrowth:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [([50, 100, 100, 100, 100, 100, 110, 110], 0.1), ([90] * 4, 0.0), ([7], 0.0), ([0, 0, 0, 0], 0.0)],
    )
    def test_leaves_the_warm_up_out(self, values: list[float], expected: float) -> None:
        assert growth(values) == pytest.approx(expected)


class TestSection:
    def answers(self, status: int = 200, milliseconds: float = 20.0) -> list[LoadAnswer]:
        good = [LoadAnswer(kind, 1.0, 10.0, 200) for kind in ("read", "write") for _ in range(9)]
        return [*good, LoadAnswer("write", 1.0, milliseconds, status)]

    def test_meets_its_aims(self) -> None:
        words, met = section(1, self.answers(), samples(100, 100, 100, 105))
        assert met
        assert "| writes | 10 | 0 | 0 | 10 ms | 20 ms | 20 ms |" in words

    @pytest.mark.parametrize(("status", "milliseconds"), [(503, 20.0), (409, 20.0), (200, 201.0)])
    def test_one_failed_or_late_request_of_ten_misses_them(self, status: int, milliseconds: float) -> None:
        assert not section(1, self.answers(status, milliseconds), samples(100, 100, 100, 100))[1]

    def test_memory_that_grows_misses_them(self) -> None:
        assert not section(1, self.answers(), samples(100, 100, 150, 200))[1]

    @pytest.mark.parametrize(("files", "connections"), [(12.0, 6.0), (9.0, 8.0)])
    def test_in_a_soak_files_and_connections_must_not_grow_either(self, files: float, connections: float) -> None:
        grown = samples(100, 100, 100, 100, files=files, connections=connections)
        assert section(1, self.answers(), grown)[1]
        assert not section(1, self.answers(), grown, soak=True)[1]

    def test_a_soak_has_no_aim_for_time(self) -> None:
        assert section(1, self.answers(milliseconds=900.0), samples(100, 100, 100, 100), soak=True)[1]
