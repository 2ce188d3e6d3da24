"""`python -m worker.commands.paraphrase_tasks FOLDER --endpoint E --model M`: paraphrases composed tasks.

Started by `deskarena omnibench paraphrase`. The model reads every text back; it is kept only if it matches the task
graph, else the template's text stays. The file is replaced when all texts are done, or not at all.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from backend.config import Settings
from backend.domain.benchmarks import read_pool, read_tasks
from backend.domain.errors import DeskarenaError
from backend.domain.formats.foreign_text import visible_streams
from backend.domain.omnibench.by_model import TextModel, retold
from backend.domain.omnibench.task_file import GraphTask
from backend.domain.registry import load
from worker.base.lease import HeldLease, LeaseGrant
from worker.models.model_pool import AttemptModels, ModelPool

FILE = "tasks.jsonl"


def main(arguments: Sequence[str] | None = None) -> int:
    """Paraphrases all tasks and prints their number. Returns 3 if the model or the files cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--model", required=True)
    options = parser.parse_args(arguments)
    load("worker.models")
    models = AttemptModels(
        ModelPool.from_settings(Settings()), HeldLease(LeaseGrant(uuid4(), "paraphrase"), float("inf"))
    )
    try:
        root = options.folder.resolve()
        pool = read_pool(root, [])
        client = TextModel(models.client(options.endpoint), options.model)
        tasks = read_tasks(root, pool)
        paraphrases = [retold(task, pool, client) for task in tasks]
        _write(root / FILE, [new or old for new, old in zip(paraphrases, tasks, strict=True)])
    except DeskarenaError as error:
        sys.stderr.write(f"{error.text}\n")
        return 3
    finally:
        models.close()
    summary = {"tasks": len(tasks), "retold": sum(new is not None for new in paraphrases), "requests": client.calls}
    sys.stdout.write(json.dumps(summary) + "\n")
    return 0


def _write(file: Path, tasks: Sequence[GraphTask]) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text("".join(json.dumps(task.as_json(), ensure_ascii=False) + "\n" for task in tasks))
    fresh.replace(file)


if __name__ == "__main__":
    with visible_streams():
        sys.exit(main())
