"""Fields of the query language -> filter tokens and column conditions, with names resolved in the database."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from django.db import connection
from django.db.models import Q
from rapidfuzz import process

from memweb.memories.indexing import (
    concept_token,
    file_token,
    flag_token,
    platform_token,
    project_token,
    session_token,
    tag_token,
    type_token,
)
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import Concept, Project, ProjectAlias, Session, Tag
from search.keyword.expression import EVERYTHING, AnyOf, AnyToken, Expression, NoneOf
from search.keyword.files import FILE_LINKS, file_ids
from search.keyword.plan import NOTHING, SqlCondition
from search.query import Field, FieldName
from search.texts import whole_characters
from search.times import period_of

HIDDEN_FLAGS = ("archived", "trashed", "noise", "superseded", "wrong")
MAX_TOKENS = 200

Clause = Expression | SqlCondition


class FieldResolver:
    """Turns fields into clauses; every name is looked up once, whatever the number of kinds.

    `notes` collects a sentence for every name that nothing has.
    """

    def __init__(self, zone: tzinfo) -> None:
        self.zone = zone
        self.notes: dict[str, None] = {}
        self._ids: dict[tuple[FieldName, tuple[str, ...]], list[int]] = {}

    def clause(self, field: Field, kind: Kind) -> Clause:
        """Return what a field asks of one kind."""
        # The tree is text as typed; what is bound to a statement must be whole characters.
        field = replace(field, values=tuple(map(whole_characters, field.values)))
        values = field.values
        match field.name:
            case FieldName.KIND:
                return EVERYTHING if str(kind) in values else NOTHING
            case FieldName.TYPE:
                return AnyToken(tuple(type_token(value) for value in values))
            case FieldName.PLATFORM:
                return AnyToken(tuple(platform_token(value) for value in values))
            case FieldName.PROJECT:
                return AnyToken(tuple(map(project_token, self._lookup(field, project_ids))))
            case FieldName.SESSION:
                return AnyToken(tuple(map(session_token, self._lookup(field, session_ids))))
            case FieldName.CONCEPT:
                return AnyToken(tuple(map(concept_token, self._lookup(field, concept_ids))))
            case FieldName.TAG:
                return AnyToken(tuple(map(tag_token, self._lookup(field, tag_ids))))
            case FieldName.FILE:
                return _files_clause(self._lookup(field, file_ids), kind)
            case FieldName.IS:
                return AnyOf(tuple(_state(value) for value in values))
            case FieldName.AFTER:
                return self._times("m.created_at >= %s", [period_of(value, self.zone).start for value in values])
            case FieldName.BEFORE:
                return self._times("m.created_at < %s", [period_of(value, self.zone).end for value in values])
            case FieldName.ROOM if kind is Kind.DRAWER:
                return _column_in("m.room", values)
            case FieldName.AGENT:
                return _column_in("m.agent", values)
            case FieldName.ID:
                refs = [Ref.parse(value) for value in values]
                return _column_in("m.id", [ref.id for ref in refs if ref.kind is kind])
            case _:
                return NOTHING

    def _lookup(self, field: Field, ids_of: Callable[[str], list[int]]) -> list[int]:
        key = (field.name, field.values)
        if key not in self._ids:
            ids: list[int] = []
            for value in field.values:
                found = ids_of(value)
                if not found:
                    self.notes[_unknown(field.name, value)] = None
                ids += found
            self._ids[key] = list(dict.fromkeys(ids))
        return self._ids[key]

    def _times(self, sql: str, moments: Sequence[datetime]) -> SqlCondition:
        adapt = connection.ops.adapt_datetimefield_value
        return SqlCondition(" OR ".join([sql] * len(moments)), tuple(adapt(moment) for moment in moments))


def project_ids(name: str) -> list[int]:
    """Return the projects that a name means: that of exactly this name or alias, and all that are merged with it."""
    sql = """
        WITH RECURSIVE found(id) AS (
            SELECT id FROM memories_project WHERE name = %s
            UNION SELECT project_id FROM memories_projectalias WHERE name = %s
            UNION SELECT CASE WHEN p.id = found.id THEN p.merged_into_id ELSE p.id END
            FROM found JOIN memories_project AS p
                ON p.merged_into_id = found.id OR (p.id = found.id AND p.merged_into_id IS NOT NULL)
        )
        SELECT id FROM found ORDER BY id
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, [name, name])
        return [id for (id,) in cursor.fetchall()]


def session_ids(value: str) -> list[int]:
    """Return the sessions with that id: the agent's, the memory program's, or ours."""
    wanted = Q(content_session_id=value) | Q(memory_session_id=value)
    if value.isascii() and value.isdigit() and len(value) <= 18:
        wanted |= Q(pk=int(value))
    return list(Session.objects.filter(wanted).order_by("pk").values_list("pk", flat=True)[:MAX_TOKENS])


def concept_ids(name: str) -> list[int]:
    return _named(Concept, name)


def tag_ids(name: str) -> list[int]:
    return _named(Tag, name)


def hidden_by_default(flags: Iterable[str]) -> NoneOf:
    """Return what leaves out the memories with these flags."""
    return NoneOf((AnyToken(tuple(flag_token(flag) for flag in flags)),))


def _named(model: type[Concept] | type[Tag], name: str) -> list[int]:
    """Return the row of exactly that name, else those that differ in case only."""
    exact = list(model.objects.filter(name=name).values_list("pk", flat=True))
    return exact or list(model.objects.filter(name__iexact=name).values_list("pk", flat=True)[:MAX_TOKENS])


def _files_clause(ids: list[int], kind: Kind) -> Clause:
    if kind is Kind.PROMPT:
        return NOTHING
    if len(ids) <= MAX_TOKENS:
        return AnyToken(tuple(map(file_token, ids)))
    return SqlCondition(FILE_LINKS[kind].format(ids=", ".join(map(str, ids))))


def _state(value: str) -> Expression:
    match value:
        case "any":
            return EVERYTHING
        case "active":
            return hidden_by_default(("archived", "trashed"))
        case _:
            return AnyToken((flag_token(value),))


def _column_in(column: str, values: Sequence[object]) -> SqlCondition:
    if not values:
        return SqlCondition("0")
    return SqlCondition(f"{column} IN ({', '.join(['%s'] * len(values))})", tuple(values))


def _unknown(name: FieldName, value: str) -> str:
    """Return a sentence that says nothing has this name, and what comes near."""
    shown = value if value.strip() else "(empty)"
    sentence = f"No {name} is called “{shown}”."
    names: Iterable[str] = ()
    match name:
        case FieldName.PROJECT:
            names = [*_some(Project), *_some(ProjectAlias)]
        case FieldName.CONCEPT:
            names = _some(Concept)
        case FieldName.TAG:
            names = _some(Tag)
        case FieldName.FILE:
            return f"No memory mentions a file “{shown}”."
        case FieldName.SESSION:
            return f"No session has the id “{shown}”."
        case _:
            return sentence
    near = process.extractOne(value, list(names), score_cutoff=70)
    return f"{sentence} Did you mean “{near[0]}”?" if near else sentence


def _some(model: type[Project] | type[ProjectAlias] | type[Concept] | type[Tag]) -> list[str]:
    return list(model.objects.values_list("name", flat=True)[:5000])
