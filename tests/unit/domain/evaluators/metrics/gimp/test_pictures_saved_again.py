"""A picture that was only saved again is neither darker nor more vivid nor richer in contrast."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from backend.domain import registry
from backend.domain.registry import PluginKind

registry.load()
METRICS: dict[str, tuple[str, Callable[[Image.Image], Any], float]] = {
    "darker": ("check_brightness_decrease_and_structure_sim", ImageEnhance.Brightness, 0.98),
    "contrast": ("check_contrast_increase_and_structure_sim", ImageEnhance.Contrast, 1.03),
    "vivid": ("check_saturation_increase_and_structure_sim", ImageEnhance.Color, 1.03),
}
WAYS: list[tuple[str, dict[str, Any]]] = [
    ("jpg", {"quality": 75}),
    ("jpg", {"quality": 90}),
    ("jpg", {"quality": 95, "subsampling": 0}),
    ("webp", {"quality": 80}),
    ("png", {}),
]


def scene(seed: int) -> Image.Image:
    """Smooth colors with some noise."""
    rows, columns = np.mgrid[0:120, 0:160]
    wave = np.stack([np.sin(columns / (11 + 5 * seed) + k) * np.cos(rows / 13) for k in range(3)], axis=2)
    noise = np.random.default_rng(seed).normal(0, 6, wave.shape)
    return Image.fromarray((127 + (60 + 20 * seed) * wave + noise).clip(0, 255).astype(np.uint8))


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("kind", ["png", "jpg"])
def test_changes(tmp_path: Path, name: str, seed: int, kind: str) -> None:
    metric, change, by = METRICS[name]
    check = registry.lookup(PluginKind.METRIC, metric, "osworld")
    original, result = str(tmp_path / f"original.{kind}"), tmp_path / "result"
    scene(seed).save(original)
    picture = Image.open(original).convert("RGB")
    for suffix, options in WAYS:
        again, changed = f"{result}-again.{suffix}", f"{result}-changed.{suffix}"
        picture.save(again, **options)
        change(picture).enhance(by).save(changed, **options)
        assert check(again, original).value == 0.0, (suffix, options)
        if suffix == "png":  # Other formats lose more than these smallest changes.
            assert check(changed, original).value == 1.0
    further = f"{result}.png"
    change(picture).enhance(1 + 10 * (by - 1)).save(further)
    assert check(further, original).value == 1.0


@pytest.mark.parametrize(("name", "change"), [("decrease_brightness", "darker"), ("increase_saturation", "vivid")])
def test_only_one_measure(tmp_path: Path, name: str, change: str) -> None:
    check = registry.lookup(PluginKind.METRIC, name, "osworld")
    _, enhance, by = METRICS[change]
    paths = [str(tmp_path / file) for file in ("original.png", "again.jpg", "changed.png")]
    scene(1).save(paths[0])
    scene(1).save(paths[1], quality=75)
    enhance(scene(1)).enhance(by).save(paths[2])
    assert [check(paths[0], other).value for other in paths[1:]] == [0.0, 1.0]
