"""Credits lead to the home of a work, which its authors keep, and not to an index that happens to carry a package of it."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fastsql.parser import BUNDLED
from fastsql.training.bundles.credits import DATA, DATABASES, ENCODERS, OWN, SCHEMAS, Credit

ROOT = Path(__file__).parents[1]
CREDITS = (
    *DATA.values(),
    *SCHEMAS.values(),
    *DATABASES.values(),
    *(one for several in ENCODERS.values() for one in several),
    *OWN,
)
CARDS = sorted(BUNDLED.glob("*/README.md"))
CREDITING = [*CARDS, ROOT / "README.md", ROOT / "LICENSE-WEIGHTS.md", ROOT / "docs" / "data.md"]
INDEXES = (
    "anaconda.org",
    "conda-forge.org",
    "libraries.io",
    "npmjs.com",
    "piwheels.org",
    "pypi.org",
    "pypi.python.org",
    "pythonhosted.org",
)
"""Hosts that list packages, whoever wrote what is in them."""
_ADDRESS = re.compile(r"https?://[^\s)>\]\"'`]+")


def is_index(address: str) -> bool:
    """Whether an address is of a package index."""
    host = urlsplit(address).hostname or ""
    return any(host == index or host.endswith(f".{index}") for index in INDEXES)


def test_an_index_is_known_by_its_host() -> None:
    assert is_index("https://pypi.org/project/spider/")
    assert is_index("https://files.pythonhosted.org/packages/spider.whl")
    assert not is_index("https://github.com/pypi.org/spider")
    assert not is_index("#how-to-reproduce")


@pytest.mark.parametrize("credit", CREDITS, ids=lambda credit: str(credit.title))
def test_a_credit_leads_to_the_home_of_its_work(credit: Credit) -> None:
    assert credit.where.startswith("https://") != (credit in OWN)
    assert not is_index(credit.where)


@pytest.mark.parametrize("page", CREDITING, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_a_page_that_credits_leads_to_no_package_index(page: Path) -> None:
    assert [address for address in _ADDRESS.findall(page.read_text("utf-8")) if is_index(address)] == []


def shown_by(card: Path) -> dict[str, str]:
    """The works in a card's table of credits, with the address that each leads to."""
    return dict(re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\) \|", card.read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("card", CARDS, ids=lambda card: str(card.parent.name))
def test_a_bundled_card_leads_where_the_credits_do(card: Path) -> None:
    shown = shown_by(card)
    assert shown == {credit.title: credit.where for credit in CREDITS if credit.title in shown} != {}


@pytest.mark.parametrize("card", CARDS, ids=lambda card: str(card.parent.name))
def test_the_readme_leads_to_the_home_of_each_work_that_a_bundled_model_comes_from(card: Path) -> None:
    licence = (ROOT / "README.md").read_text("utf-8").partition("## Licence")[2]
    homes = {where for where in shown_by(card).values() if not where.startswith("#")}
    assert homes - set(_ADDRESS.findall(licence)) == set()
