"""Perceptual difference of two colours: CIEDE2000 (Sharma, Wu and Dalal, 2005).

scikit-image has the same for whole pictures, but importing it takes longer and more memory than most evaluations.
"""

from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

Color = tuple[int, int, int]
Lab = tuple[float, float, float]
_WHITE = (0.95047, 1.0, 1.08883)
_TO_XYZ = ((0.412453, 0.357580, 0.180423), (0.212671, 0.715160, 0.072169), (0.019334, 0.119193, 0.950227))
_FAR = 25.0**7


def difference(first: Color, second: Color) -> float:
    """CIEDE2000 between two sRGB colours (0 to 255 each) under D65; 0 = equal, about 2 = just noticeable."""
    (light_1, a_1, b_1), (light_2, a_2, b_2) = lab(first), lab(second)
    stretch = 1 + 0.5 * (1 - _share((hypot(a_1, b_1) + hypot(a_2, b_2)) / 2))
    chroma_1, chroma_2 = hypot(a_1 * stretch, b_1), hypot(a_2 * stretch, b_2)
    hue_1, hue_2 = (degrees(atan2(b, a * stretch)) % 360 for a, b in ((a_1, b_1), (a_2, b_2)))
    grey = chroma_1 * chroma_2 == 0
    turn = 0.0 if grey else (hue_2 - hue_1 + 180) % 360 - 180
    if not grey and turn == -180 and hue_2 > hue_1:  # noqa: PLR2004 - opposite hues: the paper turns forward
        turn = 180.0
    light, chroma = (light_1 + light_2) / 2, (chroma_1 + chroma_2) / 2
    hue = hue_1 + hue_2 if grey else _middle(hue_1, hue_2)
    by_light = (light_2 - light_1) / (1 + 0.015 * (light - 50) ** 2 / sqrt(20 + (light - 50) ** 2))
    by_chroma = (chroma_2 - chroma_1) / (1 + 0.045 * chroma)
    by_hue = 2 * sqrt(chroma_1 * chroma_2) * sin(radians(turn / 2)) / (1 + 0.015 * chroma * _hue_weight(hue))
    rotation = -sin(radians(60 * exp(-(((hue - 275) / 25) ** 2)))) * 2 * _share(chroma)
    return sqrt(by_light**2 + by_chroma**2 + by_hue**2 + rotation * by_chroma * by_hue)


def lab(color: Color) -> Lab:
    """CIELAB of an sRGB colour under D65, two degrees."""
    linear = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in color]  # noqa: PLR2004 - sRGB's knee
    xyz = [sum(weight * part for weight, part in zip(row, linear, strict=True)) for row in _TO_XYZ]
    x, y, z = (_root(value / white) for value, white in zip(xyz, _WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(value: float) -> float:
    return value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116  # noqa: PLR2004 - the standard's bound


def _share(chroma: float) -> float:
    return sqrt(chroma**7 / (chroma**7 + _FAR))


def _middle(first: float, second: float) -> float:
    """The hue between two hues, on the shorter arc."""
    if abs(first - second) <= 180:  # noqa: PLR2004 - half a turn
        return (first + second) / 2
    return (first + second + (360 if first + second < 360 else -360)) / 2  # noqa: PLR2004 - a whole turn


def _hue_weight(hue: float) -> float:
    waves = ((0.17, 1, -30.0), (-0.24, 2, 0.0), (-0.32, 3, 6.0), (0.20, 4, -63.0))
    return 1 - sum(part * cos(radians(times * hue + shift)) for part, times, shift in waves)
