"""`deskarena notification` against the service."""

import json
from functools import partial

import httpx
import pytest
from standardwebhooks import Webhook

from backend.cli.client import Api
from backend.cli.commands import notification
from backend.cli.main import main
from tests.integration.web.notifications.conftest import Notifier


def test_add_test_redeliver_and_remove(
    notifier: Notifier, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def send(request: httpx.Request) -> httpx.Response:
        headers = {name: request.headers[name] for name in ("content-type",) if name in request.headers}
        answer = notifier.client.request(
            request.method, request.url.raw_path.decode(), content=request.read(), headers=headers
        )
        return httpx.Response(answer.status_code, content=answer.content, request=request)

    transport = httpx.MockTransport(send)  # The service in this process.
    monkeypatch.setattr(notification, "Api", lambda _: Api("http://testserver", transport=transport))

    def run(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["notification", *words])
        printed = capsys.readouterr()
        assert ended.value.code == code, printed.err
        return printed.out if code == 0 else printed.err

    assert "run.regression" in run("add", f"{notifier.receiver.address}/hook", "--event", "run.won", code=2)
    hook = partial(run, "add", f"{notifier.receiver.address}/hook", "--event", "run.ended", "--event", "worker.gone")
    made = json.loads(hook("--loss-bound", "0.2", "-o", "json"))
    assert (made["events"], made["loss_bound"]) == (["run.ended", "worker.gone"], 0.2)
    assert "has this subscription" in hook(code=2)
    delivery = json.loads(run("test", made["id"], "-o", "jsonl"))["id"]
    notifier.receiver.pages["/hook"] = b"thanks"
    notifier.turn()  # Only now it has ended.
    assert "waiting" in run("redeliver", delivery)
    notifier.turn()
    (_, _, headers, body), (_, _, again, _) = notifier.receiver.asked
    assert Webhook(made["secret"]).verify(body, headers)["type"] == "test"
    assert headers["webhook-id"] == again["webhook-id"]
    assert delivery in run("deliveries", "--subscription", made["id"])
    assert "run.ended, worker.gone" in run("list")
    run("remove", made["id"])
    assert run("list") == ""
    assert "e-mail" in run("add", "ada@example.org", "--event", "run.ended", code=2)
