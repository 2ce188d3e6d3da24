import hashlib

from backend.domain.evaluators.metrics.goals.folder_goals import folder_goals


def entry(content: str, mode: str = "0o644") -> dict[str, str]:
    return {"mode": mode, "sha256": hashlib.sha256(content.encode()).hexdigest()}


CONTENTS = {"a.txt": entry("A"), "sub/": {"mode": "0o755"}, "sub/b.txt": entry("B"), "run.sh": entry("", "0o744")}


class TestFolderGoals:
    def test_present_file_with_its_content_scores_1(self) -> None:
        assert folder_goals(CONTENTS, {"goals": [{"present": "a.txt", "content": "A"}]}).value == 1.0

    def test_present_file_with_another_content_scores_0(self) -> None:
        result = folder_goals(CONTENTS, {"goals": [{"present": "a.txt", "content": "B"}]})
        assert result.value == 0.0
        assert "other than expected" in result.reasons[0]

    def test_one_of_several_names_suffices(self) -> None:
        assert folder_goals(CONTENTS, {"goals": [{"present": ["x.txt", "sub/b.txt"]}]}).value == 1.0

    def test_moved_means_here_and_no_longer_there(self) -> None:
        goal = {"present": "sub/b.txt", "absent": "a.txt"}
        assert folder_goals(CONTENTS, {"goals": [goal]}).value == 0.0

    def test_executable_bit_is_checked(self) -> None:
        goals = [{"present": "run.sh", "executable": True}, {"present": "a.txt", "executable": True}]
        assert folder_goals(CONTENTS, {"goals": goals, "partial": True}).value == 0.5

    def test_file_mode_is_checked(self) -> None:
        assert folder_goals(CONTENTS, {"goals": [{"present": "a.txt", "mode": "0o600"}]}).value == 0.0

    def test_violated_kept_condition_scores_0(self) -> None:
        rules = {"goals": [{"present": "a.txt"}], "keeps": [{"present": "gone.txt"}], "partial": True}
        assert folder_goals(CONTENTS, rules).value == 0.0

    def test_missing_folder_scores_0(self) -> None:
        assert folder_goals(None, {"goals": [{"absent": "a"}]}).reasons == ("the folder does not exist",)

    def test_an_entry_that_could_not_be_read(self) -> None:
        assert folder_goals({"odd": {"mode": "?"}}, {"goals": [{"present": "odd", "executable": True}]}).value == 0.0
