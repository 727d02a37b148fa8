"""The figures of an evaluation as lines of text, each share with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsql.cli.console import Console
    from fastsql.evaluation.provenance import Provenance


def print_figures(console: Console, figures: Mapping[str, Any], provenance: Provenance) -> None:
    """Print what was measured and what came of it; `figures` are those of `Report.to_json`."""
    console.line(f"{figures['n']:,} questions, {figures['details']['answerable']:,} of them answerable")
    rows = [*provenance.lines(figures["n"]), ("", ""), *_rows(figures)]
    width = max(len(label) for label, _ in rows)
    for label, text in rows:
        console.line(f"  {label:<{width}}  {text}".rstrip())


def _rows(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    details = figures["details"]
    share = _Shares(details["intervals"])
    times = ", ".join(f"{name} {_number(value)} ms" for name, value in figures["latency_ms"].items())
    scores = (f"RS({c}) {_number(value)}{share.ends(f'rs_{c}')}" for c, value in figures["rs"].items())
    refused = f"Se {share('se', details['se'])} of the unanswerable refused"
    answered = f"Sp {share('sp', details['sp'])} of the answerable answered"
    levels = details["calibration"]["coverage"]
    covered = ", ".join(map(_number, levels.values()))
    coverage = f"{covered} % of questions with {', '.join(levels)} % of answers right, in hindsight"
    others = share("ex_gold_not_empty", details["ex_gold_not_empty"])
    rows = [
        *_of_conversations(figures.get("interactions")),
        ("execution accuracy", share("ex", figures["ex"])),
        ("exact match", share("em", figures["em"])),
        ("  with values", share("em_values", figures["em_values"])),
        ("valid SQL", share("valid_sql", figures["valid_sql"])),
        ("reliability", ", ".join(scores)),
        ("wrong, abstained", f"{_number(figures['wrong'])}, {figures['abstained']}"),
        ("refusals", f"{refused}, {answered}"),
        ("latency", times),
        ("calibration error", f"{_decimal(details['calibration']['ece'])}{share.ends('ece', 3)}"),
        ("coverage", coverage),
        ("gold answers empty", f"{details['gold_empty']}, accuracy on the others {others}"),
    ]
    for name in ("seen", "unseen"):
        if name in details:
            part = details[name]
            told = (
                f"execution accuracy {share(f'{name}.ex', part['ex'])}, Sp {share(f'{name}.sp', part['sp'])}"
            )
            wrong = f"{_number(part['wrong'])} answered wrongly"
            rows.append((f"{name} skeletons", f"{part['n']:,} questions, {told}, {wrong}"))
    for name, label in (("gold_failed", "gold SQL that fails"), ("timeouts", "ran out of time")):
        if details[name]:
            rows.append((label, str(details[name])))
    return [*rows, *((kind, str(number)) for kind, number in details["errors"].items())]


def _of_conversations(scores: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if scores is None:
        return []
    ends = dict.fromkeys(("qm", "im", "iff", "iff_percent"), "")
    for name in ends if scores["intervals"] else ():
        low, high = scores["intervals"][name]
        digits = 2 if name == "iff" else 1
        how = ", Wilson" if name in scores["intervals"]["wilson"] else ""
        ends[name] = f" ({low:.{digits}f} to {high:.{digits}f}{how})"
    by = ", by queries" if scores.get("compared") == "queries" else ""
    matched = f"QM {scores['qm']:.1f} %{ends['qm']} of turns{by}"
    whole = f"IM {scores['im']:.1f} %{ends['im']} of {scores['n']:,} conversations"
    perfect = f"{scores['iff_percent']:.1f} %{ends['iff_percent']} of the perfect {scores['iff_perfect']:.2f}"
    rows = [
        ("conversations", f"{matched}, {whole}"),
        ("  first failure", f"IFF {scores['iff']:.2f}{ends['iff']}, {perfect}"),
    ]
    for name, label in (("by_turn", "  QM by turn"), ("by_kind", "  QM by kind")):
        parts = (f"{part} {found['qm']:.1f} % of {found['n']:,}" for part, found in scores[name].items())
        rows.append((label, ", ".join(parts) or "-"))
    return rows


class _Shares:
    """Writes percentages with their intervals by template; Wilson's are named."""

    def __init__(self, intervals: Mapping[str, Any] | None) -> None:
        self._ends: Mapping[str, Sequence[float] | None] = (intervals or {}).get("by_template", {})
        self._wilson = frozenset((intervals or {}).get("wilson", ()))

    def __call__(self, name: str, value: float | None) -> str:
        return "-" if value is None else f"{value:.1f} %{self.ends(name)}"

    def ends(self, name: str, digits: int = 1) -> str:
        ends = self._ends.get(name)
        if ends is None:
            return ""
        how = ", Wilson" if name in self._wilson else ""
        return f" ({ends[0]:,.{digits}f} to {ends[1]:,.{digits}f}{how})"


def _decimal(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _number(value: int | float | None) -> str:
    return "-" if value is None else f"{value:,.1f}".removesuffix(".0")
