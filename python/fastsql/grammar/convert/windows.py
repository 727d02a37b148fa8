"""Windows and sort keys."""

from __future__ import annotations

from sqlglot import exp

from fastsql.grammar.convert.errors import ConversionError
from fastsql.grammar.convert.names import sort_key
from fastsql.grammar.convert.nodes import check_sayable, unalias, unparen
from fastsql.grammar.convert.values import Values
from fastsql.grammar.program import Production, Terminal

_RANKS: dict[type[exp.Expr], str] = {
    exp.DenseRank: "dense_rank",
    exp.Rank: "rank",
    exp.RowNumber: "row_number",
    exp.PercentRank: "percent_rank",
}
_OVER: dict[type[exp.Expr], str] = {
    exp.Count: "count_over",
    exp.Sum: "sum_over",
    exp.Avg: "avg_over",
    exp.Min: "min_over",
    exp.Max: "max_over",
}
_NEIGHBOURS: dict[type[exp.Expr], str] = {exp.Lag: "lag", exp.Lead: "lead"}
_DEFAULT_FRAME = {"kind": "RANGE", "start": "UNBOUNDED", "start_side": "PRECEDING", "end": "CURRENT ROW"}


def has_window(node: exp.Expr) -> bool:
    """Whether a window stands in an expression, those of queries inside it aside."""
    return any(isinstance(part, exp.Window) for part in node.walk(prune=lambda n: isinstance(n, exp.Query)))


class Windows(Values):
    """Writes the terminals of windows and sort keys."""

    def window(self, node: exp.Window) -> list[Terminal]:
        """A rank, an aggregate over a window, or the value of a neighbour."""
        plain = _without_default_frame(node)
        check_sayable(plain)
        function = plain.this
        order = plain.args.get("order")
        keys = [] if order is None else self._merged(order.expressions)
        partition = [
            t
            for key in plain.args.get("partition_by") or []
            for t in (Production("partition"), *self.value(key))
        ]
        if type(function) in _RANKS and keys:
            return [Production(_RANKS[type(function)]), *partition, *self._keys(keys)]
        if type(function) in _NEIGHBOURS and keys:
            offset = function.args.get("offset")
            if function.args.get("default") is not None or (offset is not None and offset.name != "1"):
                raise ConversionError("LAG or LEAD by more than a row, or with a default")
            name = _NEIGHBOURS[type(function)]
            return [Production(name), *partition, *self._keys(keys), *self.value(function.this)]
        if type(function) not in _OVER or isinstance(function.this, exp.Distinct):
            raise ConversionError("window other than a rank, an aggregate, LAG or LEAD")
        written: list[Terminal] = [*partition, *(self._keys(keys) if keys else [Production("whole")])]
        if isinstance(function.this, exp.Star):
            return [Production("count_rows_over"), *written]
        return [Production(_OVER[type(function)]), *written, *self.value(function.this)]

    def _keys(self, keys: list[exp.Ordered]) -> list[Terminal]:
        written: list[Terminal] = []
        for key in keys[:-1]:
            head, *value = self.ordered(key)
            assert isinstance(head, Production)
            if head.name not in ("asc", "desc"):
                raise ConversionError("NULLS FIRST or NULLS LAST of a window's key before others")
            written += [Production(f"{head.name}_then"), *value]
        return written + self.ordered(keys[-1])

    def sort_keys(self, order: exp.Expr | None, items: list[exp.Expr]) -> list[Terminal]:
        """The keys of ORDER BY; aliases and positions stand for select items."""
        if order is None:
            return []
        keys = [key.copy() for key in order.expressions]
        for key in keys:
            key.set("this", sort_key(key.this, items).copy())
            null = _null_first(key.this)
            if null is not None:
                null.replace(sort_key(null, items).copy())
        return [terminal for key in self._merged(keys) for terminal in self.ordered(key)]

    def _merged(self, keys: list[exp.Ordered]) -> list[exp.Ordered]:
        """Keys, those of whether a value is NULL together with that value's key, which follows."""
        merged: list[exp.Ordered] = []
        while keys:
            key, *keys = keys
            null = _null_first(key.this)
            if null is not None and keys and unparen(keys[0].this) == unparen(null):
                key, nulls_first = keys[0].copy(), bool(key.args.get("desc"))
                key.set("nulls_first", nulls_first)
                keys = keys[1:]
            merged.append(key)
        return merged

    def ordered(self, node: exp.Expr) -> list[Terminal]:
        """A sort key with its direction. Unless it says otherwise, NULL is the least of all values."""
        check_sayable(node)
        name = "desc" if node.args.get("desc") else "asc"
        value = self.value(node.this)
        never_null = value[0] in (Production("count"), Production("count_all"), Production("count_distinct"))
        if bool(node.args.get("nulls_first")) == (name == "desc") and not never_null:
            name += "_nulls_first" if name == "desc" else "_nulls_last"
        return [Production(name), *value]


def _without_default_frame(node: exp.Window) -> exp.Window:
    """A window, without a frame that it would have anyway."""
    spec = node.args.get("spec")
    given = {name: part for name, part in spec.args.items() if part} if spec is not None else {}
    if given != _DEFAULT_FRAME:
        return node
    plain = node.copy()
    plain.set("spec", None)
    return plain


def _null_first(node: exp.Expr) -> exp.Expr | None:
    """The value of `CASE WHEN value IS NULL THEN 1 ELSE 0 END`, or None for anything else."""
    node = unparen(unalias(node))
    if not isinstance(node, exp.Case) or node.this is not None or len(node.args["ifs"]) != 1:
        return None
    branch, default = node.args["ifs"][0], node.args.get("default")
    if (
        not isinstance(branch.this, exp.Is)
        or not isinstance(branch.this.expression, exp.Null)
        or default is None
    ):
        return None
    return branch.this.this if (branch.args["true"].name, default.name) == ("1", "0") else None
