"""Where a memory stands in a session, and what is nearest to one that is gone."""

from memweb.memories.kinds import Ref
from memweb.memories.models import Session, memory_model
from search.browse.run import Place, read_window, read_window_before
from search.places import session_url
from search.timeline.anchors import GoneError, MissingError, find_memory, was_used


def place_of(ref: Ref, session: Session) -> Place:
    """Return where a memory stands in a session; raises MissingError and GoneError."""
    owner = memory_model(ref.kind).objects.filter(pk=ref.id).values_list("session").first()
    if owner != (session.pk,) and (owner or not was_used(ref)):
        raise MissingError(f"There is no memory {ref} in this session.")
    return find_memory(ref).created_at, ref.kind, ref.id


def nearest_url(gone: GoneError, session: Session) -> str:
    """Return the address of the session at the memory nearest to one that is gone; empty when it has none."""
    place = gone.nearest, gone.ref.kind, gone.ref.id
    beside = read_window_before(session, 1, place).places or read_window(session, 1, place).places
    return session_url(session.pk, Ref(beside[0][1], beside[0][2])) if beside else ""
