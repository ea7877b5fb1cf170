"""The process behind ahead.py, run as `python -m memweb.sources.reading_process REQUEST`.

The request is JSON; the answer are pickles on standard output: pairs of batch and tally, at the end None and the last
tally, or a SourceError instead.
"""

import gc
import json
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import Any, BinaryIO

import django


def write_batches(out: BinaryIO, request: dict[str, Any]) -> None:
    """Open the requested source and write its batches; an error that people must see is written like them."""
    # Models can be imported only after Django was set up.
    from memweb.sources.detection import open_source
    from memweb.sources.preparing import prepared_batches
    from memweb.sources.records import ReadOptions, SourceError

    try:
        options = ReadOptions(include_noise=request["include_noise"])
        reader = open_source(Path(request["path"]), request["source"], options)
        try:
            for batch in prepared_batches(reader, request["with_terms"]):
                write(out, (batch, reader.tally))
            write(out, (None, reader.tally))
        finally:
            reader.close()
    except SourceError as error:
        write(out, error)


def write(out: BinaryIO, message: object) -> None:
    pickle.dump(message, out, pickle.HIGHEST_PROTOCOL)
    out.flush()


def main() -> None:
    # An interrupt at the terminal reaches both processes; the importer ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else writes to standard output must not get between the pickles
    django.setup()
    gc.disable()  # records hold no cycles; looking for them costs a tenth of the time
    try:
        write_batches(out, json.loads(sys.argv[1]))
        out.close()
    except BrokenPipeError:
        os._exit(1)  # the importer is gone


if __name__ == "__main__":
    main()
