import pytest
from pydantic import ValidationError

from worker.images.linux.options import LinuxBuildOptions


class TestOptions:
    def test_a_variant_has_its_own_needs(self) -> None:
        minimal, full = LinuxBuildOptions(epoch=0), LinuxBuildOptions(epoch=0, variant="full")
        assert (minimal.image_name(), full.image_name()) == ("linux-minimal", "linux-full")
        assert minimal.memory() < full.memory()
        assert minimal.disk() < full.disk()

    def test_explicit_options_take_precedence(self) -> None:
        chosen = LinuxBuildOptions(epoch=0, name="mine", memory_mib=2048)
        assert (chosen.image_name(), chosen.memory()) == ("mine", 2048)

    @pytest.mark.parametrize(
        "source",
        ["http://deb.debian.org/debian", "file:/srv/debian", "deb [trusted=yes] http://a.example/debian b main"],
    )
    def test_a_source_is_a_mirror_or_a_line(self, source: str) -> None:
        assert LinuxBuildOptions(epoch=0, sources=(source,)).sources == (source,)

    @pytest.mark.parametrize("source", ["nonsense", "", "-", "deb "])
    def test_another_source_is_refused_at_once(self, source: str) -> None:
        with pytest.raises(ValidationError, match="neither a mirror's address nor a line"):
            LinuxBuildOptions(epoch=0, sources=(source,))
