"""Keeps a network's weights as 16-bit floats; they are widened once, when it is loaded."""

# mypy: disable-error-code="import-not-found,misc,no-any-return,arg-type,call-overload"
# mypy: disable-error-code="import-untyped,assignment,untyped-decorator"
# Training only: onnx brings no types into the project's environment.

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FEW = 64
"""Numbers of a weight up to which it is left as it is: biases weigh nothing."""


def halve(network: Path) -> None:
    """Write a network (.onnx) again, its greater weights in half the bytes."""
    model = onnx.load(str(network))
    graph = model.graph
    widened, kept = [], []
    for weight in graph.initializer:
        numbers = numpy_helper.to_array(weight)
        if numbers.dtype != np.float32 or numbers.size <= FEW:
            kept.append(weight)
            continue
        name = weight.name + "_half"
        kept.append(numpy_helper.from_array(numbers.astype(np.float16), name))
        widened.append(helper.make_node("Cast", [name], [weight.name], to=TensorProto.FLOAT))
    nodes = [*widened, *graph.node]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(kept)
    graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, str(network))
