"""The last gate: what a finished SQL text may hold, what its names mean, and the text that may run for it.

In the order of use: `text` bounds it and cuts it into tokens, `readings` and `parse` read it, `tree` holds every node
against the lists of `allowed`, `resolve` finds what names mean by the dialect's rules (`naming`), `sizes` bounds what it
can make, `qualify` writes it anew, `empty` has SQLite compile it, and `authorizer` watches SQLite while it does. `verify`
is all of it.
"""
