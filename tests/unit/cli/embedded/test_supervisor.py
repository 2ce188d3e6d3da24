from backend.cli.embedded.supervisor import restart_delay


class TestRestartDelay:
    def test_doubles_up_to_half_a_minute(self) -> None:
        assert [restart_delay(failures) for failures in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]
