from pathlib import Path

from backend.cli.embedded import children

SETTINGS = children.ChildSettings(
    data=Path("/data"),
    host="127.0.0.1",
    port=8001,
    slots=3,
    database_url="postgresql+psycopg://u:secret-d@/d",
    redis_url="redis://:secret-r@127.0.0.1:1/0",
)
OUTER = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "SHELL": "/bin/sh",
    "AWS_SECRET_ACCESS_KEY": "not yours",
    "DESKARENA_TOKEN": "token",
    "DESKARENA_LEASE_SECONDS": "5",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318",
    "DESKARENA_DATA_DIR": "/elsewhere",
    "PYTHONSTARTUP": "/tmp/evil.py",
}
ENV = children.environment(SETTINGS, OUTER)


class TestEnvironment:
    def test_is_the_whole_environment(self) -> None:
        assert {
            "PATH": "/bin",
            "HOME": "/home/me",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(children.ROOT),
            "PYTHONUNBUFFERED": "1",
            "DATABASE_URL": "postgresql+psycopg://u:secret-d@/d",
            "REDIS_URL": "redis://:secret-r@127.0.0.1:1/0",
            "DESKARENA_DATA_DIR": "/data",
            "DESKARENA_HOST": "127.0.0.1",
            "DESKARENA_PORT": "8001",
            "DESKARENA_API_ADDRESS": "http://127.0.0.1:8001",
            "DESKARENA_SLOTS": "3",
            "DESKARENA_TOKEN": "token",
            "DESKARENA_LEASE_SECONDS": "5",
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318",
        } == ENV

    def test_an_empty_outer_environment_still_has_a_path(self) -> None:
        assert children.environment(SETTINGS, {})["PATH"].endswith("/sbin:/bin")


class TestSpecs:
    SPECS = (
        children.prepare(SETTINGS, ENV),
        children.api(SETTINGS, ENV, 7),
        children.worker(SETTINGS, ENV, {}),
        children.beat(SETTINGS, ENV),
    )

    def test_only_the_api_gets_the_token(self) -> None:
        assert [spec.name for spec in self.SPECS if "DESKARENA_TOKEN" in spec.env] == ["api"]

    def test_no_argument_holds_a_secret(self) -> None:
        words = [word for spec in self.SPECS for word in spec.argv]
        assert not [word for word in words if "secret" in word or "token" in word]

    def test_each_has_its_own_log_in_the_data_folder(self) -> None:
        assert [str(spec.log) for spec in self.SPECS] == [
            "/data/logs/prepare.log",
            "/data/logs/api.log",
            "/data/logs/worker.log",
            "/data/logs/beat.log",
        ]

    def test_the_api_inherits_the_listening_socket(self) -> None:
        spec = children.api(SETTINGS, ENV, 7)
        assert (spec.argv[-1], spec.pass_fds) == ("7", (7,))
