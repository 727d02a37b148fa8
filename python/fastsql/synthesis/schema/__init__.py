"""Pairs for any schema whose rows can be read: templates of queries, filled, tried and put into words.

programs --templates--> Template --fill--> Program --source--> Draft: SQL that returns something, and its question
"""

from __future__ import annotations

from fastsql.synthesis.schema.library import known_templates
from fastsql.synthesis.schema.source import SchemaSource
from fastsql.synthesis.schema.templates import Template, TemplateError, read_template

__all__ = ["SchemaSource", "Template", "TemplateError", "known_templates", "read_template"]
