"""Files and folders."""

import os

import pytest

from backend.domain.errors import GuestRefused
from tests.integration.guest_server.session import RunningSession

pytestmark = pytest.mark.desktop


class TestFile:
    @pytest.mark.parametrize("data", [b"", b"text", bytes(range(256)) * 5000], ids=["empty", "text", "binary"])
    def test_file_is_returned_byte_by_byte(self, session: RunningSession, data: bytes) -> None:
        path = session.write("read.bin", data)
        assert session.desktop.read_file(str(path)) == data

    def test_home_in_the_path(self, session: RunningSession) -> None:
        session.write("home.txt", "x")
        assert session.desktop.read_file("~/home.txt") == b"x"

    @pytest.mark.parametrize(
        ("path", "kind"),
        [("/no/such/file", "not_found"), ("/", "bad_request"), ("/dev/zero", "bad_request"), ("", "bad_request")],
    )
    def test_non_files_are_refused(self, session: RunningSession, path: str, kind: str) -> None:
        with pytest.raises(GuestRefused) as caught:
            session.desktop.read_file(path)
        assert caught.value.kind == kind

    def test_a_pipe_does_not_hang(self, session: RunningSession) -> None:
        os.mkfifo(session.home / "pipe")
        with pytest.raises(GuestRefused) as caught:
            session.desktop.read_file("~/pipe")
        assert caught.value.kind == "bad_request"

    def test_larger_than_the_caller_wants(self, session: RunningSession) -> None:
        session.write("large.bin", b"x" * 1000)
        with pytest.raises(GuestRefused) as caught:
            session.desktop.read_file("~/large.bin", max_bytes=999)
        assert caught.value.kind == "too_large"


class TestUpload:
    def test_makes_folders_and_says_the_size(self, session: RunningSession) -> None:
        files = {"file_data": ("name.bin", b"\x00\xff" * 10)}
        response = session.http.post("/setup/upload", data={"file_path": "~/new/folder/up.bin"}, files=files)
        assert (response.status_code, response.text) == (200, "File Uploaded: 20 bytes")
        assert (session.home / "new/folder/up.bin").read_bytes() == b"\x00\xff" * 10

    def test_replaces_a_file_and_leaves_nothing_else(self, session: RunningSession) -> None:
        session.desktop.write_file("~/twice.txt", b"first")
        session.desktop.write_file("~/twice.txt", b"second")
        assert session.desktop.read_file("~/twice.txt") == b"second"
        assert not [path for path in session.home.iterdir() if path.name.startswith(".upload-")]

    def test_an_ordinary_new_file(self, session: RunningSession) -> None:
        session.desktop.write_file("~/mode.txt", b"")
        assert (session.home / "mode.txt").stat().st_mode & 0o777 == 0o644

    def test_a_folder_is_in_the_way(self, session: RunningSession) -> None:
        with pytest.raises(GuestRefused) as caught:
            session.desktop.write_file("~/Desktop", b"x")
        assert caught.value.kind == "bad_request"

    @pytest.mark.parametrize("body", [b"no form", b"--b\r\nbroken"])
    def test_a_broken_form(self, session: RunningSession, body: bytes) -> None:
        headers = {"Content-Type": "multipart/form-data; boundary=b"}
        response = session.http.post("/setup/upload", content=body, headers=headers)
        assert (response.status_code, response.json()["error"]) == (400, "bad_request")

    def test_missing_form_is_refused(self, session: RunningSession) -> None:
        response = session.http.post("/setup/upload", json={"file_path": "~/x"})
        assert (response.status_code, response.json()["error"]) == (400, "bad_request")

    @pytest.mark.parametrize(
        "form", [{"files": {"file_data": b"x"}}, {"files": {"other": b"x"}, "data": {"file_path": "~/x"}}]
    )
    def test_a_part_is_missing(self, session: RunningSession, form: dict[str, dict[str, bytes]]) -> None:
        response = session.http.post("/setup/upload", **form)  # type: ignore[arg-type]
        assert (response.status_code, response.json()["error"]) == (400, "bad_request")


class TestListDirectory:
    def test_the_whole_tree(self, session: RunningSession) -> None:
        session.write("tree/b/c.txt")
        session.write("tree/a.txt")
        (session.home / "tree/link").symlink_to("/")
        tree = session.post("/list_directory", {"path": "~/tree"}).json()["directory_tree"]
        assert tree == {
            "type": "directory",
            "name": "tree",
            "children": [
                {"type": "file", "name": "a.txt"},
                {"type": "directory", "name": "b", "children": [{"type": "file", "name": "c.txt"}]},
                {"type": "file", "name": "link"},
            ],
        }

    def test_a_name_that_is_not_text(self, session: RunningSession) -> None:
        folder = session.home / "odd"
        folder.mkdir()
        (folder / os.fsdecode(b"a\xff")).touch()
        tree = session.post("/list_directory", {"path": "~/odd"}).json()["directory_tree"]
        assert tree["children"] == [{"type": "file", "name": "a\ufffd"}]

    def test_too_deep_folder_is_refused(self, session: RunningSession) -> None:
        (session.home / "deep" / "/".join("d" * 70)).mkdir(parents=True)
        response = session.http.post("/list_directory", json={"path": "~/deep"})
        assert (response.status_code, response.json()["error"]) == (413, "too_large")

    def test_no_such_folder(self, session: RunningSession) -> None:
        response = session.http.post("/list_directory", json={"path": "/nowhere"})
        assert (response.status_code, response.json()["error"]) == (404, "not_found")


class TestCreate:
    def test_a_folder_twice(self, session: RunningSession) -> None:
        for _ in range(2):
            assert session.post("/setup/create_folder", {"path": "~/made/folder"}).json()["status"] == "success"
        assert (session.home / "made/folder").is_dir()

    def test_a_file_with_its_text(self, session: RunningSession) -> None:
        session.post("/setup/create_file", {"path": "~/made/file.txt", "content": "é\n"})
        assert (session.home / "made/file.txt").read_text("utf-8") == "é\n"

    def test_a_file_where_a_folder_is(self, session: RunningSession) -> None:
        response = session.http.post("/setup/create_file", json={"path": "~/Desktop"})
        assert (response.status_code, response.json()["error"]) == (400, "bad_request")

    def test_a_folder_where_a_file_is(self, session: RunningSession) -> None:
        session.write("inthe.way")
        response = session.http.post("/setup/create_folder", json={"path": "~/inthe.way"})
        assert (response.status_code, response.json()["error"]) == (409, "conflict")


class TestExists:
    def test_file_exists_only_with_its_name(self, session: RunningSession) -> None:
        session.write("here.txt")
        there = {"path": "~", "file_name": "here.txt"}
        assert session.post("/file_exists", there).json()["status"] == "success"
        response = session.http.post("/file_exists", json={**there, "file_name": "other.txt"})
        assert (response.status_code, response.json()["error"]) == (400, "not_found")

    def test_folder_exists_only_for_folders(self, session: RunningSession) -> None:
        assert session.post("/folder_exists", {"path": "~", "folder_name": "Desktop"}).json()["status"] == "success"
        session.write("no.folder")
        response = session.http.post("/folder_exists", json={"path": "~", "folder_name": "no.folder"})
        assert response.status_code == 400


class TestRecycle:
    def test_goes_to_the_trash_with_its_origin(self, session: RunningSession) -> None:
        path = session.write("old/ü file.txt", "x")
        session.post("/setup/recycle", {"path": str(path)})
        trash = session.home / ".local/share/Trash"
        assert not path.exists()
        assert (trash / "files/ü file.txt").read_text() == "x"
        info = (trash / "info/ü file.txt.trashinfo").read_text()
        assert info.startswith("[Trash Info]\nPath=/")
        assert "%C3%BC%20file.txt\nDeletionDate=20" in info

    def test_the_same_name_twice(self, session: RunningSession) -> None:
        for text in ("1", "2"):
            path = session.write("same.txt", text)
            session.post("/setup/recycle", {"path": str(path)})
        files = session.home / ".local/share/Trash/files"
        assert [(files / name).read_text() for name in ("same.txt", "same.2.txt")] == ["1", "2"]

    def test_a_folder_and_a_broken_link(self, session: RunningSession) -> None:
        session.write("bin/inside.txt")
        session.post("/setup/recycle", {"path": "~/bin"})
        (session.home / "broken").symlink_to("/nowhere")
        session.post("/setup/recycle", {"path": "~/broken"})
        assert not (session.home / "bin").exists()
        assert not (session.home / "broken").is_symlink()

    def test_missing_path_is_404(self, session: RunningSession) -> None:
        response = session.http.post("/setup/recycle", json={"path": "~/nothing"})
        assert (response.status_code, response.json()["error"]) == (404, "not_found")


class TestPaths:
    def test_desktop_and_documents(self, session: RunningSession) -> None:
        assert session.post("/desktop_path").json() == {"desktop_path": f"{session.home}/Desktop"}
        assert session.post("/documents_path").json() == {"documents_path": f"{session.home}/Documents"}

    def test_paths_follow_user_dirs(self, session: RunningSession) -> None:
        session.write(".config/user-dirs.dirs", 'XDG_DESKTOP_DIR="$HOME/Schreibtisch"\n')
        assert session.http.post("/desktop_path").status_code == 404
        (session.home / "Schreibtisch").mkdir()
        assert session.post("/desktop_path").json() == {"desktop_path": f"{session.home}/Schreibtisch"}
