"""Django admin of imports: what came from where, what was skipped and why, and undoing a batch."""

import json

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html

from memweb.memories.models import ImportBatch, Source
from memweb.memories.read_only_admin import ReadOnlyAdmin
from memweb.sources.undo import undo_batch


@admin.register(Source)
class SourceAdmin(ReadOnlyAdmin):
    list_display = ("format", "location", "created_at")
    list_filter = ("format",)
    search_fields = ("location",)


@admin.register(ImportBatch)
class ImportBatchAdmin(ReadOnlyAdmin):
    list_display = ("id", "source", "started_at", "finished_at", "status")
    list_filter = ("status",)
    list_select_related = ("source",)
    ordering = ("-started_at",)
    fields = ("source", "status", "started_at", "finished_at", "error", "report_as_text")
    readonly_fields = fields
    actions = ("undo",)

    @admin.display(description="report")
    def report_as_text(self, batch: ImportBatch) -> str:
        return format_html("<pre>{}</pre>", json.dumps(batch.report, ensure_ascii=False, indent=2))

    def has_undo_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("memories.delete_importbatch"))

    @admin.action(description="Undo everything these imports added or changed", permissions=["undo"])
    def undo(self, request: HttpRequest, batches: QuerySet[ImportBatch]) -> HttpResponse | None:
        """Ask first, naming what would go; then undo batch by batch, newest first."""
        chosen = list(batches.select_related("source").order_by("-pk"))
        running = [batch for batch in chosen if batch.status == ImportBatch.Status.RUNNING]
        if running:
            self.message_user(request, f"Import {running[0].pk} is still running.", messages.ERROR)
            return None
        if not request.POST.get("confirmed"):
            context = {
                **self.admin_site.each_context(request),
                "title": "Undo imports",
                "opts": self.opts,
                "batches": [(batch, _counts(batch)) for batch in chosen],
            }
            return TemplateResponse(request, "admin/undo_imports.html", context)
        for batch in chosen:
            undo_batch(batch)
        noun = "import" if len(chosen) == 1 else "imports"
        self.message_user(request, f"{len(chosen)} {noun} undone.", messages.SUCCESS)
        return None


def _counts(batch: ImportBatch) -> str:
    """Return what a batch added, in words."""
    related = {
        "observations": batch.observations,
        "session summaries": batch.sessionsummarys,
        "prompts": batch.userprompts,
        "passages": batch.drawers,
    }
    parts = [f"{count:,} {name}" for name, rows in related.items() if (count := rows.count())]
    changed = batch.updates.count()
    return ", ".join([*parts, *([f"{changed:,} changed rows put back"] if changed else [])]) or "nothing left to undo"
