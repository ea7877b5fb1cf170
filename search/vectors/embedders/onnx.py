"""Sessions of onnxruntime, set up the way every model here needs them."""

from pathlib import Path
from typing import TYPE_CHECKING

from search.vectors.embedding import EmbedderUnavailable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


def open_session(model: Path | bytes) -> "InferenceSession":
    """Return a session that computes on the calling thread only; several threads may use it at once.

    Raises EmbedderUnavailable when onnxruntime is missing or refuses the model.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise EmbedderUnavailable("onnxruntime is missing or broken; run `make install`") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(
            model if isinstance(model, bytes) else str(model), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime raises a class of its own for each kind of failure
        raise EmbedderUnavailable("onnxruntime refuses the file of the model; run `memweb model fetch`") from error
