"""Calls of the metrics of pictures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from tests.factories.images import (
    blurred,
    brighter,
    contrasted,
    noise,
    object_on,
    photograph,
    save,
    scene,
    text_at,
    triangle,
    vivid,
)
from tests.factories.metric_cases import Call, MetricCase

KINDS = ("png",)
Maker = Callable[[], Image.Image]


def pair(mine: Maker, gold: Maker = scene, **options: Any) -> Callable[[Path], Call]:
    """A picture and the one to compare with."""
    return lambda folder: Call((save(mine(), folder / "mine.png"), save(gold(), folder / "gold.png")), options)


def alone(mine: Maker, *rules: Any, name: str = "mine.png") -> Callable[[Path], Call]:
    """A picture with the rules it is judged by."""
    return lambda folder: Call((save(mine(), folder / name), *rules))


def large_pair(folder: Path, size: int) -> Call:
    """Two photographs."""
    return Call((photograph(folder / "mine.jpg", size), photograph(folder / "gold.jpg", size)))


def large(*rules: Any) -> Callable[[Path, int], Call]:
    """A large picture with rules."""
    return lambda folder, size: Call((noise(folder / "mine.png", size), *rules))


def case(mine: Maker, near: Maker, gold: Maker = scene, **options: Any) -> MetricCase:
    """A metric of two pictures."""
    return MetricCase(
        passing=pair(mine, gold, **options), near_miss=pair(near, gold, **options), sized=large_pair, kinds=KINDS
    )


def shifted() -> Image.Image:
    """The scene, moved by eight pixels."""
    picture = Image.new("RGB", scene().size, (90, 90, 90))
    picture.paste(scene(), (8, 0))
    return picture


def stained() -> Image.Image:
    """The scene with one pixel changed."""
    picture = scene()
    picture.putpixel((50, 30), (1, 2, 3))
    return picture


def listed(*mine: Maker) -> Callable[[Path], Call]:
    """Lists of pictures; the expected ones are the scene and its darker form."""

    def make(folder: Path) -> Call:
        gold: tuple[Maker, ...] = (scene, toned(0.5))
        return Call(
            (
                [save(picture(), folder / f"{number}.png") for number, picture in enumerate(mine)],
                [save(picture(), folder / f"gold{number}.png") for number, picture in enumerate(gold)],
            )
        )

    return make


def config(text: str) -> Callable[[Path], Call]:
    """GIMP's settings."""
    return lambda folder: Call((_write(folder / "gimprc", text), {"key": "undo-levels", "value": "100"}))


def _write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def large_config(folder: Path, size: int) -> Call:
    """Many settings."""
    line = '(history-item "filters-{}" 1)\n'
    text = "".join(line.format(number) for number in range(size // len(line)))
    return Call((_write(folder / "gimprc", text), {"key": "undo-levels", "value": "100"}))


def in_folder(name: str) -> Callable[[Path], Call]:
    """A folder with a file."""

    def make(folder: Path) -> Call:
        save(scene(), folder / "export.jpg")
        return Call((str(folder), name))

    return make


def toned(factor: float) -> Maker:
    """A brighter or darker scene."""
    return lambda: brighter(scene(), factor)


SIZE = {"height": 64, "width": 96}

CASES = {
    "check_structure_sim": case(scene, shifted),
    "check_structure_sim_with_threshold": case(scene, shifted, ssim_threshold=0.85),
    "check_structure_sim_resized": case(lambda: scene().resize((192, 128)), shifted),
    "check_file_exists_and_structure_sim": case(scene, shifted),
    "check_brightness_decrease_and_structure_sim": case(toned(0.7), toned(1.1)),
    "check_saturation_increase_and_structure_sim": case(lambda: vivid(scene(), 1.3), lambda: vivid(scene(), 0.9)),
    "check_contrast_increase_and_structure_sim": case(
        lambda: contrasted(scene(), 1.3), lambda: contrasted(scene(), 0.9)
    ),
    "check_palette_and_structure_sim": case(lambda: scene().quantize(200), scene),
    "check_image_mirror": case(lambda: scene().transpose(Image.Transpose.FLIP_LEFT_RIGHT), scene),
    "check_green_background": case(
        lambda: object_on((10, 200, 30)), lambda: object_on((200, 200, 30)), lambda: object_on((255, 255, 255))
    ),
    "check_sharper": case(scene, lambda: blurred(scene(), 3), lambda: blurred(scene(), 1)),
    "increase_saturation": case(lambda: vivid(scene(), 0.8), lambda: vivid(scene(), 1.2)),
    "decrease_brightness": case(toned(1.2), toned(0.8)),
    "compare_triangle_positions": case(
        lambda: triangle((30, 40)), lambda: triangle((100, 60)), lambda: triangle((80, 60))
    ),
    "compare_image_list": MetricCase(
        passing=listed(scene, toned(0.5)), near_miss=listed(stained, toned(0.5)), sized=large_pair, kinds=KINDS
    ),
    "check_triangle_position": MetricCase(
        passing=alone(lambda: triangle((101, 61))),
        near_miss=alone(lambda: triangle((150, 61))),
        sized=large(),
        kinds=KINDS,
    ),
    "check_textbox_on_leftside": MetricCase(
        passing=alone(lambda: text_at(4)), near_miss=alone(lambda: text_at(14)), sized=large(), kinds=KINDS
    ),
    "check_image_size": MetricCase(
        passing=alone(scene, SIZE), near_miss=alone(lambda: scene((96, 65)), SIZE), sized=large(SIZE), kinds=KINDS
    ),
    "check_image_file_size": MetricCase(
        passing=alone(scene, {"max_size": 60_000}),
        near_miss=alone(scene, {"max_size": 600}),
        sized=large({"max_size": 600_000}),
        kinds=KINDS,
    ),
    "check_config_status": MetricCase(
        passing=config("# GIMP gimprc\n\n(undo-levels 100)\n"),
        near_miss=config("# (undo-levels 100)\n(undo-levels 10)\n"),
        sized=large_config,
        kinds=("gimprc",),
    ),
    "check_file_exists": MetricCase(passing=in_folder("export.jpg"), near_miss=in_folder("export.jpeg"), of_file=False),
}
