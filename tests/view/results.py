"""Results as a parser might give them, harmless and hostile."""

from __future__ import annotations

from dataclasses import replace

from fastsql.explanation import Decision, Reason, Trail
from fastsql.result import Alternative, Link, Literal, Result

from ..background import Told

QUESTION = "Has patient 71021258 been prescribed warfarin this month?"
SQL = (
    "SELECT COUNT(*) > 0 FROM prescriptions WHERE prescriptions.hadm_id IN (SELECT admissions.hadm_id FROM admissions "
    "WHERE admissions.subject_id = 71021258) AND prescriptions.drug = 'warfarin'"
)
REASONS = (
    Reason("table", "prescriptions", "no word names it; probability 0.98", sql="prescriptions"),
    Reason("value", "admissions.subject_id = 71021258", "a number", (12, 20), "71021258", "71021258"),
    Reason(
        "value", "prescriptions.drug = 'warfarin'", "a dictionary value", (37, 45), "warfarin", "'warfarin'"
    ),
    Reason(
        "time", "prescriptions.starttime in the present month", "the calendar action", (46, 56), "this month"
    ),
)
DECISIONS = (
    Decision("query", "table", "prescriptions", 23, 0.98),
    Decision("operand_value", "candidate", "'warfarin'", 28, 0.875, (37, 45)),
)
ANSWER = Result(
    QUESTION,
    SQL,
    0.94,
    links=(Link((37, 45), "warfarin", "value", "prescriptions.drug = 'warfarin'", "dictionary"),),
    values=(Literal("warfarin", "dictionary", (37, 45), "prescriptions.drug"),),
    timings={"encode": 3.25, "decode": 400.0},
    threshold=0.91,
    background=Told(
        (Alternative(SQL.replace("= 'warfarin'", "IN ('warfarin')"), 0.26),), Trail(REASONS, DECISIONS)
    ),
)
REFUSAL = replace(
    ANSWER, confidence=0.9073, threshold=10 / 11, abstained=True, reason="It is not sure enough."
)

HOSTILE = (
    "<script>alert('x')</script>",
    "\"><img src=x onerror='alert(1)'>",
    "</code></pre></section><style>body{display:none}</style>",
    "&lt;b&gt; &amp; <!-- ]]>",
    "ab\u202egnp.exe\u202c \u2066x\u2069 שלום مرحبا",
    "\x1b[31mred\x1b[0m\x07\r\n\u2028end",
    "肌酐最高是多少？" * 30,
    "x" * 3_000,
    "e\u0301" * 200,
    '\' OR 1=1; DROP TABLE "t" --',
)
"""Texts that a question, a name of the schema or a value may be."""


def hostile(text: str) -> Result:
    """A result that says one text wherever a result says anything."""
    question = f"{text} {text}"
    span = (0, len(text))
    reasons = (
        Reason("value", text, text, span, text, text),
        Reason("column", text, text, (len(text) + 1, len(question)), text, text),
        Reason("table", text, text),
        Reason("<i>", text, text, (0, 1), text[:1]),
    )
    return Result(
        question,
        f"SELECT {text} FROM \"{text}\" WHERE x = '{text}'",
        0.5,
        abstained=True,
        reason=text,
        timings={text: 1.0},
        threshold=0.75,
        background=Told(
            (
                Alternative(f"SELECT {text} FROM y WHERE x = '{text}' LIMIT 1", 0.25),
                Alternative(f"DELETE {text}", 0.1),
            ),
            Trail(reasons, (Decision(text, text, text, 2, 0.5, span),)),
        ),
    )
