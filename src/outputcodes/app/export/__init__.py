"""Models for other runtimes: ONNX files with the same classes and scores."""

from outputcodes.app.export.door import onnx_inputs, register, to_onnx
from outputcodes.app.export.errors import NotExportableError

__all__ = ["NotExportableError", "onnx_inputs", "register", "to_onnx"]
