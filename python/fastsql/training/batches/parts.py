"""The labels of auxiliary objectives, read off a program."""

from __future__ import annotations

import numpy as np

from fastsql.explanation.roles import query_roles, token_roles
from fastsql.grammar.program import ColumnRef, Program, TableRef
from fastsql.linking.nodes import NodeLayout
from fastsql.linking.prepare import Prepared
from fastsql.schema import Schema
from fastsql.training.batches.batch import Parts


def query_parts(program: Program, prepared: Prepared, schema: Schema) -> Parts:
    """The roles of a question's tokens and the items that its query names, those that tables are joined on, too."""
    nodes = NodeLayout.of_schema(schema)
    used = np.zeros(nodes.size, dtype=np.bool_)
    for terminal in program:
        if isinstance(terminal, TableRef):
            used[nodes.table(terminal.table)] = True
        elif isinstance(terminal, ColumnRef):
            used[nodes.column(terminal.column)] = True
    return Parts(token_roles(query_roles(program, schema), prepared, schema), used)
