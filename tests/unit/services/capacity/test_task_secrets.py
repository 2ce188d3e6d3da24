from pathlib import Path

import pytest

from backend.domain.errors import TaskSetupFailed
from backend.services.capacity.task_secrets import TaskSecrets
from tests.error_codes import raises_code


def given(folder: Path, name: str, text: str, mode: int = 0o600) -> TaskSecrets:
    (folder / name).write_text(text)
    (folder / name).chmod(mode)
    return TaskSecrets(folder)


class TestTaskSecrets:
    def test_secret_is_read_from_its_file(self, tmp_path: Path) -> None:
        assert given(tmp_path, "google_settings", "text\n")("google_settings") == "text"

    def test_missing_secret_names_its_file(self, tmp_path: Path) -> None:
        secrets = TaskSecrets(tmp_path / "secrets")
        with pytest.raises(TaskSetupFailed) as failed:
            secrets("google_settings")
        assert str(tmp_path / "secrets" / "google_settings") in failed.value.hint
        assert secrets.find("google_settings") == ""

    def test_readable_secret_is_refused(self, tmp_path: Path) -> None:
        with raises_code(TaskSetupFailed, "secret_not_usable"):
            given(tmp_path, "a", "text", 0o644)("a")

    @pytest.mark.parametrize("name", ["../token", "/etc/passwd", "", "A", "a/b", "a.b"])
    def test_path_traversal_in_a_name_is_refused(self, tmp_path: Path, name: str) -> None:
        with raises_code(TaskSetupFailed, "invalid_secret_name"):
            TaskSecrets(tmp_path)(name)

    def test_binary_secret_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"\xff")
        (tmp_path / "a").chmod(0o600)
        with raises_code(TaskSetupFailed, "secret_not_usable"):
            TaskSecrets(tmp_path)("a")
