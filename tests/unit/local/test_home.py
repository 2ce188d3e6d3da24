import os
from pathlib import Path

from worker.local.home import SOURCE, USER_FOLDERS, content_hash, copy_tree, template_for


class TestContentHash:
    def test_hash_depends_on_names_and_contents_only(self, tmp_path: Path) -> None:
        one, two = tmp_path / "one", tmp_path / "two"
        for folder in (one, two):
            (folder / "__pycache__").mkdir(parents=True)
            (folder / "a").write_text("x")
        (one / "__pycache__" / "a.pyc").write_text("byte code")
        (one / "a").chmod(0o600)
        assert content_hash(one) == content_hash(two)
        (two / "a").write_text("y")
        assert content_hash(one) != content_hash(two)


class TestCopyTree:
    def test_can_be_read_by_everybody_whatever_the_source_says(self, tmp_path: Path) -> None:
        source = tmp_path / "source"
        (source / "inner").mkdir(parents=True, mode=0o700)
        (source / "inner" / "file").write_text("x")
        (source / "inner" / "file").chmod(0o600)
        copy_tree(source, tmp_path / "copy")
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "copy").rglob("*")}
        assert modes == {"inner": 0o755, "file": 0o644}

    def test_links_stay_links(self, tmp_path: Path) -> None:
        """A prefix of Wine is links into Wine's own folder: followed, they would be 690 MB, and the host's files."""
        source, outside = tmp_path / "source", tmp_path / "outside"
        source.mkdir()
        outside.write_text("the host's")
        outside.chmod(0o600)
        (source / "there").symlink_to(outside)
        (source / "nowhere").symlink_to("/no/such/file")
        copy_tree(source, tmp_path / "copy")
        assert (tmp_path / "copy" / "there").readlink() == outside
        assert (tmp_path / "copy" / "nowhere").is_symlink()
        assert outside.stat().st_mode & 0o777 == 0o600

    def test_programs_stay_programs(self, tmp_path: Path) -> None:
        source = tmp_path / "source"
        source.mkdir()
        (source / "program").touch(mode=0o700)
        copy_tree(source, tmp_path / "copy")
        assert (tmp_path / "copy" / "program").stat().st_mode & 0o777 == 0o755


class TestTemplateFor:
    def test_template_has_the_settings_and_is_created_once(self, tmp_path: Path) -> None:
        template = template_for(tmp_path, os.getuid(), os.getgid(), source=SOURCE, key="home")
        assert (template / ".config" / "mimeapps.list").read_text().startswith("[Default Applications]")
        made = template.stat().st_mtime_ns
        again = template_for(tmp_path, os.getuid(), os.getgid(), source=SOURCE, key="home")
        assert again.stat().st_mtime_ns == made

    def test_template_lacks_the_user_folders(self, tmp_path: Path) -> None:
        """An overlay could not rename them."""
        template = template_for(tmp_path, os.getuid(), os.getgid(), source=SOURCE, key="home")
        assert [name for name in USER_FOLDERS if (template / name).exists()] == []

    def test_user_folders_are_those_that_the_settings_name(self) -> None:
        text = (SOURCE / ".config" / "user-dirs.dirs").read_text()
        assert sorted(line.split("$HOME/")[1].strip('"') for line in text.splitlines()) == sorted(USER_FOLDERS)
