"""Reads an Inspect log by `inspect_ai` and logs its sample to MLflow: `viewers_guest.py LOG FOLDER`.

Runs in the environment of `make bench-viewers`, which has both. Prints what was read as JSON.
"""

import json
import sys
from pathlib import Path

import inspect_ai
import mlflow
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessageAssistant, ContentImage


def main() -> None:
    """Reads, logs, prints."""
    log, folder = map(Path, sys.argv[1:])
    sample = (read_eval_log(log, resolve_attachments="full").samples or [])[0]
    folder.mkdir()
    store = f"sqlite:///{folder / 'mlflow.db'}"
    mlflow.set_tracking_uri(store)
    experiment = mlflow.create_experiment("episodes", artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment(experiment_id=experiment)
    root = mlflow.start_span_no_context("episode", span_type="AGENT", inputs={"instruction": sample.input})
    picture, spans = "", 0
    for message in sample.messages:
        if isinstance(message, ChatMessageAssistant):
            question = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": picture}}]}
            answer = {"role": "assistant", "content": message.text}
            span = mlflow.start_span_no_context(
                f"step {spans}", span_type="CHAT_MODEL", parent_span=root, inputs={"messages": [question]}
            )
            span.end(outputs={"choices": [{"message": answer}]})
            spans += 1
        elif isinstance(message.content, list):
            picture = next((part.image for part in message.content if isinstance(part, ContentImage)), picture)
    root.end(outputs={"score": 1})
    mlflow.flush_trace_async_logging()
    facts = {
        "sample": str(sample.id),
        "spans": spans,
        "messages": len(sample.messages),
        "events": sum(event.event == "model" for event in sample.events),
        "store": store,
        "experiment": experiment,
        "trace": root.trace_id,
        "inspect": inspect_ai.__version__,
        "mlflow": mlflow.__version__,
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
