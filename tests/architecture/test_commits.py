"""Only the edge commits: requests in backend.web, commands in backend.cli, tasks in worker."""

from tests.architecture.tree import calls, dotted, parsed, python_files


class TestCommits:
    def test_nothing_below_the_edge_commits(self) -> None:
        files = python_files("backend/domain", "backend/services", "backend/db/repositories", "backend/db/models")
        found = [
            f"{path}:{call.lineno}"
            for path in files
            for call in calls(parsed(path))
            if dotted(call.func).endswith(".commit")
        ]
        assert found == [], "the caller's edge does that"
