"""How well names of databases are read: the words of SNAILS' natural names that `fastsql.profile` finds in the native ones.

    python benchmarks/name_words.py

Of each database: names whose words are natural as they are cut, as spelled out; words that spelling out or cutting added,
and how many of them the natural name has (precision); words of natural names that plain labels lack, and how many of
them were found (recall).
"""
