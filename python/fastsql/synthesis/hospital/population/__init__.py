"""Families of questions about all patients."""
