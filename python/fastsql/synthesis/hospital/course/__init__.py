"""Families of questions about the course of one patient: changes, what followed what, visits and costs."""
