"""Trains the reranker (`fastsql.reranker`) on what a parser finds for questions whose answers are known."""
