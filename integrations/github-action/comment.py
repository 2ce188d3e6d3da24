"""Writes a Markdown file as a comment of the pull request, in place of the one that an earlier run wrote.

Uses the standard library only, and what GitHub sets for every step: GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_JOB,
GITHUB_WORKFLOW, GITHUB_EVENT_PATH; besides GITHUB_TOKEN, COMMENT_AUTHOR and COMMENT_KEY. A comment that cannot be
written is a warning, never a failure of the job.
"""

import hashlib
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE_SIZE = 100
MOST_CHARACTERS = 60_000
"""GitHub takes 65,536."""
SECONDS = 30.0


def main() -> None:
    """Updates the comment, or creates it."""
    number = pull_request(Path(os.environ["GITHUB_EVENT_PATH"]))
    if number is None:
        print("Not a pull request: no comment.")
        return
    text = Path(sys.argv[1]).read_text(encoding="utf-8")[:MOST_CHARACTERS]
    body = {"body": f"{marker()}\n{text}"}
    comments = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    try:
        earlier = next(
            (comment["id"] for comment in all_comments(f"{comments}/{number}/comments") if is_ours(comment)), None
        )
        if earlier is None:
            ask("POST", f"{comments}/{number}/comments", body)
        else:
            ask("PATCH", f"{comments}/comments/{earlier}", body)
    except (OSError, ValueError) as error:
        print(f"::warning title=Deskarena::The comment could not be written: {type(error).__name__} {status(error)}")


def pull_request(event: Path) -> int | None:
    """Number of the pull request that the workflow runs for."""
    pull = json.loads(event.read_text(encoding="utf-8")).get("pull_request")
    return int(pull["number"]) if pull else None


def marker() -> str:
    """First line of the comment, by which later runs of the same job find it."""
    words = "\n".join(os.environ.get(name, "") for name in ("GITHUB_WORKFLOW", "GITHUB_JOB", "COMMENT_KEY"))
    return f"<!-- deskarena {hashlib.sha256(words.encode()).hexdigest()[:32]} -->"


def is_ours(comment: dict[str, Any]) -> bool:
    """Whether an earlier run wrote it. Anybody may write our marker, so the author counts too."""
    author = (comment.get("user") or {}).get("login")
    return author == os.environ["COMMENT_AUTHOR"] and str(comment.get("body") or "").startswith(marker())


def all_comments(path: str) -> Iterator[dict[str, Any]]:
    page = 1
    while True:
        comments = ask("GET", f"{path}?per_page={PAGE_SIZE}&page={page}")
        yield from comments
        if len(comments) < PAGE_SIZE:
            return
        page += 1


def ask(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    """One request to GitHub's REST API."""
    request = urllib.request.Request(  # noqa: S310 - GitHub's own address
        os.environ["GITHUB_API_URL"] + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Content-Type": "application/json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - same
        return json.load(answer)


def status(error: Exception) -> str:
    """HTTP status of an answer; foreign text is not printed, since the runner reads commands in it."""
    return str(error.code) if isinstance(error, urllib.error.HTTPError) else ""


if __name__ == "__main__":
    main()
