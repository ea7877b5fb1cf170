"""Projects and sessions: what memories belong to."""

from collections.abc import Iterator

from django.db import models

from memweb.memories.models.imports import ImportBatch, Source


class Project(models.Model):
    """What the work was for. Names are exact: `api`, `API` and `api ` are three projects until a person merges them."""

    name = models.TextField(unique=True, blank=True)
    merged_into = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="merged_projects"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    import_batch = models.ForeignKey(ImportBatch, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(merged_into__isnull=True) | ~models.Q(merged_into=models.F("id")),
                name="project_not_merged_into_itself",
            )
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        """The name as people see it; a project without a name still has one to click on."""
        return self.name if self.name.strip() else "(no project)"

    def merge_chain(self) -> Iterator["Project"]:
        """Yield the project, what it was merged into, what that was merged into, and so on."""
        project: Project | None = self
        seen: set[int] = set()
        while project is not None and project.pk not in seen:
            yield project
            seen.add(project.pk)
            project = project.merged_into

    @property
    def merge_target(self) -> "Project":
        """The project that the chain of merges ends in."""
        *_, target = self.merge_chain()
        return target


class ProjectAlias(models.Model):
    """Another name of a project: links with the old name keep working and later imports go to the right place."""

    name = models.TextField(unique=True, blank=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="aliases")

    class Meta:
        verbose_name_plural = "project aliases"

    def __str__(self) -> str:
        return f"{self.name} → {self.project}"


class Session(models.Model):
    """One run of an agent."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="sessions")
    platform = models.TextField(blank=True, default="", help_text="which agent program, such as claude or codex")
    content_session_id = models.TextField(
        blank=True, default="", db_index=True, help_text="the id that the agent program shows"
    )
    memory_session_id = models.TextField(
        blank=True, default="", db_index=True, help_text="the id that the memory program gave"
    )
    title = models.TextField(blank=True, default="")
    first_prompt = models.TextField(blank=True, default="")
    status = models.TextField(blank=True, default="")
    model = models.TextField(blank=True, default="")
    started_at = models.DateTimeField(null=True, blank=True, db_index=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    is_placeholder = models.BooleanField(
        default=False, help_text="made for memories whose session the source does not know"
    )
    source = models.ForeignKey(Source, null=True, blank=True, on_delete=models.SET_NULL, related_name="sessions")
    source_key = models.CharField(max_length=64, null=True, blank=True, unique=True, editable=False)
    content_hash = models.CharField(max_length=64, blank=True, default="", editable=False)
    source_data = models.JSONField(default=dict, blank=True)
    import_batch = models.ForeignKey(
        ImportBatch, null=True, blank=True, on_delete=models.SET_NULL, related_name="sessions"
    )

    class Meta:
        indexes = [models.Index(fields=["project", "started_at"], name="session_project_started")]

    def __str__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        """Title, else the first line of the first prompt, else the id."""
        first_line = self.first_prompt.strip().split("\n", 1)[0]
        if self.title.strip() or first_line:
            return self.title.strip() or first_line
        if self.is_placeholder:
            return "unknown session"
        return self.content_session_id or self.memory_session_id or f"session {self.pk}"
