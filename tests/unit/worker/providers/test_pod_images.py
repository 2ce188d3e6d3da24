"""Knowledge of images that several nodes have, each on its own volume."""

from pathlib import Path

from tests.factories.machine_images import image_of
from worker.providers._pod_images import KnownImages, PodImage


def whole(name: str, memory_mib: int = 768) -> PodImage:
    return PodImage(Path("/images") / name, image_of(name=name, memory_mib=memory_mib))


def broken(name: str) -> PodImage:
    return PodImage(Path("/images") / name, None, reason="its disk is missing")


class TestKnownImages:
    def test_no_images_are_known_at_first(self) -> None:
        assert KnownImages().on_node() == ()

    def test_images_of_any_node_are_known(self) -> None:
        known = KnownImages()
        known.note("n1", (whole("b"), broken("c")))
        known.note("n2", (whole("a"), whole("c")))
        assert known.on_node() == (whole("a"), whole("b"), whole("c"))

    def test_a_node_s_own_counts_first(self) -> None:
        known = KnownImages()
        known.note("n1", (whole("a", 512),))
        known.note("n2", (whole("a", 1024),))
        assert (known.on_node("n1"), known.on_node("n2"), known.on_node("n3")) == (
            (whole("a", 512),),
            (whole("a", 1024),),
            (whole("a", 512),),
        )

    def test_last_report_of_a_shared_volume_wins(self) -> None:
        known = KnownImages()
        known.note("", (whole("a"),))
        known.note("", (whole("b"),))
        assert known.on_node() == (whole("b"),)

    def test_removed_nodes_lose_their_images(self) -> None:
        known = KnownImages()
        known.note("n1", (whole("a"),))
        known.note("n2", (whole("b"),))
        known.keep(["n2", "n3"])
        assert known.on_node() == (whole("b"),)
