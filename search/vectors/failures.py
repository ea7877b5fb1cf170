"""What errors of libraries mean, in words for people. Their own texts go into the log: they help nobody on a page."""

import errno
import ssl
from collections.abc import Iterator

from django.db.utils import DatabaseError

_DATABASE = {
    "locked": "the database is in use by another program",
    "full": "the disk that holds the database is full; free some space",
    "readonly": "the database cannot be written; correct its owner and mode",
    "unable to open": "the database cannot be opened; correct its owner and mode",
    "malformed": "the database is damaged; `memweb doctor --deep` says more",
    "not a database": "the database is damaged; `memweb doctor --deep` says more",
    "no such": "the database is not up to date; `memweb migrate` brings it so",
}
_NETWORK = {
    errno.ECONNREFUSED: "refuses the connection; it may not run, or at another port",
    errno.ECONNRESET: "broke the connection off",
    errno.EPIPE: "broke the connection off",
    errno.EHOSTUNREACH: "is out of reach of this machine",
    errno.ENETUNREACH: "is out of reach of this machine",
    errno.ETIMEDOUT: "does not answer in time",
}
# How the texts begin in which libraries hide such errors.
_HIDDEN = {
    "connection refused": errno.ECONNREFUSED,
    "connection reset": errno.ECONNRESET,
    "no route to host": errno.EHOSTUNREACH,
    "network is unreachable": errno.ENETUNREACH,
    "timed out": errno.ETIMEDOUT,
}


def database_trouble(error: DatabaseError) -> str:
    """Return why the database cannot be used."""
    text = str(error)
    known = (sentence for sign, sentence in _DATABASE.items() if sign in text)
    return next(known, "the database cannot be used; `memweb doctor` says more")


def network_trouble(error: BaseException) -> str:
    """Return what a server does instead of answering, as a predicate: `refuses the connection`."""
    chain = list(_causes(error))
    text = " ".join(map(str, chain)).lower()
    if any(isinstance(one, ssl.SSLCertVerificationError) for one in chain) or "certificate" in text:
        return "has a certificate that this machine does not trust; SSL_CERT_FILE names one that it should"
    if any(isinstance(one, ssl.SSLError) for one in chain) or "ssl" in text:
        return "does not speak TLS; its address may begin with http:// instead"
    if any(isinstance(one, TimeoutError) for one in chain):
        return _NETWORK[errno.ETIMEDOUT]
    numbers = [one.errno for one in chain if isinstance(one, OSError)]
    numbers += [number for sign, number in _HIDDEN.items() if sign in text]
    known = next((_NETWORK[number] for number in numbers if number in _NETWORK), None)
    if known is None and ("name or service" in text or "name resolution" in text or "nodename" in text):
        return "has a name that is not known here; look for a slip in its address"
    return known or "cannot be reached"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all that it came of."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            reason = getattr(one, "reason", None)
            further = (one.__cause__, one.__context__, reason)
            waiting += [found for found in further if isinstance(found, BaseException)]
