"""The verbs that work on one memory and on fifty thousand alike: each sets a few values and can be taken back."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from memweb.memories.curation.names import tag_names, text_line
from memweb.memories.curation.permissions import require_curator
from memweb.memories.curation.recording import begin, change
from memweb.memories.curation.values import Values, memories_in
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import ChangeSet, Memory, Project, State, Tag

MOST_AT_ONCE = 500


class Asks(StrEnum):
    """What a verb needs to be told besides the memories."""

    NOTHING = ""
    TAGS = "tags"
    REASON = "reason"
    PROJECT = "project"
    TYPE = "type"


# Given what the verb was told, returns what gives a memory its new values.
NewValues = Callable[[str], Callable[[Memory], Values]]


@dataclass(frozen=True, slots=True)
class Verb:
    """What can be done to any number of memories. `done` follows a number: "3 memories archived"."""

    name: str
    label: str
    done: str
    new_values: NewValues
    asks: Asks = Asks.NOTHING
    reads_labels: bool = False
    kinds: frozenset[Kind] = frozenset(Kind)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a verb: what it changed, and how many memories were like that already."""

    change_set: ChangeSet
    changed: int
    unchanged: int

    def __str__(self) -> str:
        noun = "memory" if self.changed == 1 else "memories"
        rest = f"; {self.unchanged:,} needed no change" if self.unchanged else ""
        return f"{self.changed:,} {noun} {VERBS[self.change_set.verb].done}{rest}."


def _always(**values: object) -> NewValues:
    return lambda argument: lambda memory: dict(values)


def _with_tags(names: str) -> Callable[[Memory], Values]:
    more = _tags_meant(names)
    return lambda memory: {"tags": sorted({*(tag.name for tag in memory.tags.all()), *more})}


def _without_tags(names: str) -> Callable[[Memory], Values]:
    gone = set(_tags_meant(names))
    return lambda memory: {"tags": sorted(tag.name for tag in memory.tags.all() if tag.name not in gone)}


def _in_project(name: str) -> Callable[[Memory], Values]:
    project = project_named(name)
    return lambda memory: {"project_id": project.pk}


VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb("archive", "Archive", "archived", _always(state=str(State.ARCHIVED))),
        Verb("trash", "Move to trash", "moved to the trash", _always(state=str(State.TRASHED))),
        Verb("restore", "Restore", "restored", _always(state=str(State.ACTIVE))),
        Verb("pin", "Pin", "pinned", _always(pinned=True)),
        Verb("unpin", "Unpin", "unpinned", _always(pinned=False)),
        Verb("tag", "Add tags", "tagged", _with_tags, Asks.TAGS, reads_labels=True),
        Verb("untag", "Remove tags", "freed of tags", _without_tags, Asks.TAGS, reads_labels=True),
        Verb(
            "wrong", "Mark as wrong", "marked as wrong", lambda why: lambda memory: {"wrong_reason": why}, Asks.REASON
        ),
        Verb("right", "Not wrong after all", "no longer marked as wrong", _always(wrong_reason=None)),
        Verb("move", "Move to project", "moved to another project", _in_project, Asks.PROJECT),
        Verb(
            "retype",
            "Change type",
            "given another type",
            lambda name: lambda memory: {"type": name},
            Asks.TYPE,
            reads_labels=True,
            kinds=frozenset({Kind.OBSERVATION}),
        ),
    )
}


def carry_out(
    user: User,
    name: str,
    refs: Iterable[Ref],
    argument: str = "",
    reason: str = "",
    *,
    change_set: ChangeSet | None = None,
) -> Outcome:
    """Do a verb to at most MOST_AT_ONCE memories in one transaction; with `change_set`, as a further part of that.

    `argument` is what the verb asks for. Raises ValidationError for an unknown verb, an argument that cannot be used,
    and memories that are not there (nothing is changed then); PermissionDenied for who may not curate. As a part of
    a change set, memories that have gone meanwhile are left out.
    """
    require_curator(user)
    verb = verb_named(name)
    wanted = list(dict.fromkeys(refs))
    argument = checked_argument(verb, argument)
    if not wanted and change_set is None:
        raise ValidationError("No memory was chosen.")
    if len(wanted) > MOST_AT_ONCE:
        raise ValidationError(f"{len(wanted)} memories are too many at once; at most {MOST_AT_ONCE} can be chosen.")
    with transaction.atomic():
        found = memories_in(wanted, labels=verb.reads_labels)
        if change_set is None:
            require_found(wanted, found)
            change_set = begin(user, verb.name, summary_of(verb, wanted, argument), reason)
        memories = [memory for memory in found.values() if memory.kind in verb.kinds]
        new_values = verb.new_values(argument)
        changed = change(change_set, [(memory, new_values(memory)) for memory in memories])
    return Outcome(change_set, len(changed), len(wanted) - len(changed))


def verb_named(name: str) -> Verb:
    """Return a verb; raises ValidationError that names those that there are."""
    if name not in VERBS:
        raise ValidationError(f"“{name[:40]}” is nothing that can be done; accepted are {', '.join(VERBS)}.")
    return VERBS[name]


def checked_argument(verb: Verb, argument: str) -> str:
    """Return what a verb was told, as it is used; raises ValidationError when it cannot be."""
    match verb.asks:
        case Asks.NOTHING:
            return ""
        case Asks.TAGS:
            return ", ".join(_spelled(_tags_meant(argument)))
        case Asks.REASON:
            return text_line(argument, "reason", longest=500)
        case Asks.PROJECT:
            return project_named(argument).name
        case Asks.TYPE:
            return text_line(argument, "type", longest=60)


def summary_of(verb: Verb, refs: Sequence[Ref], argument: str = "") -> str:
    """Return what a verb does to which memories, in one sentence."""
    noun = str(refs[0]) if len(refs) == 1 else f"{len(refs):,} memories"
    return f"{verb.label}: {noun}" + (f" ({argument})" if argument else "")


def memories_named(refs: Sequence[Ref], *, labels: bool) -> dict[Ref, Memory]:
    """Return the memories of refs, as `memories_in` does; raises ValidationError when one is not there."""
    found = memories_in(refs, labels=labels)
    require_found(refs, found)
    return found


def require_found(refs: Iterable[Ref], found: Iterable[Ref]) -> None:
    """Raise ValidationError that names the refs that were not found."""
    missing = [str(ref) for ref in refs if ref not in found]
    if missing:
        named = ", ".join(missing[:10]) + (f" and {len(missing) - 10:,} more" if len(missing) > 10 else "")
        raise ValidationError(f"There is no memory {named}; nothing was changed.")


def project_named(name: str) -> Project:
    """Return the project that a person names, by its name or another of its names; ValidationError for none."""
    project = (
        Project.objects.filter(name=name).first()
        or Project.objects.filter(aliases__name=name).first()
        or Project.objects.filter(name=name.strip()).first()
    )
    if project is None:
        raise ValidationError(f"There is no project “{name[:80]}”; make it first, or choose one that is there.")
    return project.merge_target


def _tags_meant(text: str) -> list[str]:
    """Return the tags that a text names: one that is there under exactly this name, else the names between commas.

    The admin makes tags that could not be typed here, and they must be taken off too.
    """
    return [text] if Tag.objects.filter(name=text).exists() else tag_names(text)


def _spelled(names: list[str]) -> list[str]:
    """Return tag names as they are written already, whatever the capitals."""
    spelled = []
    for name in names:
        known = Tag.objects.filter(name=name).first() or Tag.objects.filter(name__iexact=name).first()
        spelled.append(known.name if known else name)
    return spelled
