"""A model file as a file for other runtimes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from outputcodes._ground.files import in_place_of
from outputcodes.app import persistence
from outputcodes.app.export import to_onnx


def export_file(
    path: str | Path, to: str | Path, *, trusted: Iterable[str] = (), max_bytes: int = persistence.MAX_BYTES
) -> str:
    """Write the model in a file as an ONNX file, and return its inputs and outputs in words.

    `trusted` and `max_bytes` are those of `persistence.load`.

    >>> import tempfile
    >>> from outputcodes import OutputCodeClassifier
    >>> folder = Path(tempfile.mkdtemp())
    >>> model = OutputCodeClassifier("ridge").fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> persistence.save(model, folder / "model.skops")
    >>> print(export_file(folder / "model.skops", folder / "model.onnx").partition("\\n")[2])
    inputs: X
    outputs: label, scores
    """
    target = Path(to)
    if target.suffix.lower() != ".onnx":
        raise ValueError(f"--to {target} must end in .onnx.")
    model, _ = persistence.load(path, trusted=trusted, max_bytes=max_bytes)
    exported = to_onnx(model)
    with in_place_of(target) as part:
        part.write_bytes(exported.SerializeToString())
    inputs, outputs = ([one.name for one in side] for side in (exported.graph.input, exported.graph.output))
    return f"{target}: {target.stat().st_size} bytes\ninputs: {', '.join(inputs)}\noutputs: {', '.join(outputs)}"
