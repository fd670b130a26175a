"""ONNX Runtime, which computes the vectors of both sentence encoders."""

from importlib import import_module
from typing import Any

from textrawl.environment import silence_onnx_runtime


def open_session(model: bytes, threads: int) -> Any:
    """Return a session of ONNX Runtime for the graph and the weights in `model`."""
    silence_onnx_runtime()
    runtime: Any = import_module("onnxruntime")  # it has no types, and takes half a second
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
