"""Sound files written by tests: melodies, noise and silence."""

from pathlib import Path
from typing import Any

import numpy as np
import soundfile  # type: ignore[import-untyped]

NOTES = (220, 247, 262, 294, 330, 392, 440, 523, 880)
RATE = 22050


def melody(seconds: float, seed: int = 1, rate: int = RATE) -> Any:
    """Four notes a second, drawn by `seed`; float32, shape (n,)."""
    random = np.random.default_rng(seed)
    times = np.arange(int(seconds * rate)) / rate
    notes = random.choice(NOTES, int(seconds * 4) + 1)[(times * 4).astype(int)]
    within = times % 0.25
    parts = [np.sin(2 * np.pi * notes * harmonic * times) / harmonic for harmonic in (1, 2, 3)]
    return (sum(parts) * np.exp(-4 * within) * 0.3 + 0.002 * random.standard_normal(len(times))).astype(np.float32)


def noise(seconds: float, seed: int = 1, rate: int = RATE) -> Any:
    """White noise, which no format makes much smaller."""
    return (np.random.default_rng(seed).standard_normal(int(seconds * rate)) * 0.1).astype(np.float32)


def sound(path: Path, samples: Any, rate: int = RATE) -> str:
    """Writes the samples, (n,) or (n, channels), in the format of the file name; returns the path."""
    soundfile.write(path, samples, rate)
    return str(path)
