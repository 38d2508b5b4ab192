"""What arrays hold, under one name each in the whole house."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integer = Any
"""An integer of the machine, whose width is inferred where a loop is compiled."""
Floats = NDArray[np.float64]
"""Probabilities, amounts of money, times."""
Integers = NDArray[np.int64]
"""Counts, positions, sums."""
Codes = NDArray[np.int32]
"""Values as their places in a list."""
Flags = NDArray[np.bool_]
"""What holds of each."""
Words = NDArray[np.uint64]
"""Sixty-four bits each, packed."""
