"""A realistic installation for pages: two agents' runs with every outcome, one of them under way, and validation."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Episode, Quarantine, Run, Task, Worker
from backend.db.models.enums import EvidenceRole, Purpose
from backend.domain.errors import FailureClass
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import Budget, RunConfig
from backend.domain.model.score import Evaluation, MetricEvidence
from backend.domain.model.task import EvaluatorSpec, Labels, LoadedBenchmark, MetricCall, SetupStep, TaskKey
from backend.domain.model.task import Task as DomainTask
from backend.domain.model.trajectory import (
    Action,
    ActionType,
    Decision,
    Frame,
    Observation,
    StepRecord,
    StepTiming,
    Usage,
)
from backend.domain.studies.study import Factor, StudyConfig
from backend.services.artifacts.artifacts import ArtifactRef, register
from backend.services.attempts import attempts
from backend.services.attempts.attempts import EvidenceRow, StepRow
from backend.services.people import human_agent
from backend.services.scheduling import claims
from backend.services.studies.studies import submit_study
from tests.factories import pictures
from tests.factories.records import World, capabilities

HOSTILE = '<script>document.title="owned"</script><img src=x onerror=alert(1)>'
DOMAINS: Mapping[str, tuple[str, ...]] = {
    "files": ("rename-report", "move-photos", "make-archive", "find-largest", "empty-folder"),
    "editor": ("fix-typo", "replace-all", "sort-lines", "number-lines", "save-copy"),
    "terminal": ("count-words", "list-processes", "change-mode", "make-link"),
    "settings": ("change-wallpaper", "set-timezone", "large-text"),
    "calculator": ("add-column", "convert-units", "square-root"),
    "images": ("rotate-photo", "crop-logo", "read-size", "print-poster"),
    "calc": ("sum-column", "make-chart"),
}
STEPS = 4
LEVELS = ("easy", "medium", "hard")
WORDS = (
    "The file manager is open. I look for the report in the Documents folder.",
    "I select the file and open its context menu.",
    "The rename dialog is there. I replace the old name.",
    "I press Enter to confirm.",
    "The file has its new name now; I check the folder once more.",
    "Everything is as it was asked for.",
)


@dataclass
class OneTransaction(World):
    """A world with all steps in one transaction: much faster, for scenes that are only read."""

    session: Session | None = None

    @contextmanager
    def work(self) -> Iterator[Session]:
        """The one session."""
        assert self.session is not None
        yield self.session
        self.session.flush()
        self.session.expunge_all()  # What a session holds is looked through at every flush.


@dataclass
class PageScene:
    """The installation that was made.

    Attributes:
        finished, pilot, live: runs; the second is another agent's on the same tasks.
        solved, lost, hostile: episodes of the finished run.
        attempts: live attempts.
        study: over two factors, all of it scored.
        human: a run in which a person has done one task and judges the next.
    """

    world: World
    finished: UUID
    pilot: UUID
    live: UUID
    solved: UUID
    lost: UUID
    hostile: UUID
    flagged: UUID
    attempts: list[UUID]
    study: UUID
    human: UUID


def tasks() -> LoadedBenchmark:
    """Twenty-six tasks over seven domains; two infeasible ones, two that need an absent application, one hostile."""
    task_list = [_task(domain, name, place) for domain, names in DOMAINS.items() for place, name in enumerate(names)]
    return LoadedBenchmark(kind="starter", tasks=tuple(task_list), licence="Apache-2.0", source="made for tests")


def _task(domain: str, name: str, place: int) -> DomainTask:
    infeasible = name in {"print-poster", "set-timezone"}
    call = MetricCall(
        func="compare_text_file",
        result={"type": "vm_file", "path": f"/home/user/{name}.txt", "dest": f"{name}.txt"},
        expected={"type": "rule", "rules": {"expected": "Quarterly report"}},
        options={"ignore_case": True},
    )
    text = f"In {domain}, {name.replace('-', ' ')}: rename report.txt in Documents to report-2026.txt, leave the rest."
    return DomainTask(
        key=TaskKey(domain=domain, name=name),
        dialect="starter",
        instruction=f"{HOSTILE} {text}" if name == "fix-typo" else text,
        setup=(
            SetupStep(type="create_file", parameters={"path": "/home/user/report.txt", "content": "Quarterly report"}),
            SetupStep(type="launch", parameters={"command": ["mousepad", "/home/user/report.txt"]}),
        ),
        evaluator=EvaluatorSpec(calls=(MetricCall(func="infeasible") if infeasible else call,)),
        labels=Labels(
            feasible=not infeasible,
            difficulty=None if name == "read-size" else LEVELS[place % 3],
            difficulty_source=None if name == "read-size" else "author",
            requires=("localc",) if domain == "calc" else ("mousepad",),
            apps=("mousepad",),
        ),
        max_steps=STEPS,
    )


def abilities() -> dict[str, Any]:
    """Capabilities of the scene's worker."""
    offer = capabilities(("mousepad", "pcmanfm", "xterm", "galculator", "gpicview"))
    programs = offer["providers"]["local"]["programs"]
    offer["providers"]["local"] |= {
        "os": ["linux", "windows"],
        "slots": {"number": 2, "reason": "limited by cores: 15.6 GiB of memory, 2 cores; one takes 1 GiB, 1 core"},
        "images": [
            {"name": "linux", "default": True, "about": "programs of this machine", "programs": programs},
            {"name": "windows", "os": "windows", "about": "Wine 8.0", "programs": ["notepad"]},
        ],
    }
    offer["providers"]["qemu"] = {
        "ok": False,
        "reason": "/dev/kvm does not boot a guest here",
        "programs": [],
        "images": [
            {
                "name": "debian-minimal",
                "about": "minimal 12.7; 1 GiB, 2 processors, disk 8 GiB",
                "programs": programs,
                "screens": [{"width": 1920, "height": 1080}, {"width": 1280, "height": 800}],
                "prepared": False,
                "reason": "disk.qcow2 has 4,096 bytes, image.json says 734,003,200",
            }
        ],
    }
    offer["models"] = {"http": {}}
    schema = {
        "properties": {
            "seed_offset": {"type": "integer", "default": 0, "minimum": 0, "description": "Added to the seed."},
            "style": {"type": "string", "enum": ["calm", "hasty"], "default": "calm", "description": "How it moves."},
        }
    }
    about = {
        "random": "Seeded random actions: the floor of a real policy.",
        "noop": "Does nothing and says it is done.",
        "always_fail": "Says at once that the task cannot be done.",
        "oracle": "Replays the task's own solution.",
        "replay": "Repeats a recorded trajectory.",
    }
    for name, words in about.items():
        offer["agents"][name] = {**offer["agents"][name], "about": words}
    offer["agents"]["random"] = {**offer["agents"]["random"], "schema": schema}
    offer["agents"]["human"] = {**offer["agents"]["noop"], "about": "A person.", "human": True}
    return offer


def step(  # noqa: PLR0913 - what a step is made of
    world: World, claim: claims.Claim, index: int, *, words: str = "", reply: str = "", final: bool = False
) -> None:
    """Records one step with a picture, a tree and an action."""
    spot = (300 + 70 * (index % 9), 140 + 45 * (index % 8))
    picture = pictures.desktop("report.txt - Mousepad", index, spot)
    xml = pictures.tree(words or f"{claim.task.key.name}.txt", index).replace(b"<script", b"&lt;script")
    actions = (
        (Action(type=ActionType.CLICK, x=spot[0], y=spot[1]),),
        (Action(type=ActionType.TYPING, text="report-2026.txt"), Action(type=ActionType.PRESS, keys=("enter",))),
        (Action(type=ActionType.MOVE_TO, x=420, y=300), Action(type=ActionType.DRAG_TO, x=760, y=420)),
        (Action(type=ActionType.HOTKEY, keys=("ctrl", "s")),),
    )
    decision = Decision(
        actions=() if final else actions[index % 4],
        explanation="" if final else words or WORDS[index % len(WORDS)],
        reply="" if final else reply or f'```json\n{{"thought": "{WORDS[index % len(WORDS)]}"}}\n```',
        usage=Usage(input_tokens=1200 + 40 * index, output_tokens=90),
    )
    record = StepRecord(
        index=index,
        observation=Observation(
            index=index,
            frame=Frame(data=picture, media_type="image/jpeg", width=pictures.SIZE[0], height=pictures.SIZE[1]),
        ),
        decision=decision,
        results=({"final": True},) if final else ({},),
        timing=StepTiming(observe=0.03, agent=1.4, action=0.02, settle=0.4, record=0.01, total=1.9),
    )
    with world.work() as session:
        refs = []
        for data, kind in ((picture, "image/jpeg"), (xml, "application/xml")):
            sha256 = world.store.put(data, kind)
            register(session, sha256, len(data), kind)
            refs.append(ArtifactRef(sha256, len(data), kind))
        attempts.record_step(session, claim.fence, StepRow(record, *refs))


MACHINE: dict[str, Any] = {"provider": "qemu", "image": "linux-minimal", "path": "clone", "prepared": True} | {
    "accelerator": "tcg",
    "warning": "emulated without KVM, 10 to 30 times slower: no /dev/kvm",
    "seconds": {"qemu": 0.17, "state": 0.35, "restored": 1.2, "made": 1.9},
}


def act(world: World, claim: claims.Claim, steps: int, ended_by: EndedBy, words: str = "") -> None:
    """From the claim to the evaluation, with the state that was left."""
    world.do(attempts.note_desktop, claim.fence, MACHINE)
    world.do(attempts.enter_running, claim.fence, {"reset": 0.71, "setup": 0.62})
    for index in range(steps):
        step(world, claim, index, words=words, reply=words)
    step(world, claim, steps, final=True)
    seconds = {"agent": 1.4 * steps, "action": 0.08 * steps, "settle": 0.4 * steps, "record": 0.02 * steps}
    world.do(attempts.enter_evaluating, claim.fence, ended_by, seconds)


def verdict(score: float, words: str = "") -> Evaluation:
    """An evaluation with its reasons."""
    reasons = {1.0: "the text is as expected", 0.0: "the file still has its old text"}
    reason = words or reasons.get(score, "2 of 4 lines")
    metric = MetricEvidence(
        func="compare_text_file", value=score, reasons=(reason,), result="Quarterly rep", expected="Quarterly report"
    )
    return Evaluation(score=score, measures={"score": score, "similarity": 0.5 + score / 2}, metrics=(metric,))


def finish(world: World, claim: claims.Claim, score: float, words: str = "") -> None:
    """Scores an attempt with one present and one absent piece of evidence."""
    data = f"Quarterly report of {claim.task.key}".encode()
    with world.work() as session:
        sha256 = world.store.put(data, "application/octet-stream")
        register(session, sha256, len(data), "application/octet-stream")
        ref = ArtifactRef(sha256, len(data), "application/octet-stream")
        evidence = [
            EvidenceRow(0, EvidenceRole.RESULT, "vm_file", "/home/user/report-2026.txt", ref),
            EvidenceRow(0, EvidenceRole.EXPECTED, "rule", "expected", None, "given in the task"),
        ]
        attempts.finish_scored(session, claim.fence, verdict(score, words), evidence, {"evaluation": 0.24})
    world.do(claims.release_lease, claim.lease_id, "done")


def rename_agent(world: World, run: Run, name: str) -> None:
    """Gives a played run's agent a name that no worker offers, so that it is one that is ranked."""
    with world.work() as session:
        params = {"model": "small-vision-2", "temperature": 1.0}
        agent = AgentConfiguration(id=uuid4(), project_id=run.project_id, name=name, params=params, identity_hash=name)
        session.add(agent)
        values = {"agent_configuration_id": agent.id, "condition_hash": name}
        session.execute(update(Run).where(Run.id == run.id).values(values))


def play(world: World, worker: Worker, run: Run, skill: float, seed: int) -> dict[str, UUID]:
    """Runs all of a run's episodes: solved, partly, not, out of steps, lost after retries, flagged."""
    world.in_order()
    dice = random.Random(seed)  # noqa: S311 - outcomes, no secrets
    ids: dict[str, UUID] = {}
    while (claim := world.claim(worker)) is not None:
        key = str(claim.task.key)
        if key == "files/empty-folder":
            world.do(attempts.enter_running, claim.fence, {"reset": 0.7, "setup": 0.4})
            step(world, claim, 0)
            world.lose(claim, FailureClass.GUEST, after_action=True)
            ids["lost"] = ids["flagged"] = claim.episode_id
            continue
        if key == "terminal/make-link" and claim.attempt_number == 1:
            world.lose(claim, FailureClass.CLUSTER)
            continue
        hostile = HOSTILE if key == "editor/fix-typo" else ""
        draw = dice.random()
        score = 1.0 if draw < skill else 0.5 if draw < skill + 0.12 else 0.0
        ended_by = EndedBy.STEPS if score == 0.0 and dice.random() < 0.5 else EndedBy.DONE
        act(world, claim, STEPS if ended_by is EndedBy.STEPS else dice.randint(1, 3), ended_by, hostile)
        finish(world, claim, score, hostile)
        if hostile:
            ids["hostile"] = claim.episode_id
        elif score == 1.0:
            ids.setdefault("solved", claim.episode_id)
    return ids


def make_scene(world: World) -> PageScene:
    """Everything; takes some seconds."""
    with world.work() as session:
        scene = _make(OneTransaction(world.factory, world.store, session))
    scene.world = world
    world.roll_up()
    return scene


def _make(world: World) -> PageScene:
    world.benchmark(tasks())
    worker = world.worker("worker-1", slots=2, node="bench-01", capabilities=abilities())
    first = world.submit("random", name="navi, screenshots only", budget=Budget(max_steps=STEPS))
    page_scene = play(world, worker, first, 0.62, 3)
    rename_agent(world, first, "navi")
    second = world.submit("random", name="pilot, nightly", repeats=1, seed=4, budget=Budget(max_steps=STEPS))
    play(world, worker, second, 0.35, 8)
    rename_agent(world, second, "pilot")
    floor = world.submit("noop", name="floor", purpose=Purpose.DEMO, tasks=("files/*",))
    play(world, worker, floor, 0.0, 1)
    _validate(world, worker)
    study, human = _study(world, worker), _human(world, worker)
    live = world.submit("random", name="navi, second seed", repeats=2, seed=2, budget=Budget(max_steps=STEPS))
    world.in_order()
    running = _start(world, worker)
    rename_agent(world, live, "navi-2")
    _aside(world)
    return PageScene(world, first.id, second.id, live.id, attempts=running, study=study, human=human, **page_scene)


def _study(world: World, worker: Worker) -> UUID:
    asked = StudyConfig(
        name="how small may the picture be",
        benchmark="starter",
        base=RunConfig(agent="random", tasks=("images/*",), seed=5),
        factors=(Factor(name="image.scale", levels=(1, 0.5)), Factor(name="perturbation", levels=(None, "moved"))),
    )
    with world.work() as session:
        project, actor = world.who(session)
        study_id: UUID = submit_study(session, asked, project=project, actor=actor).id
    number = 0
    while (claim := world.claim(worker)) is not None:
        act(world, claim, 1 + number % 3, EndedBy.DONE)
        finish(world, claim, float(number % 3 == 0))
        number += 1
    return study_id


def _human(world: World, worker: Worker) -> UUID:
    run = world.submit("human", name="ten minutes with a person", tasks=("editor/*",))
    desk = world.do(human_agent.desk, run.id)
    world.do(human_agent.begin, run.id, desk.episode.id, feasible=True)
    claim = world.must_claim(worker)
    act(world, claim, 2, EndedBy.DONE)
    finish(world, claim, 1.0)
    world.do(human_agent.rate, run.id, claim.episode_id, 2)
    return run.id


def _validate(world: World, worker: Worker) -> None:
    for agent in ("oracle", "noop", "always_fail"):
        world.submit(agent, purpose=Purpose.VALIDATE, name=f"validate starter: {agent}", tasks=("images/*",))
        while (claim := world.claim(worker)) is not None:
            infeasible = not claim.task.labels.feasible
            right = agent == "oracle" or (agent == "always_fail" and infeasible)
            act(world, claim, 1, EndedBy.INFEASIBLE if agent == "always_fail" else EndedBy.DONE)
            broken = str(claim.task.key) == "images/crop-logo" and agent == "noop"
            finish(world, claim, float(right or broken))


def _start(world: World, worker: Worker) -> list[UUID]:
    """Four episodes have ended, two are under way."""
    for score in (1.0, 0.0, 1.0, 0.5):
        claim = world.must_claim(worker)
        act(world, claim, 2, EndedBy.DONE)
        finish(world, claim, score)
    going = [world.must_claim(worker), world.must_claim(worker)]
    for place, claim in enumerate(going):
        world.do(attempts.note_desktop, claim.fence, {"home": "overlay"})
        world.do(attempts.enter_running, claim.fence, {"reset": 0.7, "setup": 0.5})
        for index in range(2 + place):
            step(world, claim, index)
    return [claim.attempt_id for claim in going]


def _aside(world: World) -> None:
    """One task in quarantine, and times that are spread out instead of lying in one moment."""
    with world.work() as session:
        _, actor = world.who(session)
        task = session.scalars(select(Task).where(Task.domain == "settings", Task.name == "large-text")).one()
        session.add(Quarantine(task_id=task.id, reason="the dialog differs between versions", actor_id=actor.id))
        long = func.make_interval(0, 0, 0, 0, 0, 6, 20)
        session.execute(update(Run).where(Run.ended_at.is_not(None)).values(started_at=Run.ended_at - long))
        ended = update(Episode).where(Episode.ended_at.is_not(None), Episode.started_at.is_not(None))
        session.execute(ended.values(started_at=Episode.ended_at - func.make_interval(0, 0, 0, 0, 0, 0, 9)))
