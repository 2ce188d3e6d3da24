"""Agreement of several people who each say which of some kinds a thing is of."""

from collections import Counter
from collections.abc import Hashable, Sequence


def krippendorff(units: Sequence[Sequence[Hashable]]) -> float | None:
    """Krippendorff's alpha for nominal data: 1 = agreement everywhere, 0 = as if by chance.

    alpha = 1 - D_o / D_e, with D_o the share of disagreeing pairs within units and D_e that among all values.
    Source: K. Krippendorff, "Content analysis", 3rd edition (2013), section 12.3.

    Args:
        units: of each thing, what was said of it, in any order; things with fewer than two values are left out.

    Returns:
        None where nothing is said twice, or where all say the same of everything: chance then explains it all.
    """
    paired = [unit for unit in units if len(unit) > 1]
    values = Counter(value for unit in paired for value in unit)
    n = values.total()
    expected = n * n - sum(count * count for count in values.values())
    if expected == 0:
        return None
    observed = 0.0
    for unit in paired:
        same = sum(count * count for count in Counter(unit).values())
        observed += (len(unit) ** 2 - same) / (len(unit) - 1)
    return 1 - (n - 1) * observed / expected
