"""Only the edge commits: requests in backend.web, commands in backend.cli, tasks in worker."""

from pathlib import Path

import pytest

from tests.architecture.tree import calls, dotted, parsed, python_files


class TestCommits:
    @pytest.mark.parametrize(
        "path",
        python_files("backend/domain", "backend/services", "backend/db/repositories", "backend/db/models"),
        ids=str,
    )
    def test_nothing_below_the_edge_commits(self, path: Path) -> None:
        found = [call.lineno for call in calls(parsed(path)) if dotted(call.func).endswith(".commit")]
        assert not found, f"{path} commits in lines {found}; the caller's edge does that"
