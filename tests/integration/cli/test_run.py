"""`deskarena run` as CI systems call it: exit codes, what is on stdout and what on stderr."""

import json
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

from defusedxml.ElementTree import parse

from tests.integration.cli.service import command, deskarena, serving
from tests.unit.cli.samples import episode, regression, run

ID = "018f0000-0000-7000-8000-000000000000"
SUBMIT = ("run", "submit", "--benchmark", "starter", "--agent", "oracle")


def answers(ended: dict[str, Any], *episodes: dict[str, Any]) -> dict[str, Any]:
    return {
        "POST /api/v1/runs": (201, {**ended, "status": "queued"}),
        f"GET /api/v1/runs/{ID}": {**ended, "episodes": list(episodes)},
    }


class TestSubmit:
    def test_prints_the_id_alone(self) -> None:
        with serving(answers(run())) as service:
            done = deskarena(*SUBMIT, server=service.url)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{ID}\n", "")

    def test_prints_the_run_as_json(self) -> None:
        with serving(answers(run())) as service:
            done = deskarena(*SUBMIT, "-o", "json", server=service.url)
        assert json.loads(done.stdout)["id"] == ID

    def test_sends_every_option(self) -> None:
        with serving(answers(run())) as service:
            words = (
                "--param",
                "seed=7",
                "--tasks",
                "files/*",
                "--tasks",
                "calc/*",
                "--repeats",
                "2",
                "--max-steps",
                "9",
            )
            deskarena(*SUBMIT, *words, "--idempotency-key", "build-1", server=service.url, DESKARENA_TOKEN="t")
            asked, headers, body = service.asked[0]
        assert asked == "POST /api/v1/runs"
        assert (headers["Idempotency-Key"], headers["Authorization"]) == ("build-1", "Bearer t")
        assert body == {
            "benchmark": "starter",
            "agent": "oracle",
            "params": {"seed": 7},
            "provider": "local",
            "tasks": ["files/*", "calc/*"],
            "repeats": 2,
            "budget": {"max_steps": 9},
            "seed": 0,
            "name": "",
        }

    def test_a_refusal_is_one_line_and_2(self) -> None:
        problem = {"detail": "there is no agent called 'orakel' here", "hint": "Did you mean oracle?"}
        with serving({"POST /api/v1/runs": (422, problem)}) as service:
            done = deskarena(*SUBMIT, server=service.url)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "deskarena: there is no agent called 'orakel' here. Did you mean oracle?\n"

    def test_unreachable_service_exits_with_3_and_hints_at_up(self) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unused.getsockname()[1]}"
            done = deskarena(*SUBMIT, server=url)
        assert done.returncode == 3
        assert url in done.stderr
        assert "deskarena up" in done.stderr

    def test_a_threshold_missed_is_1(self) -> None:
        ended = run(scored=2, solved=1)
        with serving(answers(ended, episode(), episode(solved=False, score=0.0))) as service:
            done = deskarena(*SUBMIT, "--fail-under", "0.8", "-o", "json", server=service.url)
        assert done.returncode == 1
        assert json.loads(done.stdout)["summary"]["success_rate"] == 0.5
        assert "Missed: success rate at most 0.5" in done.stderr

    def test_a_threshold_reached_is_0(self) -> None:
        with serving(answers(run(scored=2, solved=2), episode())) as service:
            assert deskarena(*SUBMIT, "--fail-under", "1", server=service.url).returncode == 0

    def test_a_regression_is_1_and_in_the_reports(self, tmp_path: Path) -> None:
        junit, summary = tmp_path / "result.xml", tmp_path / "summary.md"
        replies = answers(run(scored=2, solved=1), episode(), episode(solved=False, score=0.0))
        report = regression(baseline_status="running")
        compared = {"runs": [{"id": report["baseline"]}, {"id": ID}], "common_tasks": 0, "tasks": []}
        replies |= {f"GET /api/v1/runs/{ID}/regression": report, "GET /api/v1/compare": compared}
        with serving(replies) as service:
            options = ("--baseline", report["baseline"], "--junit", str(junit), "--summary", str(summary))
            done = deskarena(*SUBMIT, *options, server=service.url)
        assert done.returncode == 1
        assert report["sentence"] in done.stderr
        assert f"/runs/{report['baseline']}>) (running)" in summary.read_text()
        root = parse(junit).getroot()
        assert root is not None
        assert root.find("testsuite/properties/property") is not None

    def test_lost_episodes_are_3(self) -> None:
        with serving(answers(run(scored=1, lost=1, solved=1), episode(outcome="lost"))) as service:
            assert deskarena(*SUBMIT, "--wait", server=service.url).returncode == 3

    def test_a_timeout_is_4_and_the_run_continues(self) -> None:
        with serving(answers(run(status="running", running=1))) as service:
            done = deskarena(*SUBMIT, "--wait", "--timeout", "0.1", server=service.url)
            assert [asked for asked, *_ in service.asked if "cancel" in asked] == []
        assert done.returncode == 4
        assert f"deskarena run watch {ID} --server {service.url}" in done.stderr

    def test_an_interrupt_is_130_and_says_how_to_come_back(self) -> None:
        with serving(answers(run(status="running", running=1))) as service:
            words = command(*SUBMIT, "--wait", "--server", service.url)
            with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                assert process.stderr is not None
                seen = ""
                while "running" not in seen:
                    seen += process.stderr.readline()
                os.kill(process.pid, signal.SIGINT)
                _, rest = process.communicate(timeout=30)
        assert process.returncode == 130
        assert f"deskarena run watch {ID}" in rest

    def test_a_report_that_cannot_be_written_says_how_to_get_it_again(self, tmp_path: Path) -> None:
        with serving(answers(run(scored=1, solved=1), episode())) as service:
            done = deskarena(*SUBMIT, "--junit", str(tmp_path / "no" / "x.xml"), server=service.url)
        assert done.returncode == 2
        assert f"deskarena run watch {ID} --server {service.url}" in done.stderr

    def test_submit_writes_a_junit_report(self, tmp_path: Path) -> None:
        file = tmp_path / "result.xml"
        with serving(
            answers(run(scored=2, solved=1), episode(), episode("calc/sum", solved=False, score=0.5))
        ) as service:
            assert deskarena(*SUBMIT, "--junit", str(file), server=service.url).returncode == 0
        root = parse(file).getroot()
        assert root is not None
        assert (root.get("tests"), root.get("failures")) == ("2", "1")


class TestShow:
    def test_json_is_the_run_with_its_episodes(self) -> None:
        with serving(answers(run(scored=1, solved=1), episode())) as service:
            done = deskarena("run", "show", ID, "-o", "json", server=service.url)
        assert json.loads(done.stdout)["episodes"][0]["task"] == "files/rename"

    def test_a_table_names_rate_and_episodes(self) -> None:
        with serving(answers(run(scored=1, solved=1), episode(), episode("calc/sum", outcome="lost"))) as service:
            done = deskarena("run", "show", ID, server=service.url)
        assert "100.0 % (20.0-90.0)" in done.stdout
        assert "lost (guest)" in done.stdout
        assert "1.8" in done.stdout

    def test_a_closed_pipe_does_not_crash(self) -> None:
        with serving({"GET /api/v1/runs": {"items": [run() for _ in range(500)], "next": None}}) as service:
            words = [*command("run", "list", "--limit", "500", "-o", "jsonl", "--server", service.url)]
            with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                process.stdout.readline()
                process.stdout.close()
                assert process.stderr is not None
                assert process.stderr.read() == ""


class TestChanges:
    def test_each_word_asks_for_itself(self) -> None:
        words = ("pause", "resume", "cancel", "retry")
        changed = {"run": ID, "status": "running", "episodes": 3}
        with serving({f"POST /api/v1/runs/{ID}/{word}": changed for word in words}) as service:
            done = [deskarena("run", word, ID, server=service.url) for word in words]
            assert [asked for asked, *_ in service.asked] == [f"POST /api/v1/runs/{ID}/{word}" for word in words]
        assert [(each.returncode, each.stdout) for each in done] == [(0, "running: 3 episodes changed\n")] * 4


class TestExport:
    LINES = b'{"kind": "run"}\n{"kind": "episode"}\n'

    def test_writes_what_the_service_gives(self, tmp_path: Path) -> None:
        with serving({f"GET /api/v1/runs/{ID}/export": self.LINES}) as service:
            done = deskarena("run", "export", ID, "--to", str(tmp_path / "out.jsonl"), server=service.url)
        assert (done.returncode, done.stdout) == (0, "")
        assert (tmp_path / "out.jsonl").read_bytes() == self.LINES

    def test_export_requests_the_chosen_format(self, tmp_path: Path) -> None:
        with serving({f"GET /api/v1/runs/{ID}/export": b"zip"}) as service:
            words = ("run", "export", ID, "--format", "inspect", "--no-pictures", "--out", str(tmp_path / "run.eval"))
            done = deskarena(*words, server=service.url)
        assert (done.returncode, (tmp_path / "run.eval").read_bytes()) == (0, b"zip")
        assert [file.name for file in tmp_path.iterdir()] == ["run.eval"]

    def test_export_goes_to_stdout_by_default(self) -> None:
        with serving({f"GET /api/v1/runs/{ID}/export": self.LINES}) as service:
            assert deskarena("run", "export", ID, server=service.url).stdout == self.LINES.decode()


class TestImportResults:
    def test_posts_what_the_folder_has(self, tmp_path: Path) -> None:
        example = tmp_path / "pyautogui/screenshot/gpt-5/chrome/a"
        example.mkdir(parents=True)
        (example / "result.txt").write_text("0.5")
        with serving({"POST /api/v1/runs/import": (201, run(scored=1))}) as service:
            done = deskarena("run", "import-results", str(tmp_path), "--benchmark", "osworld", server=service.url)
            _, _, body = service.asked[0]
        assert done.returncode == 0, done.stderr
        assert (body["benchmark"], body["results"]["model"]) == ("osworld", "gpt-5")
        assert [(each["task"], each["score"]) for each in body["results"]["episodes"]] == [("chrome/a", 0.5)]

    def test_a_folder_without_results_is_refused(self, tmp_path: Path) -> None:
        done = deskarena("run", "import-results", str(tmp_path), "--benchmark", "osworld", "-o", "json")
        assert done.returncode == 2
        assert json.loads(done.stderr.splitlines()[-1])["error"]["code"] == "invalid_results"
