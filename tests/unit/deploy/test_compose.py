"""docker-compose.yml and its images, as far as can be said without an engine; tools/compose_smoke starts them."""

import json
import os
import re
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from backend.cli.containers import first_secrets
from backend.config import Settings
from backend.services.artifacts.stores.s3 import BucketConfig

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docker-compose.yml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "deploy" / "compose" / "Dockerfile").read_text()
NGINX = (ROOT / "deploy" / "compose" / "nginx.conf").read_text()
OWN = re.compile(r"deskarena-(api|worker|kvm):local")
ONCE = {"secrets", "migrations"}
DESKTOPS = {"worker", "worker-kvm"}
DOCUMENTED = ["no-new-privileges:true", "seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"]
KEYS = {
    *("image", "build", "user", "read_only", "cap_drop", "cap_add", "security_opt", "init", "restart", "logging"),
    *("environment", "volumes", "tmpfs", "command", "networks", "network_mode", "healthcheck", "stop_grace_period"),
    *("depends_on", "deploy", "ports", "shm_size", "profiles", "devices", "group_add"),
}
"""The format's names of a service's parts, of those that we use; an unknown one is a slip of the pen."""
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who alone gives files away")
each_service = pytest.mark.parametrize("name", SERVICES)


def words(value: Any) -> Iterator[str]:
    """Every text in a document."""
    if isinstance(value, dict):
        for each in value.values():
            yield from words(each)
    elif isinstance(value, list):
        for each in value:
            yield from words(each)
    else:
        yield str(value)


def mebibytes(size: str) -> int:
    """Of `256m` or `2g`."""
    return int(size[:-1]) * {"m": 1, "g": 1024}[size[-1]]


class TestServices:
    @each_service
    def test_has_no_part_that_the_format_does_not_know(self, name: str) -> None:
        assert set(SERVICES[name]) <= KEYS
        assert set(SERVICES[name].get("healthcheck", {})) <= {"test", "interval", "timeout", "retries", "start_period"}

    @each_service
    def test_is_pinned(self, name: str) -> None:
        image = SERVICES[name]["image"]
        assert OWN.fullmatch(image) or re.fullmatch(r"[a-z/]+:\d+\.\d+(\.\d+)?(-[a-z]+)?", image)

    @each_service
    def test_every_own_image_is_built_by_one_service(self, name: str) -> None:
        image = SERVICES[name]["image"]
        builders = [other for other in SERVICES.values() if other["image"] == image and "build" in other]
        assert len(builders) == (1 if OWN.fullmatch(image) else 0)

    @each_service
    def test_says_when_it_is_well(self, name: str) -> None:
        assert ("healthcheck" in SERVICES[name]) != (name in ONCE)

    @each_service
    def test_is_an_ordinary_user_who_can_change_nothing(self, name: str) -> None:
        service = SERVICES[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert (service["user"] == "0:0") == (name == "secrets")
        assert service.get("cap_add", []) == (["CHOWN"] if name == "secrets" else [])
        assert "privileged" not in service

    @each_service
    def test_gives_up_walls_only_where_desktops_run(self, name: str) -> None:
        assert SERVICES[name]["security_opt"] == (DOCUMENTED if name in DESKTOPS else DOCUMENTED[:1])
        assert bool(SERVICES[name].get("devices")) == (name == "worker-kvm")

    @each_service
    def test_has_limits_of_log_and_machine(self, name: str) -> None:
        assert SERVICES[name]["logging"]["options"] == {"max-size": "10m", "max-file": "5"}
        if name not in ONCE:
            assert {"memory", "pids"} <= set(SERVICES[name]["deploy"]["resources"]["limits"])
            assert SERVICES[name]["stop_grace_period"]
        assert SERVICES[name]["restart"] == ("no" if name in ONCE else "unless-stopped")

    @each_service
    def test_waits_until_what_it_needs_is_well(self, name: str) -> None:
        for other, how in SERVICES[name].get("depends_on", {}).items():
            ends = "service_completed_successfully" if other in ONCE else "service_healthy"
            assert how == {"condition": ends}

    @pytest.mark.parametrize("name", ["api-1", "api-2", "worker", "worker-kvm", "beat"])
    def test_waits_for_the_migrations(self, name: str) -> None:
        assert "migrations" in SERVICES[name]["depends_on"]

    @each_service
    def test_mounts_what_there_is(self, name: str) -> None:
        for volume in SERVICES[name]["volumes"]:
            source = volume.split(":")[0]
            assert source in COMPOSE["volumes"] or (ROOT / source).is_file()

    def test_only_what_writes_passwords_may_write_them(self) -> None:
        writers = {name for name, service in SERVICES.items() if "secrets:/run/deskarena" in service["volumes"]}
        assert writers == {"secrets"}


class TestNetwork:
    def test_only_the_proxy_is_published_and_on_this_machine_only(self) -> None:
        ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
        assert list(ports) == ["proxy"]
        assert all(port.startswith("127.0.0.1:") for port in ports["proxy"])

    def test_servers_have_no_way_out(self) -> None:
        assert COMPOSE["networks"]["back"] == {"internal": True}
        assert [SERVICES[name]["networks"] for name in ("postgres", "broker", "store")] == [["back"]] * 3
        assert SERVICES["proxy"]["networks"] == ["front"]
        assert SERVICES["secrets"]["network_mode"] == "none"


class TestSecrets:
    def test_file_contains_no_secret(self) -> None:
        assert not re.search(r"://[^/\s]*:[^/\s]*@", TEXT)
        named = [name for service in SERVICES.values() for name in service.get("environment", {})]
        secret = [name for name in named if re.search("PASSWORD|TOKEN|SECRET|KEY|(?<!TRACE)_URL", name)]
        assert secret
        assert all(name.endswith("_FILE") for name in secret)

    def test_every_file_that_is_named_is_made(self) -> None:
        made = first_secrets.texts(dict.fromkeys(("database", "broker", "token", "key", "secret"), "x"))
        there = {f"/run/deskarena/{folder}/{file}" for folder, (_, files) in made.items() for file in files}
        named = set(re.findall(r"/run/deskarena/\w+/[\w.]+", "\n".join(words(SERVICES))))
        assert named == there

    def test_every_folder_is_its_readers(self) -> None:
        made = first_secrets.texts(dict.fromkeys(("database", "broker", "token", "key", "secret"), "x"))
        users = {"api": "api-1", "postgres": "postgres", "broker": "broker", "store": "store"}
        for folder, (reader, _) in made.items():
            assert SERVICES[users[folder]]["user"] == f"{reader}:{reader}"

    def test_no_two_readers_are_the_same_user(self) -> None:
        made = first_secrets.texts(dict.fromkeys(("database", "broker", "token", "key", "secret"), "x"))
        readers = [reader for reader, _ in made.values()]
        assert len(set(readers)) == len(readers) == 4
        others = {
            service["user"] for name, service in SERVICES.items() if name in {"postgres", "broker", "store", "proxy"}
        }
        assert len(others) == 4
        assert f"{first_secrets.API}:{first_secrets.API}" not in others

    @pytest.mark.parametrize("name", ["postgres", "broker", "store"])
    def test_memory_file_systems_belong_to_the_server_s_user(self, name: str) -> None:
        numbers = re.findall(r"[ug]id=(\d+)", " ".join(SERVICES[name]["tmpfs"]))
        assert {f"{number}:{number}" for number in numbers} <= {SERVICES[name]["user"]}

    @AS_ROOT
    def test_root_needs_no_capability_but_chown(self, tmp_path: Path) -> None:
        """As the service `secrets` runs: a start that was cut short, then one after a reader's number has changed."""
        tmp_path.chmod(0o700)
        call = f"from backend.cli.containers.first_secrets import *; lay_out(Path({str(tmp_path)!r}))"
        chown_only = ["setpriv", "--bounding-set=-all,+chown", "--inh-caps=-all", "--no-new-privs"]
        command = [*chown_only, sys.executable, "-c", call]
        subprocess.run(command, check=True, cwd=ROOT)
        (tmp_path / "done").unlink()
        subprocess.run(command, check=True, cwd=ROOT)
        conf = (tmp_path / "broker" / "valkey.conf").read_text()
        for path in (tmp_path / "broker", tmp_path / "broker" / "valkey.conf"):
            os.chown(path, 999, 999)
        subprocess.run(command, check=True, cwd=ROOT)
        assert (tmp_path / "broker" / "valkey.conf").read_text() == conf
        owners = {path.relative_to(tmp_path).parts[0]: path.stat().st_uid for path in tmp_path.rglob("*/*")}
        assert owners == {"api": 10001, "postgres": 999, "broker": 10003, "store": 10002}
        assert {path.name: path.stat().st_uid for path in tmp_path.iterdir() if path.is_dir()} == owners

    def test_secrets_are_created_once_and_private_to_their_reader(self, tmp_path: Path) -> None:
        assert first_secrets.lay_out(tmp_path, owned=False)
        before = {file: file.read_text() for file in tmp_path.rglob("*") if file.is_file()}
        assert not first_secrets.lay_out(tmp_path, owned=False)
        assert {file: file.read_text() for file in tmp_path.rglob("*") if file.is_file()} == before
        modes = {stat.S_IMODE(file.stat().st_mode) for file in before if file.name != "done"}
        assert modes == {0o400}
        assert {stat.S_IMODE(place.stat().st_mode) for place in tmp_path.iterdir() if place.is_dir()} == {0o500}

    def test_interrupted_first_start_is_repeated(self, tmp_path: Path) -> None:
        first_secrets.lay_out(tmp_path, owned=False)
        (tmp_path / "done").unlink()
        old = (tmp_path / "api" / "token").read_text()
        assert first_secrets.lay_out(tmp_path, owned=False)
        assert (tmp_path / "api" / "token").read_text() != old

    def test_the_service_understands_them(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        first_secrets.lay_out(tmp_path, owned=False)
        for name, value in SERVICES["api-1"]["environment"].items():
            text = str(value).replace("/run/deskarena", str(tmp_path))
            if not text.startswith("${"):
                monkeypatch.setenv(name, text)
        settings = Settings()
        place = BucketConfig.from_settings(settings)
        assert settings.database_url.get_secret_value().endswith("@postgres/deskarena")
        assert settings.token is not None
        identity = json.loads((tmp_path / "store" / "s3.json").read_text())["identities"][0]
        assert identity["credentials"] == [{"accessKey": place.access_key, "secretKey": place.secret_key}]
        assert f"Admin:{place.bucket}" in identity["actions"]
        assert (
            f"requirepass {settings.redis_url.get_secret_value()[9:].split('@')[0]}\n"
            in (tmp_path / "broker" / "valkey.conf").read_text()
        )

    def test_env_example_names_what_the_file_takes(self) -> None:
        taken = set(re.findall(r"\$\{(\w+):-", TEXT))
        given = re.findall(r"^(\w+)=(.*)$", (ROOT / "deploy/compose/env.example").read_text(), re.MULTILINE)
        assert {name for name, _ in given} == taken
        assert all(f"${{{name}:-{value}}}" in TEXT for name, value in given)


class TestDockerfile:
    def test_copies_only_what_is_there_and_not_ignored(self) -> None:
        lines = [line for line in DOCKERFILE.splitlines() if line.startswith("COPY ") and "--from" not in line]
        sources = [word for line in lines for word in line.split()[1:-1]]
        allowed = re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
        assert sources
        assert [source for source in sources if not list(ROOT.glob(source))] == []
        top = {source.split("/")[0] for source in sources}
        assert [name for name in top if not any(Path(name).match(pattern) for pattern in allowed)] == []

    def test_every_target_that_is_built_is_a_stage(self) -> None:
        stages = set(re.findall(r"^FROM \S+ AS (\w+)$", DOCKERFILE, re.MULTILINE))
        targets = {service["build"]["target"] for service in SERVICES.values() if "build" in service}
        assert targets == {"api", "worker", "kvm"}
        assert targets <= stages

    def test_every_base_is_pinned_or_a_stage(self) -> None:
        bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
        stages = re.findall(r"^FROM \S+ AS (\w+)$", DOCKERFILE, re.MULTILINE)
        assert set(bases) - set(stages) == {"${DEBIAN}"}
        assert re.search(r"^ARG DEBIAN=debian:\d+\.\d+-slim$", DOCKERFILE, re.MULTILINE)

    @pytest.mark.parametrize("stage", ["api", "worker", "kvm", "cluster"])
    def test_no_service_runs_as_root(self, stage: str) -> None:
        body = re.split(r"^FROM ", DOCKERFILE.split(f" AS {stage}\n")[1], flags=re.MULTILINE)[0]
        assert re.findall(r"^USER (\S+)$", body, re.MULTILINE)[-1] == "10001:10001"

    def test_packages_are_pinned_by_hash_and_lists_are_removed(self) -> None:
        instructions = DOCKERFILE.replace("\\\n", " ").splitlines()
        installs = [line for line in instructions if re.search(r"pip install", line)]
        assert installs
        for part in [part for line in installs for part in line.split("&&") if "pip install" in part]:
            assert "--require-hashes" in part or "--editable ." in part
        assert all("rm -rf /var/lib/apt/lists/*" in line for line in instructions if "apt-get install" in line)


class TestUploads:
    """Uploads are buffered on disk: in memory a large one would exceed the container's limit."""

    @pytest.mark.parametrize("name", ["api-1", "api-2", "proxy"])
    def test_lie_in_a_volume(self, name: str) -> None:
        mounts = {place: source for source, place, *_ in (each.split(":") for each in SERVICES[name]["volumes"])}
        assert COMPOSE["volumes"][mounts["/var/tmp"]] == {}
        assert not [each for each in SERVICES[name]["tmpfs"] if not each.startswith("/tmp:")]

    def test_uploads_go_to_the_volume(self) -> None:
        assert {SERVICES[name]["environment"]["TMPDIR"] for name in ("api-1", "api-2")} == {"/var/tmp"}
        assert re.findall(r"client_body_temp_path (\S+);", NGINX) == ["/var/tmp/body"]

    def test_our_image_has_the_folder_for_everybody(self) -> None:
        assert "install -d -m 1777 /var/tmp" in DOCKERFILE.split(" AS base\n")[1].split("FROM ")[0]

    def test_proxy_and_api_uploads_are_separate(self) -> None:
        assert not set(SERVICES["proxy"]["volumes"]) & set(SERVICES["api-1"]["volumes"])

    @pytest.mark.parametrize("name", sorted(set(SERVICES) - ONCE - DESKTOPS))
    def test_memory_file_systems_are_smaller_than_the_memory_limit(self, name: str) -> None:
        limit = SERVICES[name]["deploy"]["resources"]["limits"]["memory"]
        held = [mebibytes(size) for size in re.findall(r"size=(\d+[mg])", " ".join(SERVICES[name]["tmpfs"]))]
        assert sum(held) < mebibytes(limit)


class TestUpgrade:
    """The commands of docs/deploy-compose.md, against a fake Compose that records its arguments."""

    COMPOSE = """#!/bin/sh
    echo "$*" >> "$TOLD"
    [ "$*" = "compose config --services" ] && printf '%s\\n' $THERE || true
    """

    @pytest.mark.parametrize("profiles", [set(), {"kvm"}])
    def test_renews_all_that_is_ours_before_the_last_migrations(self, tmp_path: Path, profiles: set[str]) -> None:
        (tmp_path / "docker").write_text(textwrap.dedent(self.COMPOSE))
        (tmp_path / "docker").chmod(0o755)
        chapter = (ROOT / "docs" / "deploy-compose.md").read_text().split("## Upgrades")[1]
        there = {name for name, each in SERVICES.items() if profiles >= set(each.get("profiles", []))}
        told = tmp_path / "told"
        surroundings = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TOLD": str(told), "THERE": " ".join(sorted(there))}
        subprocess.run(["sh", "-euc", chapter.split("```")[1]], check=True, env=surroundings)
        lines = [line for line in told.read_text().splitlines() if line != "compose config --services"]
        assert lines[0] == "compose build"
        assert lines[1].startswith("compose run --rm migrations ")
        assert lines[1].endswith(" expand")
        assert lines[-1] == "compose up -d"
        ours = {name for name in there - ONCE if OWN.fullmatch(SERVICES[name]["image"])}
        assert sorted(lines[2:-1]) == sorted(f"compose up -d --no-deps --wait {name}" for name in ours)

    def test_takes_no_worker_away(self) -> None:
        """The number comes from a setting: one that was given as `--scale` would be lost by the upgrade."""
        assert SERVICES["worker"]["deploy"]["replicas"] == "${DESKARENA_WORKERS:-1}"


class TestProxy:
    def test_takes_the_largest_upload(self) -> None:
        from backend.web.security_middleware import UPLOAD_LIMIT

        size = re.search(r"client_max_body_size (\d+)m;", NGINX)
        assert size
        assert int(size[1]) * 2**20 > UPLOAD_LIMIT

    def test_asks_elsewhere_as_an_ending_api_understands_it(self) -> None:
        from backend.web.graceful_shutdown import ELSEWHERE

        assert re.search(rf"proxy_set_header {ELSEWHERE.decode()} 1;", NGINX, re.IGNORECASE)

    def test_repeats_only_what_was_refused_or_may_be_done_twice(self) -> None:
        rules = [set(rule.split()) for rule in re.findall(r"^\s*proxy_next_upstream (.+);$", NGINX, re.MULTILINE)]
        assert {"http_429", "non_idempotent"} in rules
        assert {"error", "timeout", "http_429"} in rules
        assert all(rule == {"http_429", "non_idempotent"} for rule in rules if "non_idempotent" in rule)

    def test_hands_on_the_name_that_was_asked(self) -> None:
        assert "proxy_set_header Host $http_host;" in NGINX

    def test_listens_where_the_port_leads(self) -> None:
        assert SERVICES["proxy"]["ports"][0].endswith(":8080")
        assert "listen 8080;" in NGINX
