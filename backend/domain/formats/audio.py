"""Reads sound files: samples as mono at 22,050 Hz, and mel-frequency cepstral coefficients (MFCC)."""

import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed

RATE = 22050
MAX_BYTES = 512 * 2**20
MAX_SECONDS = 30 * 60
RATES = range(1000, 400_001)
_BLOCK = 2**18  # samples decoded at once
_WINDOW, _HOP, _MELS, _COEFFICIENTS = 2048, 512, 128, 20
_FRAMES = 1024  # frames whose spectra are in memory at once
_GUARD = 4096  # overlap of resampled blocks in samples
_PASSBAND = 0.913  # of the band
_CONTAINERS = (b"\x1aE\xdf\xa3", b"0&\xb2u\x8ef\xcf\x11", b"FLV\x01", b"\xff\xf1", b"\xff\xf9")
"""Signatures of formats that need the ffmpeg program: Matroska, ASF, Flash video, AAC; see `_is_container`."""


def read_samples(path: str | None) -> tuple[Any, str]:
    """(samples, "") as float32 of shape (n,), or (None, reason) if missing, damaged, empty or too long.

    Decodes WAV, MP3, FLAC and Ogg itself, other containers by the ffmpeg program.

    Raises:
        EvaluatorFailed: the file needs that program and it is not installed.
    """
    if path is None or not Path(path).is_file():
        return None, "the file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    samples, reason = _by_ffmpeg(path) if _is_container(path) else _by_soundfile(path)
    if samples is not None and len(samples) == 0:
        return None, "the file holds no sound"
    return samples, reason


def _is_container(path: str) -> bool:
    with Path(path).open("rb") as file:
        head = file.read(16)
    return head.startswith(_CONTAINERS) or head[4:8] == b"ftyp" or (head[:4] == b"RIFF" and head[8:12] == b"AVI ")


def _by_soundfile(path: str) -> tuple[Any, str]:
    import numpy as np
    import soundfile  # type: ignore[import-untyped]

    try:
        with soundfile.SoundFile(path) as file:
            rate, most = file.samplerate, MAX_SECONDS * file.samplerate
            if rate not in RATES:
                return None, f"the sound has {rate} samples a second"
            blocks, read = [np.zeros(0, np.float32)], 0
            while len(block := file.read(_BLOCK, dtype="float32", always_2d=True)):
                blocks.append(block.mean(axis=1, dtype=np.float32))
                read += len(block)
                if read > most:
                    return None, f"the sound is longer than {MAX_SECONDS // 60} minutes"
    except (soundfile.SoundFileError, ValueError, TypeError) as error:
        return None, f"the file is not a readable sound: {' '.join(str(error).split())[-120:]}"
    samples = np.concatenate(blocks)
    if not np.isfinite(samples).all():
        return None, "the file is not a readable sound: it has values that are not numbers"
    return _resample(samples, rate), ""


def _by_ffmpeg(path: str) -> tuple[Any, str]:
    import numpy as np

    program = shutil.which("ffmpeg")
    if program is None:
        raise EvaluatorFailed(
            "the sound is in a container that only the ffmpeg program opens",
            code="program_missing",
            hint="Install ffmpeg where the workers run.",
        )
    options = ["-nostdin", "-v", "error", "-protocol_whitelist", "file,pipe", "-t", str(MAX_SECONDS)]
    form = ["-vn", "-ac", "1", "-ar", str(RATE), "-f", "f32le", "pipe:1"]
    result = subprocess.run(
        [program, *options, "-i", f"file:{path}", *form], capture_output=True, check=False, timeout=60
    )
    if result.returncode != 0:
        return None, f"the file is not a readable sound: {result.stderr.decode(errors='replace').strip()[-120:]}"
    return np.frombuffer(result.stdout[: len(result.stdout) // 4 * 4], np.float32), ""


def _resample(samples: Any, rate: int) -> Any:
    """Resamples to `RATE` block by block, keeping the lower 91 % of the new band, as librosa's filter does.

    A block's spectrum is truncated or zero-padded to the new length. Blocks overlap by more than the filter's ringing,
    and only their middles are used.
    """
    import numpy as np

    if rate == RATE or len(samples) == 0:
        return samples
    common = math.gcd(rate, RATE)
    up, down = RATE // common, rate // common
    pieces = -(-_BLOCK // down)  # of `down` samples each, which become `up`
    guard = -(-_GUARD // down)
    padded = np.pad(samples, (guard * down, (guard + pieces) * down))
    middles = []
    for start in range(0, len(samples), pieces * down):
        block = padded[start : start + (pieces + 2 * guard) * down]
        block = np.pad(block, (0, (pieces + 2 * guard) * down - len(block)))
        new = _block_resampled(block, len(block) // down * up)
        middles.append(new[guard * up : -guard * up].astype(np.float32))
    return np.concatenate(middles)[: -(-len(samples) * up // down)]


def _block_resampled(block: Any, length: int) -> Any:
    import numpy as np

    spectrum = np.fft.rfft(block)
    bins = min(len(block), length) // 2 + 1  # those below both half rates
    positions = np.arange(bins) / (bins - 1)
    fade = np.clip((1.0 - positions) / (1.0 - _PASSBAND), 0.0, 1.0)
    cut = np.zeros(length // 2 + 1, spectrum.dtype)
    cut[:bins] = spectrum[:bins] * (0.5 - 0.5 * np.cos(np.pi * fade))
    return np.fft.irfft(cut, length) * (length / len(block))


def mel_cepstrum(samples: Any) -> Any:
    """20 mel-frequency cepstral coefficients per 512 samples, shape (frames, 20); librosa's `feature.mfcc`.

    Hann windows of 2048 centred on zero-padded samples, 128 Slaney mel bands of the power, decibels at most 80 below
    the maximum, orthonormal DCT-II.
    """
    import numpy as np

    padded = np.pad(samples, _WINDOW // 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::_HOP]
    hann = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_WINDOW) / _WINDOW)).astype(np.float32)
    bank = _mel_bank().astype(np.float32)
    parts = []
    for start in range(0, len(windows), _FRAMES):
        spectrum = np.fft.rfft(windows[start : start + _FRAMES] * hann, axis=1)
        parts.append((spectrum.real**2 + spectrum.imag**2) @ bank.T)
    loudness = 10 * np.log10(np.maximum(np.concatenate(parts), 1e-10))
    loudness = np.maximum(loudness, loudness.max() - 80)
    angles = np.outer(np.arange(_COEFFICIENTS), 2 * np.arange(_MELS) + 1) * np.pi / (2 * _MELS)
    cosines = np.cos(angles) * math.sqrt(2 / _MELS)
    cosines[0] /= math.sqrt(2)
    return loudness.astype(np.float64) @ cosines.T


def _mel_bank() -> Any:
    """Triangular filters of equal area over the spectrum's bins, shape (128, 1025)."""
    import numpy as np

    corners = _hertz(np.linspace(0, _mel(RATE / 2), _MELS + 2))
    bins = np.linspace(0, RATE / 2, _WINDOW // 2 + 1)
    low, middle, high = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    triangle = np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle))
    return np.maximum(0, triangle) * 2 / (high - low)


_LINEAR, _BREAK = 200 / 3, 1000.0  # Slaney's mel: linear up to 1 kHz, then logarithmic
_STEP = math.log(6.4) / 27


def _mel(hertz: float) -> float:
    return hertz / _LINEAR if hertz < _BREAK else _BREAK / _LINEAR + math.log(hertz / _BREAK) / _STEP


def _hertz(mels: Any) -> Any:
    import numpy as np

    knee = _BREAK / _LINEAR
    return np.where(mels < knee, mels * _LINEAR, _BREAK * np.exp((mels - knee) * _STEP))
