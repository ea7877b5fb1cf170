"""`memweb model`: the files of the embedding model."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from search.formatter import to_json
from search.vectors.embedding import embedder_name
from search.vectors.model_files import MODELS, ModelFiles, ModelFilesError, fetch_model
from search.vectors.model_folders import describe_missing, find_model, model_folders


class Command(BaseCommand):
    help = "Fetch the embedding model that search by meaning uses, or say whether it is there."
    requires_system_checks: list[str] = []  # the database is not touched

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "action",
            choices=["fetch", "status"],
            help="fetch: download the files unless sound ones are there; status: say where they are and how they fare",
        )
        parser.add_argument("model", nargs="?", choices=[*MODELS], help="default: the one that MEMWEB_EMBEDDER names")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "fetch":
            self._fetch(options["model"] or settings.EMBEDDER, options["json"])
        else:
            self._status(options["model"], options["json"])

    def _fetch(self, name: str, as_json: bool) -> None:
        model = MODELS.get(name)
        if model is None:
            raise CommandError(
                f"MEMWEB_EMBEDDER={name} has no files to fetch; name a model: memweb model fetch {'|'.join(MODELS)}"
            )
        folder, is_new = find_model(model), False
        if folder is None:
            folder = model_folders(model)[0]
            if not as_json:
                self.stdout.write(f"Fetching {model.name} ({model.megabytes} MB)")
                self.stdout.flush()
            try:
                is_new = fetch_model(model, folder)
            except ModelFilesError as error:
                raise CommandError(f"{error}; search by keyword goes on") from error
        if as_json:
            self.stdout.write(to_json({"model": model.name, "folder": str(folder), "fetched": is_new}))
        else:
            self.stdout.write(f"{model.name} is in {folder}{'' if is_new else ' already'}")

    def _status(self, name: str | None, as_json: bool) -> None:
        shown = [MODELS[name]] if name else list(MODELS.values())
        rows = [_state_of(model) for model in shown]
        if as_json:
            chosen = {"setting": settings.EMBEDDER, "name": embedder_name()}
            self.stdout.write(to_json({"embedder": chosen, "models": rows}))
        else:
            self.stdout.write(f"MEMWEB_EMBEDDER={settings.EMBEDDER}")
            for row in rows:
                state = (
                    f"sound, in {row['folder']}" if row["sound"] else f"{'; '.join(row['faults'])} ({row['folder']})"
                )
                self.stdout.write(f"{row['model']:14} {state}")
        needed = MODELS.get(name or settings.EMBEDDER)
        if needed and find_model(needed) is None:
            raise CommandError(f"the model {needed.name} cannot be used: run `memweb model fetch {needed.name}`")


def _state_of(model: ModelFiles) -> dict[str, Any]:
    folder = find_model(model)
    where, wrong = (folder, []) if folder else describe_missing(model)
    return {"model": model.name, "sound": folder is not None, "folder": str(where), "faults": wrong}
