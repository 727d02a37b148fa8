"""Training (extra `train`): needs torch, which nothing outside this package imports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastsql.training.config import ConfigError, TrainConfig, load_config, override

if TYPE_CHECKING:
    from fastsql.training.runs.loop import TrainResult, train

__all__ = ["ConfigError", "TrainConfig", "TrainResult", "load_config", "override", "train"]


def __getattr__(name: str) -> Any:
    # torch takes a second to import; reading a configuration does not need it.
    if name in ("train", "TrainResult"):
        from fastsql.training.runs import loop

        return getattr(loop, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
