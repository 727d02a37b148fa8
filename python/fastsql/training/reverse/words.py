"""Embeddings of word pieces to start from: those of the bundled encoder, made narrower."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastsql.model.weights import dequantise, quantise


def narrow(words: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """Words float32[vocabulary, hidden] on their first `width` principal components, with a mean square of 1.

    They are rounded to what int8 rows hold, so that what is trained with is what is shipped.
    """
    centred = words - words.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    projected = centred @ directions[:, ::-1][:, :width]
    return dequantise(*quantise((projected / np.sqrt(np.square(projected).mean())).astype(np.float32)))
