from pathlib import Path

import pytest

from worker.local import etc, layout
from worker.local.layout import (
    ETC,
    HIDDEN,
    VAR,
    SandboxLayout,
    bwrap_command,
    chromium_parts,
    hidden_folders,
    root_links,
)
from worker.local.limits import DesktopLimits

LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}


def plan(**more: object) -> SandboxLayout:
    values: dict[str, object] = {
        "links": LINKS,
        "etc": ("passwd", "machine-id"),
        "limits": DesktopLimits(),
        "width": 1280,
        "height": 800,
        "data_limit": False,
        "status_fd": 201,
        "seccomp_fd": 202,
        "chromium": ("chromium", "icudtl.dat"),
    }
    return SandboxLayout(**(values | more))  # type: ignore[arg-type]


def pairs(words: list[str], option: str) -> list[tuple[str, str]]:
    """Both arguments of every `option`."""
    return [(words[i + 1], words[i + 2]) for i, word in enumerate(words) if word == option]


class TestBwrapCommand:
    def test_bwrap_command_is_complete(self) -> None:
        system = [
            word for name in ETC for word in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
        ] + [word for name in VAR for word in ("--ro-bind-try", f"/var/{name}", f"/var/{name}")]  # fmt: skip
        assert bwrap_command(plan()) == [
            *("--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"),
            *("--unshare-net", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"),
            *("--hostname", "desktop", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *("--json-status-fd", "201", "--seccomp", "202", "--clearenv"),
            *("--setenv", "HOME", "/home/user", "--setenv", "USER", "user", "--setenv", "LOGNAME", "user"),
            *("--setenv", "LANG", "en_US.UTF-8", "--setenv", "PATH", "/usr/bin:/bin:/usr/games"),
            *("--setenv", "XDG_RUNTIME_DIR", "/run/user", "--setenv", "PYTHONPATH", "/opt/guest:/opt/guest/site"),
            *("--setenv", "DESKARENA_EGRESS_SOCKET", "/run/egress/gateway"),
            *("--setenv", "DESKARENA_EGRESS_PROXY", "http://127.0.0.1:18888"),
            *("--setenv", "http_proxy", "http://127.0.0.1:18888", "--setenv", "https_proxy", "http://127.0.0.1:18888"),
            *("--setenv", "no_proxy", "localhost,127.0.0.1,::1"),
            *("--setenv", "DESKARENA_SCREEN", "1280x800", "--setenv", "DESKARENA_LISTEN_FD", "3"),
            *("--setenv", "DESKARENA_PROTECTED_PIDS", "100"),
            *("--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/etc/ssl"),
            *(
                "--perms",
                "0755",
                "--dir",
                "/home",
                "--perms",
                "0755",
                "--dir",
                "/opt",
                "--perms",
                "0755",
                "--dir",
                "/var",
            ),
            *("--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin"),
            *("--symlink", "usr/lib", "/lib", "--ro-bind-try", "/lib32", "/lib32", "--symlink", "usr/lib64", "/lib64"),
            *("--ro-bind-try", "/libx32", "/libx32"),
            *system,
            *("--size", "4096", "--tmpfs", "/usr/local", "--remount-ro", "/usr/local"),
            *("--size", "4096", "--tmpfs", "/usr/src", "--remount-ro", "/usr/src"),
            *("--ro-bind", "/tmp/etc/passwd", "/etc/passwd", "--ro-bind", "/tmp/etc/machine-id", "/etc/machine-id"),
            *("--symlink", "/usr/share/zoneinfo/Etc/UTC", "/etc/localtime"),
            *("--ro-bind-try", "/tmp/egress/ca-certificates.crt", "/etc/ssl/certs/ca-certificates.crt"),
            *("--symlink", "/run/egress/policies", "/etc/chromium/policies"),
            *("--perms", "0755", "--dir", "/opt/google", "--perms", "0755", "--dir", "/opt/google/chrome"),
            *("--ro-bind", "/usr/lib/chromium/chromium", "/opt/google/chrome/chrome"),
            *("--symlink", "/usr/lib/chromium/icudtl.dat", "/opt/google/chrome/icudtl.dat"),
            *("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"),
            *("--perms", "1777", "--size", "268435456", "--tmpfs", "/dev/shm"),
            *("--perms", "1777", "--size", "268435456", "--tmpfs", "/tmp"),
            *("--perms", "0755", "--size", "33554432", "--tmpfs", "/run", "--perms", "0700", "--dir", "/run/user"),
            *("--symlink", "/tmp", "/var/tmp", "--symlink", "/run", "/var/run"),
            *("--bind", "/tmp/home", "/home/user", "--symlink", "google-chrome", "/home/user/.config/chromium"),
            *("--ro-bind", "/tmp/guest", "/opt/guest"),
            *("--ro-bind", "/tmp/egress", "/run/egress"),
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/home/user", "--"),
            *("/usr/bin/prlimit", "--nproc=1024:1024", "--nofile=4096:4096", "--fsize=536870912:536870912"),
            *("--core=1:1", "--msgqueue=819200:819200", "--sigpending=4096:4096", "--memlock=65536:65536", "--"),
            *("/usr/bin/python3", "-m", "guest_server.linux.session"),
        ]

    def test_mounts_of_its_kind_of_desktop(self) -> None:
        more = {
            "environment": {"USER": "Docker"},
            "binds": {"/home/user/Python": "Python"},
            "command": ("/usr/bin/true",),
        }
        plain, words = bwrap_command(plan()), bwrap_command(plan(**more))
        at = words.index("/tmp/Python")
        assert words[at - 1 : at + 2] == ["--ro-bind", "/tmp/Python", "/home/user/Python"]
        assert words.index("/tmp/home") < at, "what is bound into the home comes after it"
        assert words[-1] == "/usr/bin/true"
        added = [word for word in words if word not in plain]
        assert added == ["Docker", "/tmp/Python", "/home/user/Python", "/usr/bin/true"]
        # Of the same variable twice, the last one counts.
        assert [value for name, value in pairs(words, "--setenv") if name == "USER"] == ["Docker"]

    def test_only_the_home_is_bound_writable(self) -> None:
        words = bwrap_command(plan())
        assert pairs(words, "--bind") == [("/tmp/home", "/home/user")]
        assert not {"--dev-bind", "--share-net", "--bind-try"} & set(words)

    def test_nothing_private_is_bound(self) -> None:
        bound = [
            source for option in ("--ro-bind", "--ro-bind-try") for source, _ in pairs(bwrap_command(plan()), option)
        ]
        private = ("/etc/shadow", "/etc/ssh", "/etc/sudoers", "/home", "/root", "/run", "/var/run", "/sys", "/dev")
        assert [path for path in bound if path.startswith(private)] == []
        assert "/" not in bound
        assert "/etc" not in bound

    def test_an_unmerged_system_is_bound_folder_by_folder(self) -> None:
        words = bwrap_command(plan(links={}))
        assert ("/bin", "/bin") in pairs(words, "--ro-bind-try")
        assert ("/lib", "/lib") in pairs(words, "--ro-bind-try")

    def test_without_a_filter_none_is_named(self) -> None:
        assert "--seccomp" not in bwrap_command(plan(seccomp_fd=None))

    def test_root_is_closed_after_everything_else_was_put_there(self) -> None:
        words = bwrap_command(plan())
        closed = max(i for i, word in enumerate(words) if word == "--remount-ro" and words[i + 1] == "/")
        later = words[closed + 2 : words.index("--")]
        assert later == ["--chdir", "/home/user"]


class TestHiddenFolders:
    def test_the_administrators_part_of_usr_is_hidden(self) -> None:
        assert hidden_folders([]) == tuple(path for path in HIDDEN if Path(path).is_dir())

    def test_own_folder_inside_a_bound_one_is_hidden(self) -> None:
        assert "/usr/share/deskarena" in hidden_folders([Path("/usr/share/deskarena"), Path("/srv/data")])

    def test_folders_below_a_hidden_one_are_not_hidden_again(self) -> None:
        assert hidden_folders([Path("/usr/local/deskarena")]) == hidden_folders([])

    @pytest.mark.parametrize("path", ["/", "/usr", "/etc", "/var/lib"])
    def test_a_folder_that_holds_the_system_is_refused(self, path: str) -> None:
        with pytest.raises(ValueError, match="Choose another folder"):
            hidden_folders([Path(path)])


class TestRootLinks:
    def test_names_links_only(self, tmp_path: Path) -> None:
        (tmp_path / "bin").symlink_to("usr/bin")
        (tmp_path / "lib").mkdir()
        assert root_links(tmp_path) == {"bin": "usr/bin"}


class TestChromiumParts:
    def test_lists_everything_beside_the_program(self, tmp_path: Path) -> None:
        (tmp_path / "chromium").touch()
        (tmp_path / "locales").mkdir()
        assert chromium_parts(tmp_path) == ("chromium", "locales")

    def test_missing_program_has_no_parts(self, tmp_path: Path) -> None:
        (tmp_path / "extensions").mkdir()
        assert chromium_parts(tmp_path) == ()


class TestGenerated:
    def test_every_desktop_has_its_own_machine_id(self) -> None:
        first, second = etc.generate_files()["machine-id"], etc.generate_files()["machine-id"]
        assert first != second
        assert len(first.strip()) == 32

    def test_no_generated_file_is_hidden_by_a_bound_one(self) -> None:
        assert not set(etc.generate_files()) & set(layout.ETC)
