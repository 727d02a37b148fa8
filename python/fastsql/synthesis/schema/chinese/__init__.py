"""Questions in Chinese: conditions stand before the noun, things are counted by measure words, nothing has a plural.

What can be said at all, and of which rows, is read by the same code as for English.
"""
