"""A notebook shows rows, a bounded number of them, and nothing in them is more than text."""

from __future__ import annotations

from decimal import Decimal

from fastsql.execution import Rows

from .results import HOSTILE
from .test_schema import Text


class Page(Text):
    KNOWN = f"{Text.KNOWN} em"


def view(rows: Rows) -> Page:
    """The text of a view, whose HTML is whole and holds no tag that is not ours."""
    return Page(rows._repr_html_())


def test_rows_are_shown_under_their_columns_with_their_number() -> None:
    page = view(Rows(("id", "name", "id"), ((1, "Ada", 2), (3, "Béa", 4))))
    assert "idnameid1Ada23Béa4" in page.text
    assert page.text.endswith("2 rows")
    assert view(Rows(("id",), ((1,),))).text.endswith("1 row")
    assert view(Rows(("id",), ())).text == "id0 rows"


def test_null_looks_unlike_an_empty_text_and_unlike_the_word() -> None:
    html = Rows(("a", "b", "c"), ((None, "", "NULL"),))._repr_html_()
    assert '<td><em class="why">NULL</em></td><td><bdi></bdi></td><td><bdi>NULL</bdi></td>' in html


def test_a_long_result_is_shown_in_part_and_says_how_much_is_left() -> None:
    page = view(Rows(("id",), tuple((number,) for number in range(1_234)), truncated=True, cut=2))
    assert "1,234 rows, 1,184 of them not shown" in page.text
    assert "There are more rows in the database" in page.text
    assert "2 cells were cut" in page.text
    assert "49" in page.text
    assert "id50" not in page.text
    wide = view(Rows(tuple(f"c{number}" for number in range(60)), (tuple(range(60)),)))
    assert "10 more columns" in wide.text
    assert "c49" in wide.text
    assert "c50" not in wide.text


def test_a_view_stays_small_whatever_the_cells() -> None:
    names = tuple("n" * 10_000 for _ in range(1_000))
    for cell in ("x" * 100_000, b"\xff" * 100_000, ["y" * 100_000], "<" * 100_000, "\u202e" * 100_000):
        html = Rows(names, tuple((cell,) * 1_000 for _ in range(60)))._repr_html_()  # type: ignore[arg-type]
        assert len(html) < 3_000_000
    page = view(Rows(("t",) * 20, (("z" * 190,) * 20,) * 30))
    assert "30 rows, 17 of them not shown" in page.text


def test_long_cells_are_cut_and_bytes_are_shown_as_numbers() -> None:
    page = view(Rows(("t", "b", "c"), (("x" * 500, b"\x00\xff", b"a" * 500),)))
    assert "x" * 197 + "..." in page.text
    assert "x" * 198 not in page.text
    assert "x'00ff'" in page.text
    assert "... 500 bytes" in page.text


def test_whatever_stands_in_cells_and_names_is_text() -> None:
    for text in HOSTILE:
        page = view(Rows((text, "n"), ((text, 1), (Decimal("1.50"), None))))
        assert "1.50" in page.text


def test_numbers_stand_at_the_right_and_other_cells_do_not() -> None:
    html = Rows(("n", "t", "b"), ((1, "1", True), (None, "2", False)))._repr_html_()
    assert '<td class="figure"><bdi>1</bdi></td><td><bdi>1</bdi></td><td><bdi>True</bdi></td>' in html
