"""The course that a training takes: how fast is learnt at each step, what is kept, what is told."""

# mypy: disable-error-code="import-not-found,misc,no-any-return,arg-type,call-overload"
# mypy: disable-error-code="import-untyped,assignment,untyped-decorator"
# Training only: torch brings no types into the project's environment.

from __future__ import annotations

import time
from typing import Any

import numpy as np
from torch import nn
from torch.optim import AdamW

WARM_UP = 100
"""Steps in which the rate rises to its full height."""
STEEPEST = 5.0
"""Length to which a step's gradient is clipped."""


class Course:
    """Takes a model (its running mean besides) through so many steps."""

    def __init__(self, model: nn.Module, mean: Any, steps: int, rate: float, decay: float) -> None:
        self._model, self._mean, self._steps, self._rate = model, mean, steps, rate
        self._optimiser = AdamW(model.parameters(), lr=rate, weight_decay=decay)
        self._began, self._seen, self._done = time.monotonic(), 0.0, 0

    def learn(self, loss: Any) -> None:
        """Take one step down a loss; the rate falls along a cosine."""
        ease = 0.5 + 0.5 * np.cos(np.pi * self._done / self._steps)
        for group in self._optimiser.param_groups:
            group["lr"] = self._rate * min(1, (self._done + 1) / WARM_UP) * ease
        self._optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self._model.parameters(), STEEPEST)
        self._optimiser.step()
        self._mean.update_parameters(self._model)
        now = loss.item()
        self._seen = 0.98 * self._seen + 0.02 * now if self._done else now
        self._done += 1
        if self._done % 200 == 0:
            minutes = (time.monotonic() - self._began) / 60
            told = f"{self._done} of {self._steps}, {minutes:.1f} min, loss {self._seen:.3f}"
            print(told, flush=True)
