"""Locks of the operating system on files, by which the processes of one data folder know of each other."""

import fcntl
import time
from typing import IO


def try_to_lock(file: IO[str], kind: int, attempts: int = 1) -> bool:
    """Take a lock (LOCK_EX or LOCK_SH) without waiting for it and return whether that worked.

    The lock ends with the process, however that ends. Who wants to hold it tries several times, because somebody who
    only asks (LOCK_SH) holds it for a moment too.
    """
    for attempt in range(attempts):
        if attempt:
            time.sleep(0.05)
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        return True
    return False
