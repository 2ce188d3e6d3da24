from backend.cli.commands.episode import artifacts

SHA = "a" * 64


class TestArtifacts:
    def test_finds_all_however_deep(self) -> None:
        frame = {"sha256": SHA, "url": "/f"}
        assert artifacts({"steps": [{"frame": frame, "a11y": None}]}) == [(SHA, "/f")]

    def test_ignores_absent_ones(self) -> None:
        assert artifacts([{"sha256": None, "url": None}, {"sha256": SHA, "url": None}]) == []

    def test_a_hostile_name_never_becomes_a_path(self) -> None:
        assert artifacts({"sha256": "../../etc/passwd", "url": "/f"}) == []
