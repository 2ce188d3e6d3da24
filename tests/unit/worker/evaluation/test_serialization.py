import json
from pathlib import Path

from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.model.score import Blob
from tests.unit.worker.evaluation.cases import task_with
from worker.evaluation.serialization import pack, unpack


class TestUnpack:
    def test_roundtrip_preserves_evidence(self, tmp_path: Path) -> None:
        evidence = [
            CallEvidence(
                result=(
                    Blob(name="/a", data=b"\x00\xff"),
                    Blob(name="/b", note="no such file"),
                    Blob(name="/e", data=b""),
                ),
                expected=(),
                notes=("post-configuration was refused",),
            ),
            CallEvidence(step=3),
            CallEvidence(opened=False),
        ]
        task = task_with("exact_match")
        request = json.loads(pack(task, evidence, tmp_path, part="a"))
        assert unpack(request, tmp_path) == (task, evidence)
        assert request["part"] == "a"
