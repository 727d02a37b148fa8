"""The style of the report page: one column that fits a telephone, tables that scroll, and breaks that suit paper."""

STYLE = """
:root { color-scheme: light; --ink: #1b1b1f; --soft: #5b6470; --line: #d5dae0; --blue: #1f4e79; --warn: #fff4d6; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; color: var(--ink); background: #fff; line-height: 1.45;
  font-family: system-ui, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC",
  sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .35rem 0; }
.soft { color: var(--soft); font-size: .9rem; }
.notice { background: var(--warn); border: 1px solid #e0c36a; border-radius: .3rem; padding: .6rem .8rem; margin: .8rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; flex: 1 1 19rem; max-width: 30rem; }
figure svg { width: 100%; height: auto; }
pre, code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono CJK SC", monospace; font-size: .82rem; }
pre { margin: .15rem 0; white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f8fa; padding: .35rem .5rem;
  border-radius: .25rem; }
td code { overflow-wrap: anywhere; }
mark { background: #ffd9d4; color: inherit; padding: 0 .1em; border-radius: .15em; }
.example { border-left: .2rem solid var(--line); padding: .1rem 0 .1rem .7rem; margin: .7rem 0; }
.question { font-weight: 600; overflow-wrap: anywhere; }
.label { color: var(--soft); font-size: .8rem; }
a { color: var(--blue); }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  figure, tr, .question, pre { break-inside: avoid; }
  figure { flex: 0 1 47%; }
  h2, h3, .label, .question { break-after: avoid; }
  mark { text-decoration: underline; }
  a { color: inherit; text-decoration: none; }
}
"""
