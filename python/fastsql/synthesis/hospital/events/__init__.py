"""Families of questions about the events of one patient: whether, how often, when, which, how much."""
