"""Training of the reverse model: a question from a program (`fastsql.reverse`)."""
