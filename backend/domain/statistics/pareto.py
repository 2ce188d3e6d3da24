"""Pareto front: what nothing else beats at no higher cost."""

from collections.abc import Sequence


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Positions of the points (cost, score) that no other dominates, by cost and then position.

    A point dominates another if it costs no more, scores no less, and is better in one of the two; so equal points are
    on the front together. Source: H. T. Kung, F. Luccio and F. P. Preparata, "On finding the maxima of a set of
    vectors", JACM 22 (1975).
    """
    front: list[int] = []
    for at in sorted(range(len(points)), key=lambda at: (points[at][0], -points[at][1], at)):
        if not front or points[at][1] > points[front[-1]][1] or points[at] == points[front[-1]]:
            front.append(at)
    return front
