"""The process that `memweb up` starts for its first import: `python -m memweb.operations.importing_process`."""

import os
import sys
import threading
from pathlib import Path

import django


def end_with_parent() -> None:
    """End this process as soon as the one that started it is gone: its end of the pipe is then closed."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os._exit(1)


def main(path: str, format: str, title: str) -> None:
    """Import with low priority, so that pages come first, and print one line about it."""
    os.nice(10)
    threading.Thread(target=end_with_parent, daemon=True).start()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memweb.settings")
    django.setup()
    from memweb.operations.first_import import FirstSource, run_import

    sys.stdout.write(f"{'First import':13} {run_import(FirstSource(Path(path), format, title))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
