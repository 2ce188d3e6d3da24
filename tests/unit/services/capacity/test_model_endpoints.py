from pathlib import Path

import pytest

from backend.domain.errors import Invalid
from backend.services.capacity.model_endpoints import BUILT_IN, Endpoints, MissingKey, key_variables, node_prices
from backend.services.capacity.task_secrets import TaskSecrets
from tests.error_codes import raises_code

KEY = "sk-very-secret"


def endpoints(folder: Path, text: str = "", **environ: str) -> Endpoints:
    file = folder / "models.toml"
    if text:
        file.write_text(text)
    return Endpoints(file, TaskSecrets(folder / "secrets"), environ)


def secret(folder: Path, name: str, text: str, mode: int = 0o600) -> None:
    (folder / "secrets").mkdir(exist_ok=True)
    (folder / "secrets" / name).write_text(text)
    (folder / "secrets" / name).chmod(mode)


class TestAll:
    def test_the_vendors_are_there_without_a_file(self, tmp_path: Path) -> None:
        found = endpoints(tmp_path).all()
        assert set(found) == set(BUILT_IN)
        assert (found["anthropic"].api, found["anthropic"].key_env) == ("anthropic", "ANTHROPIC_API_KEY")

    def test_a_variable_leads_a_vendor_elsewhere(self, tmp_path: Path) -> None:
        found = endpoints(tmp_path, OPENAI_BASE_URL="http://127.0.0.1:9/v1/").all()
        assert found["openai"].base_url == "http://127.0.0.1:9/v1"

    def test_the_operator_s_own(self, tmp_path: Path) -> None:
        text = """
            [endpoints.local]
            api = "openai_chat"
            base_url = "http://gpu.example:8000/v1"
            key_secret = "vllm"
            patience_seconds = 60
            at_once = 2
            requests_per_minute = 30
            [[endpoints.local.prices]]
            model = "qwen*"
            since = 2026-01-01
            input = 0
            output = 0
            [[prices]]
            model = "everywhere"
            since = 2026-01-01
            input = 1
            output = 2
        """
        local = endpoints(tmp_path, text).all()["local"]
        assert (local.patience_seconds, local.at_once, local.requests_per_minute) == (60, 2, 30)
        assert [price.model for price in local.prices] == ["qwen*", "everywhere"]
        assert [price.model for price in endpoints(tmp_path).all()["openai"].prices] == ["everywhere"]

    def test_configured_endpoint_replaces_the_vendors(self, tmp_path: Path) -> None:
        text = '[endpoints.openai]\napi = "openai_responses"\nkey_env = "MINE"\n'
        assert endpoints(tmp_path, text).all()["openai"].key_env == "MINE"

    @pytest.mark.parametrize(
        ("text", "where"),
        [
            ("endpoints = 3", "endpoints"),
            ("[endpoint.a]\n", "unknown: endpoint"),
            ("[endpoints.a]\n", "endpoints.a.api"),
            ('[endpoints.a]\napi = "x"\ntimeout = 3\n', "endpoints.a.timeout"),
            ('[endpoints.a]\napi = "x"\nat_once = 0\n', "endpoints.a.at_once"),
            (f'[endpoints.a]\napi = "x"\nkey = "{KEY}"\n', "key_env and key_secret"),
            (f'[endpoints.a]\napi = "x"\nbase_url = "https://me:{KEY}@host/v1"\n', ("base_url", "no user")),
            (f'[endpoints.a]\napi = "x"\nbase_url = "https://host/v1?key={KEY}"\n', ("base_url", "query")),
            ('[endpoints.a]\napi = "x"\nbase_url = "file:///etc/passwd"\n', ("base_url", "http")),
            ("[[prices]]\nmodel = 'a'\n", "prices"),
            ("not toml", "not valid TOML"),
            ("x = 1\n" * 300_000, "1 MiB"),
        ],
    )
    def test_errors_have_their_position(self, tmp_path: Path, text: str, where: str | tuple[str, ...]) -> None:
        with raises_code(Invalid, "invalid_models_file", mentions=where) as raised:
            endpoints(tmp_path, text).all()
        assert "models.toml" in str(raised.value)
        assert KEY not in str(raised.value)


class TestWithKey:
    def test_from_the_environment(self, tmp_path: Path) -> None:
        told = endpoints(tmp_path, OPENAI_API_KEY=f" {KEY}\n")
        found = told.with_key(told.all()["openai"])
        assert found.key.get_secret_value() == KEY
        assert KEY not in f"{found!r} {found} {found.model_dump()}"

    def test_from_the_folder_of_secrets(self, tmp_path: Path) -> None:
        secret(tmp_path, "vllm", f"{KEY}\n")
        told = endpoints(tmp_path, '[endpoints.a]\napi = "openai_chat"\nkey_secret = "vllm"\n')
        assert told.with_key(told.all()["a"]).key.get_secret_value() == KEY

    def test_from_a_file_whose_key_is_rotated(self, tmp_path: Path) -> None:
        file = tmp_path / "key"
        told = endpoints(tmp_path, OPENAI_API_KEY_FILE=str(file))
        endpoint = told.all()["openai"]
        with raises_code(MissingKey, "endpoint_key_missing", mentions="OPENAI_API_KEY_FILE"):
            told.with_key(endpoint)
        for key in ("first", "second"):
            file.write_text(f"{key}\n")
            assert told.with_key(endpoint).key.get_secret_value() == key

    def test_a_place_without_a_key(self, tmp_path: Path) -> None:
        told = endpoints(tmp_path, '[endpoints.a]\napi = "openai_chat"\n')
        assert told.with_key(told.all()["a"]).key.get_secret_value() == ""

    def test_a_variable_that_is_not_set_is_named(self, tmp_path: Path) -> None:
        told = endpoints(tmp_path)
        with raises_code(MissingKey, "endpoint_key_missing", mentions="OPENAI_API_KEY") as raised:
            told.with_key(told.all()["openai"])
        assert "docs/models.md" in raised.value.hint

    def test_a_secret_that_others_can_read_is_not_used(self, tmp_path: Path) -> None:
        secret(tmp_path, "vllm", KEY, 0o644)
        told = endpoints(tmp_path, '[endpoints.a]\napi = "openai_chat"\nkey_secret = "vllm"\n')
        with raises_code(MissingKey, "endpoint_key_missing", mentions="vllm") as raised:
            told.with_key(told.all()["a"])
        assert KEY not in str(raised.value)

    def test_a_key_that_no_header_can_carry(self, tmp_path: Path) -> None:
        told = endpoints(tmp_path, OPENAI_API_KEY=f"{KEY}\nX-Evil: 1")
        with raises_code(MissingKey, "endpoint_key_invalid") as raised:
            told.with_key(told.all()["openai"])
        assert KEY not in str(raised.value)


class TestKeyVariables:
    def test_the_vendors_and_those_of_the_file(self, tmp_path: Path) -> None:
        file = tmp_path / "models.toml"
        file.write_text('[endpoints.a]\napi = "openai_chat"\nkey_env = "MY_KEY"\n')
        assert {"MY_KEY", "MY_KEY_FILE", "OPENAI_API_KEY", "GEMINI_BASE_URL"} <= set(key_variables(file))

    def test_a_broken_file_adds_none(self, tmp_path: Path) -> None:
        file = tmp_path / "models.toml"
        file.write_text("not toml")
        assert "OPENAI_API_KEY" in key_variables(file)


class TestNodePrices:
    def test_node_prices_and_model_prices_coexist(self, tmp_path: Path) -> None:
        text = """
            [[node_prices]]
            provider = "k8s"
            node = "Standard_D8_v3"
            since = 2026-11-01
            per_hour = 0.384
            [[node_prices]]
            provider = "local"
            since = 2026-11-01
            per_hour = 0.1
            currency = "EUR"
        """
        endpoints(tmp_path, text).all()
        prices = node_prices(tmp_path / "models.toml")
        assert [(price.node, price.per_hour, price.currency) for price in prices] == [
            ("Standard_D8_v3", 0.384, "USD"),
            ("*", 0.1, "EUR"),
        ]

    def test_no_file_has_no_node_prices(self, tmp_path: Path) -> None:
        assert node_prices(tmp_path / "models.toml") == ()

    @pytest.mark.parametrize("text", ["node_prices = 1", "[[node_prices]]\nprovider = 'k8s'", "[[node_price]]"])
    def test_mistakes_are_named_to_workers_too(self, tmp_path: Path, text: str) -> None:
        with raises_code(Invalid, "invalid_models_file"):
            endpoints(tmp_path, text).all()
        with raises_code(Invalid, "invalid_models_file"):
            node_prices(tmp_path / "models.toml")
