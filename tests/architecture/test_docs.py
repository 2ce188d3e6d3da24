"""Documentation is tested: what the product has, docs/ names."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from backend.config import Settings
from backend.domain.registry import PluginKind
from tests.architecture.plugins import ENTRIES
from tests.architecture.tree import ROOT
from tools.check_tracked import tracked_files

DOCS = ROOT / "docs"
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
MENTION = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.md")
"""A page that code or a message names."""
BLOCK = re.compile(r"^ *```[a-z]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
"""The lines of a fenced block."""
TREE_PATH = re.compile(r"`((?:backend|worker|vm_images|frontend|tests|tools|deploy|migrations)/[a-z_][\w/.-]*)`")
"""A file or folder of the repository, without patterns."""
NAMED_IN = re.compile(r"`(\w+)`\s+(?:\(|in\s+|of\s+)`([\w/]+/\w+\.py)`(?! has)")
"""A name and the file that is said to define it."""
MOST_USER_PAGES = 31
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")])


def variables() -> list[str]:
    """The environment variable of every setting."""
    named = {"database_url": "DATABASE_URL", "redis_url": "REDIS_URL", "kubeconfig": "KUBECONFIG"}
    return [named.get(field, f"DESKARENA_{field.upper()}") for field in Settings.model_fields]


def commands() -> list[str]:
    """Every command of the command line, as it is typed."""

    def below(command: object, words: str) -> list[str]:
        inner = getattr(command, "commands", None)
        return [words] if inner is None else [line for name in inner for line in below(inner[name], f"{words} {name}")]

    return below(command_line(), "deskarena")


@lru_cache
def command_line() -> Any:
    """The whole command line, as Click has it."""
    import typer

    from backend.cli.main import app

    return typer.main.get_command(app)


def wrong_command(line: str) -> str:
    """The first word of a typed command line that is not a command or an option; empty if all are."""
    command, words = command_line(), line.split()
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    if words and hasattr(command, "commands") and re.fullmatch("[a-z-]+", words[0]):
        return words[0]
    names = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
    if command.context_settings.get("ignore_unknown_options"):
        return ""
    return next((word for word in words if re.fullmatch("--[a-z-]+", word) and word not in names), "")


def page_addresses() -> list[str]:
    """The path of every HTML page, with its parameters' names left out."""
    from backend.web.page_routes import ROUTERS

    paths = [str(getattr(route, "path", "")) for router in ROUTERS for route in router.routes]
    return sorted({re.sub(r"\{[^}]*\}", "{}", path) for path in paths})


def text_of(name: str) -> str:
    return (DOCS / name).read_text()


@lru_cache
def anchors(page: Path) -> set[str]:
    """Addresses of a page's headings, as GitHub and the built site make them."""
    titles = [
        re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in HEADING.findall(FENCED.sub("", page.read_text()))
    ]
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether a relative link's file exists and, if that is a page, has the heading."""
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not anchor or target.suffix != ".md" or anchor in anchors(target))


def mentions() -> set[str]:
    """Every page that a tracked file names by its path from the root."""
    return {name for path in tracked_files(ROOT) for name in MENTION.findall(read(ROOT / path))}


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


class TestSettings:
    @pytest.mark.parametrize("variable", variables())
    def test_settings_page_names_it(self, variable: str) -> None:
        assert f"`{variable}`" in text_of("settings.md")

    def test_the_page_names_no_setting_that_is_gone(self) -> None:
        named = set(re.findall(r"^\| `([A-Z0-9_]+)`", text_of("settings.md"), re.MULTILINE))
        assert named - set(variables()) == set()


class TestPlugins:
    @pytest.mark.parametrize("kind", sorted({kind for kind, _, _ in ENTRIES}))
    def test_plugin_page_names_all(self, kind: PluginKind) -> None:
        heading = kind.name.lower().replace("_", " ")
        part = text_of("reports/plugins.md").lower().split(f"## {heading}", 1)
        assert len(part) == 2, f"docs/reports/plugins.md has no part '## {heading}'"
        names = {name.lower() for of, _, name in ENTRIES if of is kind}
        assert {name for name in names if f"`{name}`" not in part[1].split("\n## ")[0]} == set()


class TestCommands:
    def test_command_page_names_every_command(self) -> None:
        found = commands()
        assert len(found) > 5
        assert [command for command in found if f"`{command}" not in text_of("cli.md")] == []

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
    def test_commands_and_options_exist(self, page: Path) -> None:
        text = page.read_text().replace("\\\n", " ")
        lines = [line for block in BLOCK.findall(text) for line in block.splitlines() if line.startswith("deskarena ")]
        lines += re.findall(r"`(deskarena [a-z][^`]*)`", FENCED.sub("", text))
        wrong = {line: wrong_command(re.sub(r" #.*|[][]", "", line.removeprefix("deskarena "))) for line in lines}
        assert {line: part for line, part in wrong.items() if part} == {}

    @pytest.mark.parametrize("line", ["run submitt", "run submit --agnet noop", "task generate x --modle m"])
    def test_wrong_commands_and_options_are_found(self, line: str) -> None:
        assert wrong_command(line)


class TestPages:
    def test_page_list_names_every_address(self) -> None:
        documented = {re.sub(r"\{[^}]*\}", "{}", path) for path in re.findall(r"`(/[^`]*)`", text_of("pages.md"))}
        found = page_addresses()
        assert found
        assert [path for path in found if path not in documented] == []


class TestArchitecturePage:
    def test_every_file_of_the_walk_exists(self) -> None:
        named = set(re.findall(r"`((?:backend|worker|vm_images|frontend)/[\w./-]+)`", text_of("architecture.md")))
        assert len(named) > 10
        assert sorted(path for path in named if not (ROOT / path).exists()) == []


class TestCode:
    """Files and names that pages mention exist."""

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
    def test_files_exist(self, page: Path) -> None:
        paths = [path for path in TREE_PATH.findall(page.read_text()) if "..." not in path and "NAME" not in path]
        assert [path for path in paths if not (ROOT / path).exists()] == []

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
    def test_names_are_defined_in_the_file(self, page: Path) -> None:
        named = NAMED_IN.findall(FENCED.sub("", page.read_text()))
        defined = r"(?:def|class) {0}\b|^\s*{0}\b"
        missing = [
            (name, path)
            for name, path in named
            if not (ROOT / path).is_file()
            or not re.search(defined.format(name), (ROOT / path).read_text(), re.MULTILINE)
        ]
        assert missing == []


class TestIndex:
    def test_names_every_page(self) -> None:
        indexes = [DOCS / folder / "README.md" for folder in ("", "internals", "reports", "internals/decisions")]
        linked = {(page.parent / link).resolve() for page in indexes for link in LINK.findall(page.read_text())}
        assert sorted(set(DOCS.rglob("*.md")) - linked - {DOCS / "README.md"}) == []

    def test_readers_get_few_pages(self) -> None:
        assert len([*DOCS.glob("*.md"), *DOCS.glob("benchmarks/*.md")]) <= MOST_USER_PAGES


class TestLinks:
    @pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
    def test_every_relative_link_leads_somewhere(self, page: Path) -> None:
        text = FENCED.sub("", page.read_text())
        assert [link for link in LINK.findall(text) if not leads_somewhere(page, link)] == []

    def test_every_page_that_code_names_exists(self) -> None:
        names = mentions()
        assert names
        assert sorted(name for name in names if not (ROOT / name).is_file()) == []

    def test_every_page_and_heading_that_a_template_links_to_exists(self) -> None:
        templates = "".join(read(path) for path in (ROOT / "frontend" / "templates").glob("*.html"))
        links = {f"{page}.md{anchor}" for page, anchor in re.findall(r'"/docs/([\w/-]+)\.html(#[\w-]+)?"', templates)}
        assert links
        assert sorted(link for link in links if not leads_somewhere(DOCS / "README.md", link)) == []

    def test_links_of_reports_that_a_command_writes_lead_somewhere(self) -> None:
        links = {link for path in (ROOT / "tools").rglob("*.py") for link in LINK.findall(path.read_text())}
        relative = {link for link in links if link.partition("#")[0].endswith(".md") and "{" not in link}
        assert relative
        assert sorted(link for link in relative if not leads_somewhere(DOCS / "reports" / "page.md", link)) == []


class TestSecurityPage:
    def test_every_attack_has_a_test_that_exists(self) -> None:
        text = (DOCS / "security.md").read_text()
        rows = text.partition("## Attacks and their tests")[2].partition("\n## ")[0].splitlines()
        attacks = [line for line in rows if line.startswith("| ") and not line.startswith("| attack")]
        named = [re.search(r"\| `(tests/[\w/]+\.py)`: `(test_\w+)` \|$", line) for line in attacks]
        assert len(attacks) > 30
        assert [line for line, test in zip(attacks, named, strict=True) if test is None] == []
        missing = [test.group() for test in named if test and f"def {test[2]}(" not in (ROOT / test[1]).read_text()]
        assert missing == []
