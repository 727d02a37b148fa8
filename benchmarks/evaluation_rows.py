"""The rows that docs/benchmarks.md shows of an evaluation, made of the file that `fastsql eval --json` wrote."""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

from collections.abc import Callable, Mapping
from typing import Any

Report = Mapping[str, Any]
Rows = Callable[[Report], list[str]]


def rows_of(name: str, report: Report) -> list[str]:
    """The rows, in Markdown, of the evaluation `name`, which is its file's without ".json".

    Raises:
        KeyError: the page has no such evaluation, or the report lacks one of its figures.
    """
    return ROWS[name](report)


def headline(report: Report) -> dict[str, float]:
    """What versions are compared by: percentages, numbers of wrong and refused answers, calibration error."""
    figures = {"EX" if "interactions" not in report else "QM": report["ex"], "EM": report["em"]}
    if "interactions" in report:
        figures["IM"] = report["interactions"]["im"]
    refusing = {f"RS({weight})": report["rs"][weight] for weight in ("0", "10")}
    counts = {"wrong": report["wrong"], "refused": report["abstained"]}
    found = {**figures, **refusing, **counts, "ECE": report["details"]["calibration"]["ece"]}
    return {figure: value for figure, value in found.items() if value is not None}


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")


def _count(report: Report) -> str:
    return f"{report['n']:,}"


def _percent(value: float, low_high: list[float] | None = None) -> str:
    return f"{value:.1f}" + (f" ({low_high[0]:.1f} to {low_high[1]:.1f})" if low_high else "")


def _bold(value: float, low_high: list[float] | None = None) -> str:
    figure, *interval = _percent(value, low_high).split(" ", 1)
    return " ".join([f"**{figure}**", *interval])


def _by_template(report: Report, figure: str) -> list[float]:
    interval: list[float] = report["details"]["intervals"]["by_template"][figure]
    return interval


def _answered(report: Report, of: str = "") -> str:
    wrong = report["wrong"]
    return f"{report['n'] - report['abstained']}{of}, {wrong or 'none'} wrong"


def _parts(label: str, report: Report) -> str:
    return _row(label, _count(report), *(_percent(report[figure]) for figure in ("ex", "em", "em_values")))


def _ehrsql(report: Report) -> list[str]:
    details = report["details"]
    return [
        _row(
            "all answerable",
            f"{details['answerable']:,}",
            _bold(report["ex"], _by_template(report, "ex")),
            *(_percent(report[figure]) for figure in ("em", "em_values")),
        ),
        _parts("skeleton seen in EHRSQL 2024 train", details["seen"]),
        _parts("skeleton not in it", details["unseen"]),
        _reliability("as it is", report),
    ]


def _reliability(label: str, report: Report) -> str:
    error = report["details"]["calibration"]["ece"]
    low, high = _by_template(report, "ece")
    return _row(
        label,
        _percent(report["rs"]["0"], _by_template(report, "rs_0")),
        _percent(report["rs"]["5"]),
        _percent(report["rs"]["10"], _by_template(report, "rs_10")),
        f"{report['wrong']} ({100 * report['wrong'] / report['n']:.1f} %)",
        f"{report['abstained']:,}",
        f"{error:.3f} ({low:.3f} to {high:.3f})",
    )


def _schemas(label: str, shown: Callable[..., str] = _percent) -> Rows:
    """Questions over so many schemas."""

    def rows(report: Report) -> list[str]:
        schemas = str(len(report["details"]["parts"]["db_id"]))
        right = shown(report["ex"], _by_template(report, "ex"))
        return [_row(label, _count(report), schemas, right, _percent(report["em"]))]

    return rows


def _refusable(label: str) -> Rows:
    """Questions of which some have no answer: how many are answered, and how true probabilities are of the mixture."""

    def rows(report: Report) -> list[str]:
        details = report["details"]
        error, (low, high) = details["calibration"]["ece"], _by_template(report, "ece")
        return [
            _row(
                label,
                _count(report),
                str(details["unanswerable"]),
                *(_percent(report["rs"][weight]) for weight in ("0", "10")),
                _answered(report),
                _percent(details["se"]),
                f"{error:.3f} ({low:.3f} to {high:.3f})",
            )
        ]

    return rows


def _interactions(label: str, *, interval: bool = False) -> Rows:
    """Turns, and the interactions that they belong to."""

    def rows(report: Report) -> list[str]:
        talks = report["interactions"]
        between = talks["intervals"]
        return [
            _row(
                label,
                _count(report),
                str(talks["n"]),
                _bold(talks["qm"], between["qm"]),
                _percent(report["em"]),
                _percent(talks["im"], between["im"] if interval else None),
                f"{talks['iff']:.2f} of {talks['iff_perfect']:.2f}",
            )
        ]

    return rows


def _written(label: str, *, schemas: bool, whole: bool = False) -> Rows:
    """Questions or turns written by hand, and how many are answered; `whole`: of how many."""

    def rows(report: Report) -> list[str]:
        details = report["details"]
        of = f" of {report['n']:,}" if whole else ""
        if "interactions" in report:
            right = _bold(report["ex"], report["interactions"]["intervals"]["qm"])
        else:
            right = _bold(report["ex"], _by_template(report, "ex"))
        over = [str(len(details["parts"]["db_id"]))] if schemas else []
        return [
            _row(
                label,
                f"{details['answerable']:,}",
                *over,
                right,
                _percent(report["em"]),
                _answered(report, of),
            )
        ]

    return rows


def _chinese(label: str) -> Rows:
    """Questions or turns in Chinese that have an answer; of conversations first turns and whole ones, too."""

    def rows(report: Report) -> list[str]:
        talks = report.get("interactions")
        between = talks["intervals"]["qm"] if talks else _by_template(report, "ex")
        forms = (_percent(report[figure]) for figure in ("em", "em_values"))
        answerable = report["details"]["answerable"]
        of = "" if answerable == report["n"] else f" of {report['n']:,}"
        right = _bold(report["ex"], between)
        found = [_row(label, f"{answerable:,}", right, *forms, _answered(report, of))]
        if talks:
            first = talks["by_turn"]["1"]
            throughout = _percent(talks["im"], talks["intervals"]["im"])
            found += [
                _row("- first turns", str(first["n"]), _bold(first["qm"]), "", "", ""),
                _row("- conversations right throughout", str(talks["n"]), throughout, "", "", ""),
            ]
        return found

    return rows


def _css(label: str, *published: str) -> Rows:
    """One of CSS's splits beside what was published for it."""

    def rows(report: Report) -> list[str]:
        forms = f"{_percent(report['em'])} / {_percent(report['em_values'])}"
        return [_row(label, _count(report), forms, _percent(report["ex"]), *published)]

    return rows


def _by_results(label: str, *, void: bool = False) -> Rows:
    """Questions without a database; `void`: how many of the gold queries return nothing on those that were made."""

    def rows(report: Report) -> list[str]:
        between = {figure: _by_template(report, figure) for figure in ("ex", "em")}
        last = [str(report["details"]["gold_empty"])] if void else []
        right, form = (_percent(report[figure], between[figure]) for figure in ("ex", "em"))
        return [_row(label, _count(report), right, form, _percent(report["em_values"]), *last)]

    return rows


ROWS: Mapping[str, Rows] = {
    "ehrsql2024": _ehrsql,
    "ehrsql2024_inspect": lambda report: [
        _reliability("queries run before one is chosen (`--inspect`)", report)
    ],
    "spider": _schemas("Spider dev (half of the official one, by database)", _bold),
    "spider_variants": _schemas("Spider-Syn, -Realistic and -DK dev"),
    "spider_held_out": _schemas("Spider train, the held-out databases"),
    "without_answer": _refusable("Spider dev, and questions made of it"),
    "sparc": _interactions("SParC dev"),
    "cosql": _interactions("CoSQL dev"),
    "interactions": _interactions("all", interval=True),
    "interactions_longer": _interactions("longer", interval=True),
    "dialogues": _interactions("dialogues"),
    "riverside": _written("Riverside", schemas=False),
    "written": _written("single questions", schemas=True, whole=True),
    "written_turns": _written("turns of conversations (QM)", schemas=True),
    "everyday": _written("single questions", schemas=False, whole=True),
    "everyday_turns": _written("turns of conversations (QM)", schemas=False),
    "clinic_zh": _chinese("a clinic"),
    "written_zh": _chinese("questions written by hand, over designs held out"),
    "chase": _chinese("CHASE dev, turns"),
    "css_example": _css("example", "", "91.7 / 82.2"),
    "css_template": _css("template", "60.5 / 55.2", ""),
    "css_database": _css("database (rebuilt)", "36.6 / 35.7", ""),
    "ehrsql_v1": _by_results("EHRSQL v1 (MIMIC-III, eICU)"),
    "mimicsql": _by_results("MIMICSQL"),
    "kaggledbqa": _by_results("KaggleDBQA dev", void=True),
    "bird": _by_results("BIRD dev, without hints", void=True),
    "snails": _by_results("SNAILS dev", void=True),
}
"""By the name of the file: how its rows are made, in the page's order."""
