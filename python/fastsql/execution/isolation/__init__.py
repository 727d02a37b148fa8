"""Queries in processes of their own, which are bounded by the operating system and killed at their limit.

`isolated` is the executor, `worker_pool` keeps its workers, `worker_process` starts and ends one, `worker` runs in it.
"""
