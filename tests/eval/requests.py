"""Chat-style requests: the same rows and answers as `instructions`."""

from tests.eval.instructions import predict

__all__ = ["predict"]
