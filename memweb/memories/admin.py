"""Django admin of what is remembered. Lists stay fast on large tables: no full counts, relations by autocomplete."""

from typing import Any, ClassVar, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from memweb.memories.admin_actions import verb_actions
from memweb.memories.curation import may_curate, values_of
from memweb.memories.curation.recording import record_save
from memweb.memories.models import (
    ChangeSet,
    Concept,
    Drawer,
    FilePath,
    Observation,
    ObservationConcept,
    ObservationFile,
    Project,
    ProjectAlias,
    Session,
    SessionSummary,
    SummaryFile,
    Tag,
    UserPrompt,
)
from memweb.memories.read_only_admin import ReadOnlyAdmin

PROVENANCE = ("source", "source_row", "import_batch", "source_data", "updated_at")


class MemoryAdmin(admin.ModelAdmin):
    """What the admin of all four kinds has in common."""

    list_display: tuple[str, ...] = ("ref", "heading", "project", "created_at", "state")
    list_display_links = ("ref", "heading")
    list_filter = ("state", "is_noise", "pinned", "time_quality")
    list_select_related = ("project",)
    list_per_page = 50
    show_full_result_count = False
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    autocomplete_fields: ClassVar[Any] = ("project", "session", "superseded_by", "tags")
    readonly_fields = PROVENANCE

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("title_terms", "body_terms", "variant_terms", "scope_terms")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        form.values_before = values_of(self._stored(obj.pk)) if change else None
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        # Tags, concepts and files are saved after the memory: its index terms follow now, and then its history.
        row = self._stored(form.instance.pk)
        row.save(update_fields=["updated_at"])
        record_save(cast(User, request.user), row, form.values_before)

    def _stored(self, id: int) -> Any:
        return self.model.objects.for_indexing().get(pk=id)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Memories go through the trash, and for good only from their own page, where an import is told to leave them
        out."""
        return False

    def get_actions(self, request: HttpRequest) -> Any:
        return {**super().get_actions(request), **(verb_actions() if may_curate(request.user) else {})}


class ObservationConceptInline(admin.TabularInline):
    model = ObservationConcept
    autocomplete_fields = ("concept",)
    extra = 0


class ObservationFileInline(admin.TabularInline):
    model = ObservationFile
    autocomplete_fields = ("file",)
    extra = 0


class SummaryFileInline(admin.TabularInline):
    model = SummaryFile
    autocomplete_fields = ("file",)
    extra = 0


@admin.register(Observation)
class ObservationAdmin(MemoryAdmin):
    list_display = ("ref", "heading", "type", "project", "created_at", "state")
    search_fields = ("title", "narrative")
    inlines = (ObservationConceptInline, ObservationFileInline)


@admin.register(SessionSummary)
class SessionSummaryAdmin(MemoryAdmin):
    search_fields = ("request", "completed", "learned")
    inlines = (SummaryFileInline,)


@admin.register(UserPrompt)
class UserPromptAdmin(MemoryAdmin):
    search_fields = ("text",)


@admin.register(Drawer)
class DrawerAdmin(MemoryAdmin):
    search_fields = ("text",)
    list_display = ("ref", "heading", "room", "project", "created_at", "state")
    autocomplete_fields = (*MemoryAdmin.autocomplete_fields, "file")


class ProjectAliasInline(admin.TabularInline):
    model = ProjectAlias
    extra = 0


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):
    list_display = ("label", "merged_into", "created_at")
    list_select_related = ("merged_into",)
    search_fields = ("name", "aliases__name")
    autocomplete_fields = ("merged_into",)
    readonly_fields = ("import_batch",)
    inlines = (ProjectAliasInline,)


@admin.register(Session)
class SessionAdmin(admin.ModelAdmin):
    list_display = ("label", "project", "platform", "started_at", "completed_at")
    list_select_related = ("project",)
    search_fields = ("content_session_id", "memory_session_id", "title", "first_prompt")
    autocomplete_fields = ("project",)
    readonly_fields = ("source", "import_batch", "source_data")
    show_full_result_count = False
    ordering = ("-started_at", "-id")


class NameAdmin(admin.ModelAdmin):
    search_fields = ("name",)
    show_full_result_count = False


admin.site.register(Concept, NameAdmin)
admin.site.register(Tag, NameAdmin)


@admin.register(FilePath)
class FilePathAdmin(admin.ModelAdmin):
    list_display = ("path", "name")
    search_fields = ("path",)
    show_full_result_count = False


@admin.register(ChangeSet)
class ChangeSetAdmin(ReadOnlyAdmin):
    """The log of curation: written by what people do, changed by nobody."""

    list_display = ("made_at", "actor", "verb", "summary", "reason")
    list_filter = ("verb",)
    search_fields = ("summary", "reason", "actor")
    date_hierarchy = "made_at"
    ordering = ("-made_at", "-id")
    show_full_result_count = False
    readonly_fields = ("made_at", "user", "actor", "verb", "summary", "reason", "undoes", "import_batch")


admin.site.site_header = "memweb"
admin.site.site_title = "memweb"
admin.site.index_title = "Curation"
