"""`memweb show`: print memories in full."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memweb.memories.kinds import Ref
from memweb.memories.models import Memory, memory_model
from search.formatter import to_json
from search.memory_page import memory_files, memory_markdown
from search.results import iso_time
from search.texts import whole_characters


class Command(BaseCommand):
    help = "Show memories in full, by ref: o12, s45, p9, d7, #12."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("refs", nargs="+", metavar="REF")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        memories, missing = [], []
        for text in options["refs"]:
            try:
                ref = Ref.parse(text)
            except ValueError as error:
                raise CommandError(str(error)) from error
            memory = memory_model(ref.kind).objects.for_display().filter(pk=ref.id).first()
            if memory is None:
                missing.append(str(ref))
            else:
                memories.append(memory)
        if options["json"]:
            self.stdout.write(to_json([memory_data(memory) for memory in memories]))
        else:
            self.stdout.write(whole_characters("\n---\n\n".join(map(memory_markdown, memories))))
        if missing:
            raise CommandError(f"there is no memory {', '.join(missing)}")


def memory_data(memory: Memory) -> dict[str, Any]:
    """Return a memory with all its fields, JSON-ready; times are ISO 8601 in UTC."""
    texts = {name: getattr(memory, name) for name in (*memory.title_fields, *memory.body_fields)}
    return {
        "ref": str(memory.ref),
        "kind": str(memory.kind),
        "type": getattr(memory, "type", ""),
        "title": memory.heading,
        **texts,
        "project": memory.project.name,
        "session": memory.session.content_session_id if memory.session else "",
        "created_at": iso_time(memory.created_at),
        "time_quality": str(memory.time_quality),
        "prompt_number": memory.prompt_number,
        "state": str(memory.state),
        "flags": memory.flags,
        "concepts": [concept.name for concept in memory.concepts.all()] if hasattr(memory, "concepts") else [],
        "files": [{"path": path, "role": role} for path, role in memory_files(memory)],
        "tags": [tag.name for tag in memory.tags.all()],
        "agent": memory.agent,
        "model": memory.model,
        "discovery_tokens": memory.discovery_tokens,
        "source_row": memory.source_row,
        "source_data": memory.source_data,
        "url": memory.get_absolute_url(),
    }
