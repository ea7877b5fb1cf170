"""Finds or makes the rows that memories point at: projects, sessions, concepts, file paths. Ids are remembered."""

from collections.abc import Iterable

from memweb.memories.models import Concept, FilePath, ImportBatch, Project, ProjectAlias, Session, Source
from memweb.memories.models.labels import base_name
from memweb.sources.keys import placeholder_key, session_key
from memweb.sources.records import SessionRef

LOOKUP = 500


class Labels:
    """Ids of everything shared, for one import. Call inside a transaction; `forget` after one that was rolled back."""

    def __init__(self, format: str, source: Source, batch: ImportBatch) -> None:
        self._format = format
        self._source = source
        self._batch = batch
        self.forget()

    def forget(self) -> None:
        """Drop all remembered ids: they may not exist."""
        self._concepts: dict[str, int] = {}
        self._files: dict[str, int] = {}
        self._projects: dict[str, int] = {}
        self._sessions: dict[SessionRef, tuple[int, str]] = {}

    def forget_projects(self) -> None:
        """Look projects up anew: a person may have merged some since."""
        self._projects = {}

    def forget_sessions(self) -> None:
        """Look sessions up anew: two of them became one."""
        self._sessions = {}

    def project_id(self, name: str) -> int:
        """Return the project that rows with this name go to: merges and aliases are followed; made when unknown."""
        if name not in self._projects:
            project = Project.objects.filter(name=name).first()
            if project is None:
                alias = ProjectAlias.objects.filter(name=name).select_related("project").first()
                project = alias.project if alias else Project.objects.create(name=name, import_batch=self._batch)
            self._projects[name] = project.merge_target.pk
        return self._projects[name]

    def concept_ids(self, names: Iterable[str]) -> dict[str, int]:
        """Return the ids of concepts, made when unknown."""
        missing = [name for name in dict.fromkeys(names) if name not in self._concepts]
        for start in range(0, len(missing), LOOKUP):
            part = missing[start : start + LOOKUP]
            Concept.objects.bulk_create([Concept(name=name) for name in part], ignore_conflicts=True)
            self._concepts.update(Concept.objects.filter(name__in=part).values_list("name", "pk"))
        return self._concepts

    def file_ids(self, paths: Iterable[str]) -> dict[str, int]:
        """Return the ids of file paths, made when unknown."""
        missing = [path for path in dict.fromkeys(paths) if path not in self._files]
        for start in range(0, len(missing), LOOKUP):
            part = missing[start : start + LOOKUP]
            FilePath.objects.bulk_create(
                [FilePath(path=path, name=base_name(path)) for path in part], ignore_conflicts=True
            )
            self._files.update(FilePath.objects.filter(path__in=part).values_list("path", "pk"))
        return self._files

    def sessions(self, refs: dict[SessionRef, str]) -> dict[SessionRef, tuple[int, str]]:
        """Return id and platform of sessions; `refs` says for each the project of a placeholder, made when unknown."""
        missing = [ref for ref in refs if ref not in self._sessions]
        for start in range(0, len(missing), LOOKUP):
            self._find_sessions(missing[start : start + LOOKUP])
        for ref in missing:
            if ref not in self._sessions:
                self._sessions[ref] = self._make_placeholder(ref, refs[ref])
        return self._sessions

    def _find_sessions(self, refs: list[SessionRef]) -> None:
        keys = {session_key(self._format, ref.platform, ref.content_id): ref for ref in refs if ref.content_id}
        found = Session.objects.filter(source_key__in=keys).values_list("source_key", "pk", "platform")
        self._sessions.update({keys[key]: (pk, platform) for key, pk, platform in found if key is not None})
        for ref in refs:
            if ref in self._sessions:
                continue
            session = find_session(ref)
            if session is not None:
                self._sessions[ref] = (session.pk, session.platform)

    def _make_placeholder(self, ref: SessionRef, project: str) -> tuple[int, str]:
        session, _ = Session.objects.get_or_create(
            source_key=placeholder_key(self._format, ref.memory_id or ref.content_id),
            defaults={
                "project_id": self.project_id(project),
                "platform": ref.platform,
                "content_session_id": ref.content_id,
                "memory_session_id": ref.memory_id,
                "is_placeholder": True,
                "source": self._source,
                "import_batch": self._batch,
            },
        )
        return session.pk, session.platform


def find_session(ref: SessionRef) -> Session | None:
    """Return the session that bears an id of the reference; a real one before a placeholder."""
    if ref.content_id:
        # A known content id that is not found as a key belongs to a placeholder at most.
        placeholders = Session.objects.filter(is_placeholder=True)
        found = placeholders.filter(content_session_id=ref.content_id).first()
        if found is None and ref.memory_id:
            found = placeholders.filter(memory_session_id=ref.memory_id).first()
        return found
    for field in ("memory_session_id", "content_session_id"):
        found = Session.objects.filter(**{field: ref.memory_id}).order_by("is_placeholder", "pk").first()
        if found is not None:
            return found
    return None
