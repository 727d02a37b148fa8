"""How many pairs each skeleton gets."""

from __future__ import annotations


def share_out(counts: dict[str, int], total: int, weights: dict[str, float]) -> dict[str, int]:
    """How many of each key to take: in proportion to the weighted square root of its count, at most that many."""
    shares = {key: weights.get(key, 1.0) * count**0.5 for key, count in counts.items()}
    taken = dict.fromkeys(counts, 0)
    rest = sorted(counts)  # in one order everywhere: sums of floats depend on it
    left = total
    while left > 0 and rest:
        unit = left / sum(shares[key] for key in rest)
        full = {key for key in rest if unit * shares[key] >= counts[key]}
        if not full:
            for key in rest:
                taken[key] = int(unit * shares[key])
            missing = total - sum(taken.values())
            for key in sorted(rest, key=lambda key: (-(unit * shares[key] % 1), key))[:missing]:
                taken[key] += 1
            break
        for key in full:
            taken[key] = counts[key]
        rest = [key for key in rest if key not in full]
        left = total - sum(taken.values())
    return taken
