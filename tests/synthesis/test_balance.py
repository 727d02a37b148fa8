"""How many pairs each skeleton gets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fastsql.synthesis.balance import share_out


@given(
    st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.integers(1, 500), min_size=1, max_size=30),
    st.integers(0, 2000),
)
def test_shares_add_up_and_never_exceed_what_there_is(counts: dict[str, int], total: int) -> None:
    shares = share_out(counts, total, {})
    assert sum(shares.values()) == min(total, sum(counts.values()))
    assert all(0 <= shares[key] <= counts[key] for key in counts)


def test_shares_do_not_depend_on_the_order_of_keys() -> None:
    counts = {f"{number}": number % 37 + 1 for number in range(3000)}
    assert share_out(counts, 7000, {}) == share_out(dict(reversed(counts.items())), 7000, {})


def test_shares_follow_the_square_root() -> None:
    assert share_out({"often": 400, "seldom": 100}, 60, {}) == {"often": 40, "seldom": 20}
    assert share_out({"often": 400, "seldom": 400}, 60, {"often": 0.5}) == {"often": 20, "seldom": 40}
