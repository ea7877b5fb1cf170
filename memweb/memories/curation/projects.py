"""Projects: made, renamed and merged so that old links and later imports still go to the right place."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from memweb.memories.curation.names import text_line
from memweb.memories.curation.permissions import require_curator
from memweb.memories.curation.recording import begin
from memweb.memories.models import ChangeSet, Project, ProjectAlias

LONGEST_NAME = 200


def create_project(user: User, name: str) -> Project:
    """Make a project; raises ValidationError for a name that is taken."""
    require_curator(user)
    name = text_line(name, "name", longest=LONGEST_NAME)
    with transaction.atomic():
        _refuse_taken(name, None)
        begin(user, "project", f"Made the project “{name}”")
        return Project.objects.create(name=name)


def rename_project(user: User, project: Project, name: str) -> ChangeSet | None:
    """Give a project another name; the old one stays as an alias. None when it has that name already."""
    require_curator(user)
    name = text_line(name, "name", longest=LONGEST_NAME)
    if name == project.name:
        return None
    with transaction.atomic():
        _refuse_taken(name, project)
        old = project.name
        ProjectAlias.objects.filter(name=name, project=project).delete()
        ProjectAlias.objects.get_or_create(name=old, defaults={"project": project})
        project.name = name
        project.save(update_fields=["name"])
        return begin(user, "project", f"Renamed the project “{old}” to “{name}”")


def merge_projects(user: User, project: Project, into: Project) -> ChangeSet:
    """Make a project a part of another: searches and imports with its name reach both. Taken back by `unmerge_project`.

    Raises ValidationError when `into` is part of `project` already.
    """
    require_curator(user)
    with transaction.atomic():
        if project in into.merge_chain():
            raise ValidationError(f"“{into.label}” is part of “{project.label}” already.")
        project.merged_into = into
        project.save(update_fields=["merged_into"])
        return begin(user, "project", f"Merged the project “{project.label}” into “{into.label}”")


def unmerge_project(user: User, project: Project) -> ChangeSet:
    """Take a project out of the one that it was merged into."""
    require_curator(user)
    with transaction.atomic():
        if project.merged_into is None:
            raise ValidationError(f"“{project.label}” is not part of another project.")
        label = project.merged_into.label
        project.merged_into = None
        project.save(update_fields=["merged_into"])
        return begin(user, "project", f"Took the project “{project.label}” out of “{label}”")


def _refuse_taken(name: str, project: Project | None) -> None:
    others = Project.objects.all() if project is None else Project.objects.exclude(pk=project.pk)
    aliases = ProjectAlias.objects.filter(name=name)
    if project is not None:
        aliases = aliases.exclude(project=project)
    if others.filter(name=name).exists() or aliases.exists():
        raise ValidationError(f"There is a project “{name}” already; merge the two instead.")
