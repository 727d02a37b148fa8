"""Questions to the demo hospital, as a clinician might ask them."""

from __future__ import annotations

QUESTIONS: tuple[str, ...] = (
    "How many patients were diagnosed with essential hypertension in 2100?",
    "What was the name of the drug that patient 71021258 was last prescribed?",
    "What are the three most common lab tests this year?",
    "When was patient 71021258 last discharged from the hospital?",
    "What was the last heart rate measured for patient 71021258 on their first ICU stay?",
    "How much does the procedure hemodialysis cost?",
    "Has patient 71021258 been prescribed warfarin this month?",
    "What was the maximum creatinine value of patient 71021495 on their first hospital visit?",
    "Which surgeon operated on patient 71021141 last night?",
)
"""Each by itself. The last one nobody can answer from the hospital's tables."""
CONVERSATION: tuple[str, ...] = (
    "List the admission ids of patients with age over 60.",
    "Only those with insurance Medicare.",
    "How many?",
)
"""One after the other: each goes on from those before."""
