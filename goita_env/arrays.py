"""Names the types of arrays, by what they hold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

U64 = np.uint64
Bits = npt.NDArray[np.uint64]
Bool = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]
