"""ProSoftArena's reader on our own sample of its format; the paper publishes no files."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from backend.domain.benchmarks import findings
from backend.domain.benchmarks._prosoft_software import Software, versions_of
from backend.domain.errors import Invalid
from backend.domain.machines.applications import missing
from backend.domain.model.task import Difficulty, DifficultySource, LoadedBenchmark, PartKind, Task
from tests.error_codes import raises_code
from tests.factories.suites import SAMPLES, read
from worker.images.windows.catalog import read_catalog

SAMPLE = SAMPLES / "prosoftarena"
LONG = "excel/XL_L3_001.json"
METADATA: dict[str, Any] = json.loads((SAMPLE / LONG).read_text())["metadata"]


def sample(key: str) -> Task:
    return next(task for task in read("prosoftarena", SAMPLE).tasks if str(task.key) == key)


def changed(folder: Path, **metadata: Any) -> LoadedBenchmark:
    """The sample with other metadata of its long task."""
    return altered(folder, {"metadata": {**METADATA, **metadata}})


def altered(folder: Path, changes: dict[str, Any], file: str = LONG) -> LoadedBenchmark:
    root = folder / "copy"
    shutil.copytree(SAMPLE, root)
    raw = json.loads((root / file).read_text())
    (root / file).write_text(json.dumps({**raw, **changes}))
    return read("prosoftarena", root)


class TestMetadata:
    def test_the_papers_fields(self) -> None:
        labels = sample("photoshop/PS_L1_001").labels
        assert (labels.difficulty, labels.difficulty_source) == (Difficulty.EASY, DifficultySource.AUTHOR)
        assert (labels.level, labels.os, labels.apps) == ("L1", "windows", ("photoshop",))
        assert (labels.human_steps, labels.human_seconds) == (4, 40.0)
        assert labels.extra["discipline"] == labels.extra["group"] == "Art & Design"
        assert (labels.extra["subfield"], labels.extra["demonstration"]) == ("art", "https://example.org/one.mp4")
        assert labels.extra["expected_output"] == "The picture in shades of grey."
        assert labels.extra["context_resources"] == ["photo.png"]

    def test_software_has_version_and_licence_of_the_papers_table(self) -> None:
        software = sample("photoshop/PS_L1_001").labels.extra["software"]
        assert software == [{"name": "Photoshop", "version": "26.7", "licence": "commercial", "seats": 1}]

    def test_every_commercial_program_needs_a_seat(self) -> None:
        assert sample("excel/XL_L3_001").labels.licences == {"Photoshop": 1, "Microsoft Office": 1}

    def test_requires_the_papers_programs_in_the_papers_versions(self) -> None:
        assert sample("photoshop/PS_L1_001").labels.requires == ("photoshop", "photoshop 26.7")
        assert set(sample("excel/XL_L3_001").labels.requires) == {
            "excel",
            "excel 2024",
            "photoshop",
            "photoshop 26.7",
        }

    def test_a_windows_image_with_every_program_has_them_in_the_papers_versions(self) -> None:
        there = {name for each in read_catalog().all() for name in each.provides()}
        paper = [Software(name="ImageJ", version="15.4"), Software(name="SolidWorks", version="2025 SP1.2")]
        assert versions_of(paper, "windows") == ("ImageJ 1.54", "sldworks 2025 SP1.2")
        assert missing(versions_of(paper, "windows"), there) == []
        assert missing(versions_of([Software(name="Photoshop", version="25.0")], "windows"), there) == [
            "photoshop 25.0"
        ]

    def test_explicit_requirements_replace_derived_ones(self, tmp_path: Path) -> None:
        assert altered(tmp_path, {"requires": ["localc"]}).tasks[0].labels.requires == ("localc",)

    def test_free_programs_need_none(self, tmp_path: Path) -> None:
        result = changed(tmp_path, Software=["R", {"name": "GIMP", "version": "2.10", "licence": "GPL-3.0"}])
        assert result.tasks[0].labels.licences == {}

    def test_a_task_may_ask_for_more_seats(self, tmp_path: Path) -> None:
        result = changed(tmp_path, Software=[{"name": "ANSYS", "version": "2024 R1", "seats": 4}])
        assert result.tasks[0].labels.licences == {"ANSYS": 4}

    def test_operations_use_the_core_tasks_names(self) -> None:
        assert sample("photoshop/PS_L1_001").labels.extra["operations"] == ["desaturate"]
        assert sample("excel/XL_L3_001").labels.extra["operations"] == ["desaturate"]

    def test_the_sample_is_complete(self) -> None:
        assert read("prosoftarena", SAMPLE).warnings == ()

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ({"Difficulty": "Hrad"}, 'metadata difficulty: expected one of easy, medium, hard, got "Hrad"; left out'),
            ({"Discipline": "Alchemy"}, "metadata discipline: expected one of Art & Design, Business"),
            ({"Discipline": "Science"}, "metadata subfield: design belongs to Art & Design, not to Science"),
            ({"Level": "L2"}, "metadata level: it is L2, the id XL_L3_001 says L3; the metadata counts"),
            ({"Core Operations": ["PS_L1_009"]}, "core_operations: no L1 task is called PS_L1_009; kept as written"),
            ({"Core Operations": 7}, "metadata core_operations: expected a list of at most 100 texts, got 7; left out"),
            ({"Software": [{"name": "Excel", "version": "2016"}]}, "Excel 2016, the paper's version is 2024"),
            ({"Software": [{"version": "1"}]}, "metadata software: expected a name or {name, version, licence, seats}"),
            ({"Human Reference": {"steps": "many"}}, 'metadata human_steps: expected a number of steps, got "many"'),
            ({"Human Reference": {"time": "soon"}}, "metadata human_time: expected a time such as 200, 3:20"),
            ({"Expected Output": None}, "metadata: no expected output"),
            ({"os": "amiga"}, "metadata os: expected one of windows, linux"),
        ],
    )
    def test_damaged_tasks_are_left_out_and_reported(self, tmp_path: Path, said: dict[str, Any], told: str) -> None:
        warnings = changed(tmp_path, **said).warnings
        assert any(line.startswith(LONG) and told in line for line in warnings), warnings

    def test_missing_metadata_is_warned_about(self, tmp_path: Path) -> None:
        result = altered(tmp_path, {"metadata": ["nothing"]})
        assert f'{LONG}: metadata: expected an object, got ["nothing"]; left out' in result.warnings
        lacking = "discipline, subfield, expected output, difficulty, demonstration, human steps, human seconds"
        assert f"{LONG}: metadata: no {lacking}, core operations" in result.warnings
        assert result.tasks[0].labels.level == "L3"

    @pytest.mark.parametrize(
        ("time", "seconds"),
        [(200, 200.0), ("200", 200.0), ("3:20", 200.0), ("1:03:20", 3800.0), ("3 min 20 s", 200.0), ("90s", 90.0)],
    )
    def test_human_times_are_parsed(self, tmp_path: Path, time: Any, seconds: float) -> None:
        result = changed(tmp_path, **{"Human Reference": {"steps": 1, "time": time}})
        assert result.tasks[0].labels.human_seconds == seconds


class TestPhases:
    def test_in_order_with_their_weights(self) -> None:
        spec = sample("excel/XL_L3_001").evaluator
        assert (spec.protocol, spec.calls) == ("prosoftarena", ())
        assert [(part.name, part.weight, part.after) for part in spec.parts] == [
            ("grey", 0.5, ()),
            ("named", 0.5, ("grey",)),
        ]
        assert {part.kind for part in spec.parts} == {PartKind.PHASE}

    def test_network_needs_of_phases_belong_to_the_task(self, tmp_path: Path) -> None:
        phases = json.loads((SAMPLE / LONG).read_text())["evaluator"]["phases"]
        assert "network" not in sample("excel/XL_L3_001").labels.extra
        phases[1]["result"] = {"type": "info_from_website", "url": "https://example.org", "infos": []}
        phases[0]["result"] = {"type": "cloud_file", "path": "https://example.org/photo.png", "dest": "photo.png"}
        result = altered(tmp_path, {"evaluator": {"phases": phases}})
        assert result.tasks[0].labels.extra["network"] == ["assets", "web"]

    @pytest.mark.parametrize(
        ("weights", "told"),
        [
            ((0.5, 0.4), "the weights of the phases add up to 0.9, not to 1 (grey 0.5, named 0.4)"),
            ((0.0, 1.0), "must be more than 0"),
            ((None, 1.0), "must be a number"),
        ],
    )
    def test_weights_are_checked(self, tmp_path: Path, weights: tuple[Any, Any], told: str) -> None:
        phases = json.loads((SAMPLE / LONG).read_text())["evaluator"]["phases"]
        for phase, weight in zip(phases, weights, strict=True):
            phase["weight"] = weight
        with raises_code(Invalid, "invalid_task_file", mentions=LONG) as caught:
            altered(tmp_path, {"evaluator": {"phases": phases}})
        assert told in str(caught.value)

    @pytest.mark.parametrize(("after", "before"), [(None, ("grey",)), ([], ()), (["grey"], ("grey",))])
    def test_phases_are_chained_or_independent_as_the_task_says(
        self, tmp_path: Path, after: list[str] | None, before: tuple[str, ...]
    ) -> None:
        phases = json.loads((SAMPLE / LONG).read_text())["evaluator"]["phases"]
        phases[1] |= {} if after is None else {"after": after}
        (task,) = (one for one in altered(tmp_path, {"evaluator": {"phases": phases}}).tasks if one.evaluator.parts)
        assert [part.after for part in task.evaluator.parts] == [(), before]

    def test_a_phase_after_one_that_is_not_there(self, tmp_path: Path) -> None:
        phases = json.loads((SAMPLE / LONG).read_text())["evaluator"]["phases"]
        phases[1]["after"] = ["red"]
        with raises_code(Invalid, "invalid_task_file", mentions=("evaluator.phases", "red")):
            altered(tmp_path, {"evaluator": {"phases": phases}})

    def test_two_phases_of_one_name(self, tmp_path: Path) -> None:
        phases = json.loads((SAMPLE / LONG).read_text())["evaluator"]["phases"]
        phases[1]["name"] = "grey"
        with raises_code(Invalid, "invalid_task_file", mentions="evaluator.phases"):
            altered(tmp_path, {"evaluator": {"phases": phases}})

    def test_neither_calls_nor_phases(self, tmp_path: Path) -> None:
        with raises_code(Invalid, "invalid_task_file", mentions=("func", "phases")):
            altered(tmp_path, {"evaluator": {}})


class TestReading:
    def test_budgets_by_level(self, tmp_path: Path) -> None:
        assert sample("photoshop/PS_L1_001").max_steps == 35
        assert sample("excel/XL_L3_001").max_steps == 100
        assert changed(tmp_path, Level="L4").tasks[0].max_steps == 55

    def test_a_check_written_for_one_task_is_unknown_unless_it_is_a_plug_in(self, tmp_path: Path) -> None:
        evaluator = {"func": "check_ai_l1_001", "result": {"type": "vm_file", "path": "C:\\x.png", "dest": "x.png"}}
        result = altered(tmp_path, {"evaluator": evaluator})
        unknown = [finding.unknown for finding in findings(result.tasks[0]) if finding.unknown]
        assert unknown == ["metric 'check_ai_l1_001'"]

    def test_metadata_of_a_task_without_an_id_is_refused(self, tmp_path: Path) -> None:
        root = tmp_path / "copy"
        shutil.copytree(SAMPLE, root)
        (root / "metadata.json").write_text('[{"Difficulty": "Easy"}]')
        with raises_code(Invalid, "invalid_task_file", mentions=("Task ID", "metadata.json", "0")):
            read("prosoftarena", root)

    def test_windows_steps_mean_what_they_mean_to_waa(self) -> None:
        assert [finding for finding in findings(sample("photoshop/PS_L1_001")) if finding.severity == "error"] == []
