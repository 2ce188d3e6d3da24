import pytest

from tests.architecture.tree import ROOT
from worker.images.windows.powershell import faults

SCRIPTS = sorted((ROOT / "vm_images").rglob("*.ps1"))


class TestScripts:
    def test_scripts_exist(self) -> None:
        assert len(SCRIPTS) >= 5

    @pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
    def test_can_be_parsed(self, path: object) -> None:
        from pathlib import Path

        assert isinstance(path, Path)
        assert faults(path.read_text(encoding="utf-8")) == []

    @pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
    def test_lacking_any_one_bracket_or_quote_it_cannot(self, path: object) -> None:
        """Each of these faults must be noticed by the check."""
        from pathlib import Path

        assert isinstance(path, Path)
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            stripped = line.strip()
            if stripped in {"{", "}"} or stripped.endswith("{"):
                broken = [*lines[:number], line.rstrip().rstrip("{}"), *lines[number + 1 :]]
                assert faults("\n".join(broken)) != [], f"line {number + 1}: {line}"


class TestFaults:
    @pytest.mark.parametrize(
        ("script", "told"),
        [
            ("if ($a) {", "line 1: { is not closed"),
            ("\n}", "line 2: unexpected }"),
            ("if ($a) { (1 }", "unexpected }"),
            ("Write-Output 'a", "single-quoted string is not closed"),
            ('Write-Output "a', "double-quoted string is not closed"),
            ('"$(Get-Date"', "not closed"),
            ('"$(a { b)"', "double-quoted string is not closed"),
            ('"$(a { b) })"', "unexpected )"),
            ("<# a", "comment is not closed"),
            ('@"\n a\n "@', 'here-string is not closed by "@'),
            ("@'a\n'@", "text after @' on the same line"),
            ('@"\n$(a { )\n"@', "unexpected )"),
            ("Get-Item `  \n  x", "spaces after the line continuation `"),
            ("a && b", "5.1 has no &&"),
            ("$a ?? $b", "5.1 has no ??"),
            ("if ($a == 1) { }", "5.1 has no =="),
            ("if $a { }", "( expected after if"),
            ("if ($a) { } else b", "block expected after else"),
            ("try { a }\nb", "try without catch or finally"),
            ("function { }", "name and block expected after function"),
            ("Write-Output \u201ca\u201d", "is not ASCII"),
        ],
    )
    def test_finds_what_is_wrong(self, script: str, told: str) -> None:
        result = faults(script)
        assert any(told in fault for fault in result), result

    @pytest.mark.parametrize(
        "script",
        [
            "",
            "# { ( ' \"",
            "'it''s { a brace'",
            '"a ""quoted"" { word, `" and $($x.Name[0]) too"',
            "@'\nany { ' thing\n'@",
            '@"\n"quoted" $(Get-Date)\n"@\n',
            "Get-Item a#b # a comment",
            "<# many\nlines { #>",
            "Get-Item `\n  -Path x",
            "${a b} = @{ x = @(1, 2); y = $env:TEMP }",
            "try { a } catch { b } finally { c }",
            "switch ($x) { 'a' { 1 } default { 2 } }",
            "$list | Where-Object { $_ -eq 1 } | ForEach-Object { $_.Name }",
            "if ($a -or -not $b) { } elseif ($c) { } else { }",
            "$p.Path -split ';'",
        ],
    )
    def test_lets_pass_what_is_right(self, script: str) -> None:
        assert faults(script) == []
