"""ONNX Runtime, which computes the vectors of both sentence encoders."""

from importlib import import_module
from typing import Any

from textrawl.environment import silence_onnx_runtime


class GraphRefused(Exception):
    """A graph that this version of ONNX Runtime does not compute."""


def open_session(model: bytes, threads: int) -> Any:
    """Return a session of ONNX Runtime for the graph and the weights in `model`.

    Raises GraphRefused.
    """
    silence_onnx_runtime()
    runtime: Any = import_module("onnxruntime")  # it has no types, and takes half a second
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    # These errors have no class in common but Exception.
    names = ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NotImplemented")
    known = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    refusals = tuple(getattr(known, name) for name in names)
    try:
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except refusals as error:
        raise GraphRefused(str(error)) from error
