"""Profiles: what names, types, keys, comments and counts tell of a schema, for people to correct."""

from __future__ import annotations

from fastsql.profile.model import KINDS, ColumnProfile, Kind, Profile, TableProfile

__all__ = ["KINDS", "ColumnProfile", "Kind", "Profile", "TableProfile"]
