"""The look of the HTML view: one style sheet, light and dark, that touches nothing outside the view.

Kinds differ by the line below the words (double, solid, dashed, dotted) and by number, not by colour alone. All text has
a contrast of at least 4.5 to 1 against its ground.
"""

from __future__ import annotations

CLASS = "fastsql-view"

_LIGHT = """
--ground:#ffffff; --ink:#1f2328; --faint:#59636e; --line:#d1d9e0; --panel:#f6f8fa; --good:#1a7f37; --bad:#9a6700;
--value:#116329; --column:#0550ae; --table:#8250df; --time:#953800; --gone:#cf222e; --bar:#54aeff;
"""
_DARK = """
--ground:#0d1117; --ink:#e6edf3; --faint:#9198a1; --line:#3d444d; --panel:#151b23; --good:#3fb950; --bad:#d29922;
--value:#7ee787; --column:#79c0ff; --table:#d2a8ff; --time:#ffa657; --gone:#ff7b72; --bar:#1f6feb;
"""

STYLE = f"""
.{CLASS} {{{_LIGHT} color-scheme:light; background:var(--ground); color:var(--ink); padding:12px 16px; max-width:75em;
  border:1px solid var(--line); border-radius:6px; font:14px/1.5 system-ui,sans-serif; overflow-wrap:anywhere}}
@media (prefers-color-scheme:dark) {{.{CLASS} {{{_DARK} color-scheme:dark}}}}
[data-jp-theme-light=false] .{CLASS},.vscode-dark .{CLASS},[data-theme=dark] .{CLASS} {{{_DARK} color-scheme:dark}}
[data-jp-theme-light=true] .{CLASS},.vscode-light .{CLASS},[data-theme=light] .{CLASS} {{{_LIGHT} color-scheme:light}}
.{CLASS} h4 {{margin:14px 0 4px; font-size:14px; color:inherit}}
.{CLASS} p {{margin:4px 0}}
.{CLASS} .question {{font-size:16px; line-height:2}}
.{CLASS} mark {{background:none; font-weight:600; text-decoration-thickness:2px; text-underline-offset:4px}}
.{CLASS} .value {{color:var(--value); text-decoration-line:underline; text-decoration-style:solid}}
.{CLASS} .time {{color:var(--time); text-decoration-line:underline; text-decoration-style:double}}
.{CLASS} .column {{color:var(--column); text-decoration-line:underline; text-decoration-style:dashed}}
.{CLASS} .table {{color:var(--table); text-decoration-line:underline; text-decoration-style:dotted}}
.{CLASS} sup {{font-size:11px; line-height:0}}
.{CLASS} pre {{background:var(--panel); color:inherit; border:1px solid var(--line); border-radius:6px; padding:8px 12px;
  margin:4px 0; max-height:32em; overflow:auto; white-space:pre-wrap; font:13px/1.5 ui-monospace,monospace}}
.{CLASS} code {{font:13px ui-monospace,monospace; background:none; color:inherit}}
.{CLASS} .guess {{border-style:dashed; font-style:italic}}
.{CLASS} .guess,.{CLASS} .guess span {{color:var(--faint); font-weight:400}}
.{CLASS} [data-mark]::after {{content:attr(data-mark); font-size:10px; vertical-align:super; color:var(--faint)}}
.{CLASS} .keyword {{font-weight:600; color:var(--column)}}
.{CLASS} .literal {{color:var(--value)}}
.{CLASS} table {{border-collapse:collapse; margin:4px 0; color:inherit; font-size:13px}}
.{CLASS} th,.{CLASS} td {{text-align:start; vertical-align:top; padding:2px 12px 2px 0; border-bottom:1px solid var(--line)}}
.{CLASS} th {{font-weight:600; color:var(--faint)}}
.{CLASS} .figure {{text-align:end; font-variant-numeric:tabular-nums; white-space:nowrap}}
.{CLASS} .why,.{CLASS} summary,.{CLASS} small {{color:var(--faint)}}
.{CLASS} summary {{cursor:pointer; margin-top:8px}}
.{CLASS} .good {{color:var(--good); font-weight:600}}
.{CLASS} .bad {{color:var(--bad); font-weight:600}}
.{CLASS} del {{color:var(--gone)}}
.{CLASS} ins {{color:var(--value); text-decoration:none}}
.{CLASS} svg {{display:block}}
.{CLASS} .ground {{fill:var(--panel); stroke:var(--line)}}
.{CLASS} .fill {{fill:var(--bar)}}
.{CLASS} .needed {{stroke:var(--ink); stroke-width:2}}
.{CLASS} .steer {{font:11px ui-monospace,monospace; color:var(--gone)}}
"""
