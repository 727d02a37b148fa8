"""Synthetic questions with SQL: what draws, checks, balances and writes them, whatever schema they are about.

source      what makes the questions of one kind of schema
generate    pairs drawn from a source, checked and balanced
varied      the same over many schemas
write       pairs as files
"""
