"""The verifier refuses every attack, with a typed error that repeats nothing of it."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest

from fastsql.errors import VerificationError
from fastsql.execution import verify, verify_form

from ..worlds.ward import ward_schema
from .cases import DIALECTS, Attack, attacks_on, label, read_attacks

NOWHERE = Path("/nowhere")
CASES = [(dialect, attack) for dialect in DIALECTS for attack in attacks_on(dialect)]


def test_at_least_four_hundred_attacks_are_tried_and_each_once_a_dialect() -> None:
    statements = [attack.sql for name in ("any", *DIALECTS) for attack in read_attacks(name)]
    assert len(statements) >= 400
    for dialect in DIALECTS:
        mine = [attack.sql for attack in attacks_on(dialect)]
        assert len(mine) == len(set(mine))


@pytest.mark.parametrize(
    ("dialect", "attack"), CASES, ids=[f"{dialect}: {label(attack)}" for dialect, attack in CASES]
)
def test_every_attack_is_refused(dialect: str, attack: Attack) -> None:
    with pytest.raises(VerificationError):
        verify(attack.sql, ward_schema(), dialect=dialect)
    if not attack.needs_names:
        with pytest.raises(VerificationError):
            verify_form(attack.sql, dialect=dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_refusal_repeats_the_attack(
    dialect: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    told = []
    with caplog.at_level(logging.DEBUG):
        for attack in attacks_on(dialect):
            with pytest.raises(VerificationError) as caught:
                verify(attack.in_folder(NOWHERE), ward_schema(), dialect=dialect)
            told.append("".join(traceback.format_exception(caught.value)))
    said = "".join((*told, caplog.text, *capfd.readouterr()))
    for word in (str(NOWHERE), "staff", "password", "stolen", "DROP TABLE", "DELETE FROM"):
        assert word not in said
