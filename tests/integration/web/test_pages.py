import html
import re
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from backend.domain.model.task import SetupStep
from backend.services.attempts import attempts
from tests.factories.records import World, capabilities
from tests.factories.scene import HOSTILE, MACHINE, OneTransaction, PageScene
from tests.factories.suites import SAMPLES, read
from tests.factories.tasks import make_benchmark, make_task

PAGE = {"Accept": "text/html"}


def addresses(scene: PageScene) -> list[str]:
    return [
        "/", "/wall", f"/wall?q=noop&run={scene.live}&tiles=1", "/runs", "/runs?q=navi&status=completed", "/runs/new",
        f"/runs/{scene.finished}", f"/runs/{scene.live}",
        f"/runs/{scene.finished}?domain=files&look=pass", f"/episodes/{scene.solved}?step=0",
        f"/episodes/{scene.lost}?attempt=2", f"/episodes/{scene.hostile}",
        f"/compare?run={scene.finished}&run={scene.pilot}", f"/compare?run={scene.finished}&run={scene.live}",
        "/compare",
        f"/compare/failures?run={scene.finished}&label=domain",
        f"/compare/episodes?episode={scene.solved}&episode={scene.hostile}", "/benchmarks", "/benchmarks/starter",
        "/benchmarks/starter?domain=files&q=rename", "/leaderboards/starter", "/workers", "/docs/api-reference",
        "/login",
    ]  # fmt: skip


class TestEveryPage:
    def test_opens_and_is_revalidated_at_each_visit(self, client: TestClient, scene: PageScene) -> None:
        for address in addresses(scene):
            answer = client.get(address, headers=PAGE)
            assert answer.status_code == 200, address
            assert answer.headers["cache-control"] == "private, no-cache"
            assert answer.headers["content-encoding"] == "gzip"

    def test_names_the_modules_of_its_controllers(self, client: TestClient, scene: PageScene) -> None:
        head = client.get(f"/episodes/{scene.solved}", headers=PAGE).text.partition("</head>")[0]
        preloads = re.findall(r'<link rel="modulepreload" href="/static/[0-9a-f]{12}/js/([a-z_/]+)\.js">', head)
        assert {"main", "controllers/replay", "controllers/tree", "lib/overlay", "lib/socket"} <= set(preloads)
        assert "controllers/versus" not in preloads

    def test_unchanged_page_is_304(self, client: TestClient, scene: PageScene) -> None:
        # Without runs that go on: their time changes from one tenth of a second to the next.
        for address in (
            "/runs?status=completed",
            f"/episodes/{scene.solved}",
            "/leaderboards/starter",
            "/api/v1/benchmarks",
        ):
            tag = client.get(address, headers=PAGE).headers["etag"]
            answer = client.get(address, headers={**PAGE, "If-None-Match": tag})
            assert (answer.status_code, answer.content) == (304, b""), address
            assert answer.headers["content-security-policy"]

    def test_opens_in_an_empty_installation(self, fresh: TestClient) -> None:
        board = "/leaderboards/starter"
        for address in ("/", "/runs", "/runs/new", "/studies/new", "/benchmarks/starter", board, "/workers"):
            assert fresh.get(address, headers=PAGE).status_code == 200, address

    def test_hostile_words_are_text_everywhere(self, client: TestClient, scene: PageScene) -> None:
        shown = 0
        for address in addresses(scene):
            text = client.get(address, headers=PAGE).text
            assert HOSTILE not in text, address
            assert "<img src=x" not in text
            shown += html.escape(HOSTILE, quote=False)[:20] in text or "&lt;script&gt;document" in text
        assert shown >= 3

    @pytest.mark.parametrize("path", ["/runs/{}", "/episodes/{}", "/tasks/{}", "/benchmarks/{}", "/leaderboards/{}"])
    def test_missing_pages_are_404_pages(self, client: TestClient, path: str) -> None:
        answer = client.get(path.format(uuid4()), headers=PAGE)
        assert answer.status_code == 404
        assert "(404, " in answer.text

    @pytest.mark.parametrize("path", ["/episodes/x", "/tasks/1", "/studies/mine/edit", "/judges/x"])
    def test_invalid_id_is_404(self, client: TestClient, path: str) -> None:
        assert client.get(path, headers=PAGE).status_code == 404


class TestHome:
    def test_shows_live_desktops_queue_and_attention(self, client: TestClient, scene: PageScene) -> None:
        text = client.get("/", headers=PAGE).text
        assert text.count('class="tile"') == 2
        assert all(f'data-attempt="{attempt}"' in text for attempt in scene.attempts)
        assert "no online worker offers the agent navi-2" in text
        assert f"/episodes/{scene.flagged}" in text
        assert "the dialog differs between versions" in text


class TestRun:
    def test_the_rate_has_interval_denominator_and_lower_bound(self, client: TestClient, scene: PageScene) -> None:
        text = client.get(f"/runs/{scene.finished}", headers=PAGE).text
        assert "22 of 26 episodes scored; 1 lost (guest 1), 1 quarantined (not counted), 2 not runnable here" in text
        assert 'class="lower"' in text
        assert "95 %:" in text

    def test_a_field_of_the_heat_map_filters_the_list(self, client: TestClient, scene: PageScene) -> None:
        text = client.get(f"/runs/{scene.finished}?domain=images&difficulty=unlabelled", headers=PAGE).text
        assert text.count('class="task-link"') == 1

    def test_run_commands_work_from_the_page(self, fresh: TestClient, installation: World) -> None:
        run = installation.submit("noop")
        answers = [fresh.post(f"/runs/{run.id}/{move}") for move in ("pause", "resume", "cancel")]
        assert [(answer.status_code, answer.headers["location"]) for answer in answers] == [
            (303, f"/runs/{run.id}")
        ] * 3
        assert fresh.get(f"/api/v1/runs/{run.id}").json()["status"] == "cancelled"
        assert fresh.post(f"/runs/{run.id}/explode", headers=PAGE).status_code == 404


class TestEpisode:
    def test_step_and_attempt_are_in_the_address(self, client: TestClient, scene: PageScene) -> None:
        first = client.get(f"/episodes/{scene.solved}?step=0", headers=PAGE).text
        assert 'id="step-0"' in first
        assert 'data-index="0"' in first
        assert '<circle class="ring" cx="300" cy="140"' in first
        assert client.get(f"/episodes/{scene.lost}?attempt=9", headers=PAGE).status_code == 404

    def test_the_verdict_has_its_reasons(self, client: TestClient, scene: PageScene) -> None:
        text = client.get(f"/episodes/{scene.solved}", headers=PAGE).text
        assert "the text is as expected" in text
        assert "agent answered DONE" in text

    def test_shows_how_the_machine_started_and_why_it_is_slow(self, client: TestClient, scene: PageScene) -> None:
        text = html.unescape(client.get(f"/episodes/{scene.solved}", headers=PAGE).text)
        assert 'data-start="clone" data-prepared="yes"' in text
        assert "emulated without KVM, 10 to 30 times slower: no /dev/kvm" in text
        assert "1.2\u00a0s" in text

    def test_run_shows_that_machines_were_emulated(self, client: TestClient, scene: PageScene) -> None:
        text = client.get(f"/runs/{scene.finished}", headers=PAGE).text
        assert re.search(r'data-emulated="[1-9]', text)
        assert MACHINE["warning"] in text
        live = client.get(f"/runs/{scene.live}", headers=PAGE).text
        assert 'data-emulated="4"' in live  # Its two attempts that go on are local.

    def test_the_wait_of_a_starting_desktop_is_shown(self, fresh: TestClient, installation: World) -> None:
        run = installation.submit("noop")
        claim = installation.must_claim(installation.worker("w2"))
        about = {"subject": "the template of tiny", "doing": "waiting for the guest API", "phase": "boot"}
        facts = {**about, "limit": 600.0, "note": "machines are emulated", "seconds": 42.0}
        installation.do(attempts.note_opening, claim.fence, facts)
        text = fresh.get(f"/episodes/{claim.episode_id}", headers=PAGE).text
        assert 'data-startup="boot">Starting the template of tiny: waiting for the guest API' in text
        assert "; machines are emulated)" in text
        for address in ("/", f"/runs/{run.id}"):
            assert "waiting for the guest API" in fresh.get(address, headers=PAGE).text, address
        installation.do(attempts.note_desktop, claim.fence, {"path": "clone"})
        assert "data-startup" not in fresh.get(f"/episodes/{claim.episode_id}", headers=PAGE).text
        assert "data-emulated" not in fresh.get(f"/runs/{run.id}", headers=PAGE).text

    def test_step_count_is_not_the_step_number(self, fresh: TestClient, installation: World) -> None:
        installation.submit(tasks=("files/a",))
        claim = installation.must_claim(installation.worker("w2"))
        installation.begin(claim)
        address = f"/episodes/{claim.episode_id}"
        installation.step(claim, 0)
        assert ">Step 0</output>" in fresh.get(address, headers=PAGE).text
        for index in (1, 2):
            installation.step(claim, index)
        text = fresh.get(address, headers=PAGE).text
        assert '<b class="mono" data-remote-desktop-target="step">3</b> of 30' in text
        assert ">Step 2</output>" in text

    def test_a_long_one_has_a_part_of_its_steps(self, fresh: TestClient, installation: World) -> None:
        installation.submit(tasks=("files/a",))
        claim = installation.must_claim(installation.worker("w2"))
        installation.begin(claim)
        with installation.work() as session:
            here = OneTransaction(installation.factory, installation.store, session)
            for index in range(120):
                here.step(claim, index)
        address = f"/episodes/{claim.episode_id}"

        def rows(query: str, path: str = "") -> list[int]:
            text = fresh.get(f"{address}{path}?{query}", headers=PAGE).text
            return [int(number) for number in re.findall(r'id="step-(\d+)"', text)]

        assert rows("step=70") == rows("first=50", "/steps") == list(range(50, 100))
        assert rows("") == rows("step=400") == rows("first=100&attempt=1", "/steps") == list(range(100, 120))
        text = fresh.get(f"{address}?step=70", headers=PAGE).text
        assert (text.count("data-step-detail"), 'data-step-detail="70"' in text) == (1, True)
        assert f'href="{address}?step=0"' in text  # Without scripts, the parts of the list are links.
        assert f'href="{address}?step=100"' in text
        news = fresh.get(f"{address}/steps?after=117", headers=PAGE).text
        assert re.findall(r'id="step-(\d+)"', news) == ["118", "119"]
        assert ('id="result"' in news, "</head>" in news, len(news) < 8_000) == (True, False, True)
        assert 'class="facts"' in fresh.get(f"{address}/steps/70", headers=PAGE).text
        assert fresh.get(f"{address}/steps/120").json()["code"] == "step_not_found"
        assert fresh.get(f"{address}/steps?attempt=2").json()["code"] == "attempt_not_found"


class TestPersonsTask:
    @pytest.mark.parametrize("of", ["/episodes/{episode}", "/runs/{run}/human"])
    def test_one_click_restarts_after_a_loss(self, fresh: TestClient, installation: World, of: str) -> None:
        can = capabilities()
        can["agents"]["human"] = {**can["agents"]["noop"], "human": True}
        worker = installation.worker(capabilities=can)
        run = installation.submit("human", tasks=("files/a",))
        (episode,) = fresh.get(f"/api/v1/runs/{run.id}/episodes").json()["items"]
        begin = f"/runs/{run.id}/human/{episode['id']}/begin"
        fresh.post(begin, data={"feasible": "no"})
        page = of.format(episode=episode["id"], run=run.id)
        assert f'action="{begin}"' not in fresh.get(page, headers=PAGE).text
        installation.lose(installation.must_claim(worker))
        text = fresh.get(page, headers=PAGE).text
        assert "1 was lost (guest), and its desktop with it; it waits for its person" in text
        form = text[text.index(f'action="{begin}"') :].partition("</form>")[0]
        assert ('name="feasible" value="no"' in form, form.count("<button")) == (True, 1)
        assert fresh.post(begin, data={"feasible": "no"}).status_code == 303
        assert installation.claim(worker) is not None


class TestWorkers:
    def test_slots_and_images_with_their_reasons(self, client: TestClient) -> None:
        text = client.get("/workers", headers=PAGE).text
        assert "limited by cores: 15.6 GiB of memory" in text
        assert "disk.qcow2 has 4,096 bytes, image.json says 734,003,200" in text
        assert "Wine 8.0" in text


class TestNewRun:
    def test_shows_forecast_and_unrunnable_providers(self, client: TestClient) -> None:
        text = client.get("/runs/new?benchmark=starter&agent=always_fail&repeats=2", headers=PAGE).text
        assert ">46<" in text
        assert "quarantined: the dialog differs between versions" in text
        assert "not installed on local desktops: localc" in text
        assert "/dev/kvm does not boot a guest here" in text

    def test_image_decides_which_tasks_can_run(self, client: TestClient) -> None:
        text = client.get("/runs/new?benchmark=starter&agent=noop&desktop_image=windows", headers=PAGE).text
        assert '<option value="windows" selected>windows (windows)</option>' in text
        assert "needs linux; the image windows has windows" in text

    def test_unknown_image_is_reported(self, client: TestClient) -> None:
        text = html.unescape(client.get("/runs/new?agent=noop&desktop_image=vista", headers=PAGE).text)
        assert "there is no image called 'vista' here. Known here: " in text

    def test_a_screen_of_the_image(self, client: TestClient) -> None:
        text = client.get("/runs/new?agent=noop&provider=qemu&desktop_image=debian-minimal", headers=PAGE).text
        assert "<option>1280x800</option>" in text
        assert "<option>1440x900</option>" not in text

    def test_one_worker_is_singular(self, fresh: TestClient) -> None:
        assert "(1 worker)" in fresh.get("/runs/new", headers=PAGE).text

    def test_starts_a_run_once(self, fresh: TestClient) -> None:
        form = {"benchmark": "starter", "agent": "noop", "provider": "local", "tasks": "files/*", "key": "k1"}
        first, again = (fresh.post("/runs/new", data={**form, "max_steps": "5"}) for _ in range(2))
        assert first.status_code == 303
        assert first.headers["location"] == again.headers["location"]
        run = fresh.get("/api/v1" + first.headers["location"]).json()
        assert (run["counts"]["waiting"], run["config"]["budget"]["max_steps"]) == (2, 5)

    def test_two_clicks_without_scripts_start_one_run(self, fresh: TestClient) -> None:
        page = fresh.get("/runs/new?benchmark=starter&agent=noop", headers=PAGE).text
        (key,) = re.findall(r'name="key" value="(\w+)"', page)
        form = {"benchmark": "starter", "agent": "noop", "provider": "local", "key": key}
        places = {fresh.post("/runs/new", data=form).headers["location"] for _ in range(2)}
        assert len(places) == 1
        # Sent again with other settings: the reader is told, and the form is a new one.
        other = fresh.post("/runs/new", data={**form, "max_steps": "7"})
        assert other.status_code == 409
        assert "This form has started something already." in other.text
        (fresh_key,) = re.findall(r'name="key" value="(\w+)"', other.text)
        assert fresh_key != key
        assert fresh.post("/runs/new", data={**form, "max_steps": "7", "key": fresh_key}).status_code == 303

    @pytest.mark.parametrize(
        ("change", "word"),
        [
            ({"agent": "nobody"}, "no agent called"),
            ({"tasks": "nothing/*"}, "matches none"),
            ({"max_steps": "0"}, "Must be at least 1."),
            ({"repeats": "many"}, "Must be a whole number."),
        ],
    )
    def test_bad_input_keeps_the_form_and_starts_nothing(
        self, fresh: TestClient, change: dict[str, str], word: str
    ) -> None:
        answer = fresh.post("/runs/new", data={"benchmark": "starter", "agent": "noop", "name": "mine", **change})
        assert answer.status_code == 422
        assert word in html.unescape(answer.text)
        assert 'value="mine"' in answer.text
        assert fresh.get("/api/v1/runs").json()["items"] == []


class TestLeaderboard:
    def test_leads_to_the_benchmark_with_runs(self, client: TestClient) -> None:
        assert client.get("/leaderboards").headers["location"] == "/leaderboards/starter"

    def test_each_chart_has_figure_table_and_csv(self, client: TestClient) -> None:
        text = client.get("/leaderboards/starter", headers=PAGE).text
        figure = client.get("/leaderboards/starter/domain.json?theme=dark").json()
        table = client.get("/leaderboards/starter/difficulty.csv")
        assert text.count('<details class="body"><summary>') == 2
        assert {series["name"].split(" ")[0] for series in figure["data"]} >= {"navi", "pilot", "noop"}
        assert figure["data"][0]["x"] == sorted(figure["data"][0]["x"])
        assert table.headers["content-disposition"].startswith("attachment")
        assert table.text.splitlines()[0].startswith(
            "configuration,agent,run,reference,difficulty,episodes,scored,lost"
        )

    def test_the_library_is_plotly_s_own_and_cached(self, client: TestClient) -> None:
        from backend.web.charts import library_url

        answer = client.get(library_url())
        assert b"plotly.js v" in answer.content[:200]
        assert "immutable" in answer.headers["cache-control"]
        assert client.get("/charts/0.0/plotly.min.js").status_code == 404


class TestSuites:
    """The pages of a published suite."""

    @pytest.fixture
    def suite(self, installation: World, fresh: TestClient) -> TestClient:
        for kind in ("waa", "osworld"):
            installation.benchmark(read(kind, SAMPLES / kind), name=kind)
        return fresh

    def page(self, client: TestClient, address: str) -> str:
        answer = client.get(address, headers=PAGE)
        assert answer.status_code == 200, answer.text
        return answer.text

    def task(self, client: TestClient, benchmark: str, word: str) -> str:
        (found,) = client.get(f"/api/v1/benchmarks/{benchmark}/tasks?q={word}").json()["items"]
        return f"/tasks/{found['id']}"

    def test_selections_variants_and_infeasible_tasks(self, suite: TestClient) -> None:
        text = self.page(suite, "/benchmarks/waa")
        assert "@test_small" in text
        assert "context=none" in text
        assert "2 of them infeasible on purpose" in text

    def test_reported_numbers_are_marked_as_such(self, suite: TestClient) -> None:
        text = self.page(suite, "/leaderboards/waa")
        assert 'id="published"' in text
        assert '<a href="/published/waa">WindowsAgentArena paper, Table 3</a>, 2024' in text
        assert 'aria-label="Success rate 74.5' in text
        assert "74.5 %" in text
        assert "/leaderboards/osworld#published" in self.page(suite, "/benchmarks/osworld")

    def test_unsupported_functions_are_listed(self, installation: World, fresh: TestClient) -> None:
        task = make_task().model_copy(update={"setup": (SetupStep(type="lunch"),)})
        installation.benchmark(make_benchmark(task), name="odd")
        assert "set-up step &#39;lunch&#39;" in self.page(fresh, "/benchmarks/odd")
        assert "there is no setup called" in self.page(fresh, self.task(fresh, "odd", "rename"))

    def test_a_tasks_labels_files_and_variant(self, suite: TestClient) -> None:
        table = self.page(suite, self.task(suite, "waa", "table"))
        assert "https://files.example.org/cache/Table_gold.xlsx" in table
        assert "Rated by people, 1 to 3" in table
        draft = self.page(suite, self.task(suite, "waa", "draft"))
        assert "Variant context=none" in draft
        assert "<b>→</b>" in draft
        assert 'id="warnings"' in self.page(suite, self.task(suite, "osworld", "theme"))

    def test_changes_of_a_version_are_listed(self, installation: World, fresh: TestClient) -> None:
        installation.benchmark(make_benchmark(make_task("files", "a"), make_task("files", "z")))
        assert "/benchmarks/starter/diff?" in self.page(fresh, "/benchmarks/starter")
        text = self.page(fresh, "/benchmarks/starter/diff?old=starter@1&new=starter@2")
        assert "v1 to v2" in text
        assert "files/z" in text
        assert fresh.get("/benchmarks/starter/diff?old=starter@7", headers=PAGE).status_code == 404

    def test_the_form_offers_selections_and_variants(self, suite: TestClient) -> None:
        text = self.page(suite, "/runs/new?benchmark=waa&agent=noop&tasks=@test_small&variant=context%3Dnone")
        assert 'value="@test_small" data-new-run-target="selection" checked' in text
        assert '<option value="context=none" selected>' in text
        assert "2 tasks" in text

    def test_a_run_of_a_selection_under_a_variant(self, suite: TestClient) -> None:
        form = {"benchmark": "waa", "agent": "noop", "tasks": "@test_small", "variant": "context=none"}
        answer = suite.post("/runs/new", data=form, headers={"Origin": "http://127.0.0.1:8000"})
        assert answer.status_code == 303, answer.text
        run = suite.get(f"/api/v1{answer.headers['location']}?include=episodes").json()
        assert len(run["episodes"]) == 2
        assert "context=none" in self.page(suite, "/leaderboards/waa")
