import pytest

from backend.domain.machines.image_offers import ImageOffer, image_for

LINUX, OTHER, WINDOWS = (
    ImageOffer(name="debian"), ImageOffer(name="small"), ImageOffer(name="eleven", os="windows"),
)  # fmt: skip
CHOSEN = OTHER.model_copy(update={"default": True})


class TestImageFor:
    @pytest.mark.parametrize(
        ("offers", "wanted", "system", "name"),
        [
            ((), None, "linux", "default"),
            ((), "mine", "linux", "mine"),
            ((LINUX,), None, "linux", "debian"),
            ((LINUX, WINDOWS), None, "windows", "eleven"),
            ((LINUX, WINDOWS), "debian", "windows", "debian"),
            ((LINUX, CHOSEN), None, "linux", "small"),
            ((LINUX, OTHER), None, "linux", "default"),
            ((LINUX,), None, "windows", "default"),
        ],
    )
    def test_the_image_of_the_run_or_one_that_fits_the_task(
        self, offers: tuple[ImageOffer, ...], wanted: str | None, system: str, name: str
    ) -> None:
        assert image_for(offers, wanted, system) == name
