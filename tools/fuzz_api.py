"""`make fuzz-api`: sends generated requests to every operation of the API, as people of every role and of none.

Each role has an installation of its own with something of everything. Half of its cases are single requests, in which
most parameters name what exists, by ids of the installation and of earlier answers; the others follow the links that
schemathesis infers from the document, so that one request works with what another made. Every answer must be one that
the OpenAPI document describes, below 500. Every name of the web leads to this machine, where no request goes.

Ends with 1 if an answer was another. The seed repeats the requests, not the ids in them. With `--page` the result is
written below docs/reports.
"""

import argparse
import json
import logging
import platform
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis.errors import Flaky, Unsatisfiable
from schemathesis import APIOperation, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.python import asgi
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from backend.addresses import API
from backend.cli.embedded.broker import start_broker
from backend.cli.embedded.postgres import start_postgres
from backend.config import Settings
from backend.db.models.enums import Role
from backend.db.repositories.capacity import maintenance
from backend.services import events
from backend.services.artifacts.ssrf_safe_http import GuardedWeb
from backend.web.app import create_app
from backend.web.security_middleware import AGENT_PATH, COOKIE
from tests import databases
from tests.factories.accounts import Team, cookie_of
from tests.factories.everything import make_everything
from tests.factories.records import World, world
from tests.factories.scene import make_scene
from tests.integration.web.conftest import OWN, client_of

PAGE = Path(__file__).parents[1] / "docs" / "reports" / "fuzz-api.md"
ROUND = 4
"""Cases of an operation, or walks along links, before the next one's turn."""
WALK_STEPS = 6
CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]
MODES = (GenerationMode.POSITIVE, GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
WORDS = {
    "agent": ("noop", "random", "oracle"),
    "benchmark": ("starter", "creative"),
    "name": ("starter", "creative"),
    "provider": ("local",),
    "by": ("difficulty", "domain", "ada"),
    "label": ("domain", "difficulty"),
    "person": ("ada",),
}
"""Values of fields and parameters that mean something here."""
MAINTENANCE = f"{API}/maintenance"
NO_ROLE = "none"
"""Somebody who is signed in and belongs to no project."""
ROLES = (NO_ROLE, *Role)
RARE = 0.25
"""Share of known parameters that keep what was generated."""
Operation = APIOperation[Any, Any, Any, Any]


@dataclass
class Fuzzed:
    """Results of a role's cases: answers by status and by whether they followed a link, and problems."""

    role: str
    statuses: Counter[int] = field(default_factory=Counter)
    linked: int = 0
    failures: dict[tuple[str, str], str] = field(default_factory=dict)
    operations: set[str] = field(default_factory=set)
    succeeded: set[str] = field(default_factory=set)
    seconds: float = 0.0

    @property
    def number(self) -> int:
        """Number of cases."""
        return self.statuses.total()


@dataclass
class Target:
    """A person of a role in an installation, and what requests can name there."""

    people: Team
    role: str
    token: str
    known: dict[str, list[Any]]
    session: asgi.ASGIClient
    traces: list[str]
    cookie: str = ""
    persons: int = 0

    def sign_in(self) -> None:
        """As a new person of the role; an admin administers the installation, too."""
        self.persons += 1
        role = None if self.role == NO_ROLE else self.role
        browser = self.people.add(f"{self.role}-{self.persons}", role, admin=self.role == Role.ADMIN)
        self.cookie = cookie_of(browser)

    def send(self, case: schemathesis.Case[Any]) -> Any:
        """The answer to a case."""
        case.headers.pop("Prefer", None)  # Waiting is tested elsewhere.
        headers = {"Host": "127.0.0.1:8000", "Cookie": f"{COOKIE}={self.cookie}"}
        if case.operation.path.startswith(AGENT_PATH):
            headers["Authorization"] = f"Bearer {self.token}"
        if isinstance(case.query, dict) and "wait" in case.query:
            case.query["wait"] = 0.001
        answer = case.call(base_url=OWN, session=self.session, headers=headers)
        if answer.status_code == HTTPStatus.UNAUTHORIZED and "sign_in_required" in answer.text:
            self.sign_in()  # It has ended its own session, or disabled itself.
        if case.operation.path == MAINTENANCE and case.operation.method == "put":
            self.people.made.do(maintenance.end)  # Else all that starts something is refused from here on.
        return answer

    def learn(self, operation: Operation, answer: Any, targets: dict[str, str]) -> None:
        """Keeps the ids of what an answer shows."""
        name = targets.get(operation.path.removeprefix(f"{API}/").partition("/")[0])
        if name is None or answer.status_code not in {HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED}:
            return
        if answer.headers.get("content-type") != ["application/json"] or not answer.content:
            return
        body = json.loads(answer.content)
        for row in body.get("items", [body]) if isinstance(body, dict) else ():
            if name.endswith("_id") and (value := row.get("id")):
                self.known.setdefault(name, []).append(value)
                del self.known[name][1:-50]


class Fuzzer:
    """Sends cases to a target and notes what came of them."""

    def __init__(self, target: Target, seed: int) -> None:
        self._target, self._seed = target, seed
        self._random = random.Random(f"{seed}-{target.role}")  # noqa: S311 - it shall be repeatable.
        self.outcome = Fuzzed(target.role)
        app = target.people.app
        self._schema = schemathesis.openapi.from_dict(app.openapi())
        self._schema.app = app
        results = [result.ok() for result in self._schema.get_all_operations()]  # type: ignore[union-attr]
        self._operations = cast("list[Operation]", results)
        self._targets = dict(_collections(self._operations))
        self._batch = ROUND

    def run(self, number: int, linked: float, batch: int = ROUND) -> Fuzzed:
        """Sends at least `number` cases, the share `linked` of them along links; `batch` per operation and turn."""
        started, turn, self._batch = time.monotonic(), 0, batch
        walk = self._walker() if linked else None
        while self.outcome.number < number:
            for operation in self._random.sample(self._operations, len(self._operations)):
                if self.outcome.number >= number:
                    break
                if self.outcome.number - self.outcome.linked < number * (1 - linked):
                    self._probe(operation, turn)
                if walk and self.outcome.linked < number * linked:
                    walk(turn * len(self._operations) + len(self.outcome.operations))
            turn += 1
        self.outcome.seconds = time.monotonic() - started
        return self.outcome

    def _probe(self, operation: Operation, turn: int) -> None:
        mode = MODES[turn % len(MODES)]

        @_settings(self._batch)
        @hypothesis_seed(self._seed * 10_007 + turn)
        @given(case=operation.as_strategy(generation_mode=mode))
        def probe(case: schemathesis.Case[Any]) -> None:
            if mode is GenerationMode.POSITIVE:
                for part in (case.path_parameters, case.query, case.body):
                    self._name_known(part)
            self._note(case, self._target.send(case))

        with suppress(Unsatisfiable):  # Nothing can be wrong in a request without parameters.
            probe()

    def _name_known(self, part: Any) -> None:
        """Has most fields that name something name what exists."""
        if not isinstance(part, dict):
            return
        for name, value in part.items():
            known = [*self._target.known.get(name, ()), *WORDS.get(name, ()), *self._target.known.get(f"{name}_id", ())]
            if known and isinstance(value, str) and self._random.random() > RARE:
                part[name] = str(self._random.choice(known))
            elif isinstance(value, dict):
                self._name_known(value)

    def _walker(self) -> Callable[[int], None]:
        fuzzer, base = self, self._schema.as_state_machine()

        class Walk(base):  # type: ignore[valid-type, misc]
            def call(self, case: schemathesis.Case[Any], **_: Any) -> Any:
                return fuzzer._target.send(case)

            def validate_response(self, response: Any, case: schemathesis.Case[Any], *_: Any, **__: Any) -> None:
                fuzzer.outcome.linked += 1
                fuzzer._note(case, response)

        def walk(turn: int) -> None:
            hypothesis_seed(self._seed * 10_007 + turn)(Walk)
            with suppress(Flaky):  # Another answer to the same request: the ids in it are others.
                Walk.run(settings=settings(_settings(fuzzer._batch), stateful_step_count=WALK_STEPS))

        return walk

    def _note(self, case: schemathesis.Case[Any], answer: Any) -> None:
        label, status = case.operation.label, answer.status_code
        self.outcome.statuses[status] += 1
        if self.outcome.number % 1000 == 0:
            _show(self.outcome)
        self.outcome.operations.add(label)
        if status < HTTPStatus.MULTIPLE_CHOICES:
            self.outcome.succeeded.add(label)
        self._target.learn(case.operation, answer, self._targets)
        try:
            case.validate_response(answer, checks=CHECKS)
        except FailureGroup as group:
            for failure in group.exceptions:
                self._fail(case, answer, failure)

    def _fail(self, case: schemathesis.Case[Any], answer: Any, failure: Failure) -> None:
        key = case.operation.label, f"{failure.title} ({answer.status_code})"
        if key not in self.outcome.failures:
            body = repr(case.body)[:600]
            address = f"{case.formatted_path} {case.query} {dict(case.headers)}"
            broken = answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
            trace = "\n  ".join(self._target.traces) if broken else failure.message[:600]
            self.outcome.failures[key] = f"{address}\n  {body}\n  {answer.text[:300]}\n  {trace}"
            print(f"- {key[0]}: {key[1]}\n  {self.outcome.failures[key]}", flush=True)


def _settings(number: int) -> settings:
    quiet = [*HealthCheck]
    return settings(
        max_examples=number, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=quiet
    )


def _collections(operations: Sequence[Operation]) -> Iterator[tuple[str, str]]:
    """First word of a path and the parameter after it: `runs` and `run_id`."""
    for operation in operations:
        parts = operation.path.removeprefix(f"{API}/").split("/")
        if len(parts) > 1 and parts[1].startswith("{"):
            yield parts[0], parts[1].strip("{}")


@contextmanager
def target(url: str, role: str, folder: Path) -> Iterator[Target]:
    """An empty migrated database, filled, with a person of a role.

    Args:
        url: of the database.
        role: the person's.
        folder: an empty folder.
    """
    with world(url) as installation:
        everything = make_everything(make_scene(installation), client_of(installation, folder), folder)
        with serving(installation, role, everything.token, folder) as person:
            person.known |= {name: [value] for name, value in everything.params.items()}
            yield person


@contextmanager
def serving(installation: World, role: str, token: str, folder: Path) -> Iterator[Target]:
    """The installation, served with accounts, without limits of requests and without the web."""
    app = create_app(Settings(data_dir=folder, accounts=True, rate_limit=0), installation.factory, installation.store)
    app.state.edge.__dict__["web"] = GuardedWeb(resolver=lambda _host, _port: ["127.0.0.1"])
    traces: list[str] = []

    async def answered(scope: Any, receive: Any, send: Any) -> None:
        """Keeps what broke a request, whose answer has been sent."""
        try:
            await app(scope, receive, send)
        except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for.
            traces[:] = traceback.format_exc().strip().splitlines()[-12:]

    with asgi.get_client(answered) as session:
        person = Target(Team(installation, app), role, token, {}, session, traces)
        person.sign_in()
        yield person


def main() -> int:
    """Fuzzes; the exit code tells whether every answer was one of those that are described."""
    options = _arguments()
    logging.disable(logging.CRITICAL)
    outcomes = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = start_postgres(folder / "postgres", durable=False)
        stack.callback(server.stop)
        broker = start_broker(folder / "broker")
        stack.callback(broker.stop)
        events.configure(broker.url)
        databases.make_template(server.url)
        for role in options.role or ROLES:
            own = folder / role
            own.mkdir()
            with databases.copied(server.url) as url, target(url, role, own) as person:
                outcome = Fuzzer(person, options.seed).run(options.number, options.linked)
            _show(outcome)
            outcomes.append(outcome)
    if options.page:
        PAGE.write_text(page(outcomes, options.seed))
    return int(any(outcome.failures for outcome in outcomes))


def _show(outcome: Fuzzed) -> None:
    statuses = ", ".join(f"{status}: {number}" for status, number in sorted(outcome.statuses.items()))
    print(
        f"{outcome.role}: {outcome.number} cases ({outcome.linked} along links) of "
        f"{len(outcome.operations)} operations, {len(outcome.succeeded)} of which succeeded, "
        f"in {outcome.seconds:.0f} s; {statuses}; "
        f"{len(outcome.failures)} kinds of failure",
        flush=True,
    )


def page(outcomes: Sequence[Fuzzed], seed: int) -> str:
    """The report: cases by role and status, and every kind of failure."""
    rows = [
        f"| {outcome.role} | {outcome.number:,} | {outcome.linked:,} | {len(outcome.operations)} "
        f"| {len(outcome.succeeded)} | {_share(outcome, 200)} | {_share(outcome, 400)} | {_share(outcome, 500)} "
        f"| {len(outcome.failures)} |"
        for outcome in outcomes
    ]
    failures = [
        f"- {outcome.role}, `{label}`: {title}" for outcome in outcomes for label, title in sorted(outcome.failures)
    ]
    return f"""# The API on generated requests

Written by `make fuzz-api ARGS=--page`: [schemathesis](https://schemathesis.io) sends requests that it makes of the
OpenAPI document to every operation, writing ones included, as a person of each role in an installation of its own.
Single requests mostly name what exists; cases along links use what earlier answers gave. A failure is an answer of 500
and above, or a status or body that the document does not describe.

Seed {seed}, Python {platform.python_version()}, schemathesis {schemathesis.__version__}.

| role | cases | along links | operations | with a success | 2xx | 4xx | 5xx | failures |
|---|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}

## Failures

{chr(10).join(failures) or "None."}
"""


def _share(outcome: Fuzzed, first: int) -> str:
    return f"{sum(number for status, number in outcome.statuses.items() if first <= status < first + 100):,}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=1000, help="how many cases for each role")
    parser.add_argument("--linked", type=float, default=0.4, help="share of cases along links")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--role", action="append", choices=ROLES, help="only this role (repeatable)")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
