"""Start-up of the search package: registers the analyzer, keeps what triggers fill alive over migrations."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class SearchConfig(AppConfig):
    name = "search"

    def ready(self) -> None:
        from memweb.memories.indexing import register_term_builder
        from search import checks  # noqa: F401 - registers the system checks
        from search.terms import terms_of

        register_term_builder(terms_of)
        post_migrate.connect(repair_keyword_index, dispatch_uid="search.repair_keyword_index")


def repair_keyword_index(using: str, app_config: AppConfig, **kwargs: Any) -> None:
    """Make dropped triggers and tables again after every migrate and index what was written without them."""
    from django.db import DEFAULT_DB_ALIAS, connections

    from search.closets.groups import ensure_groups
    from search.keyword.maintenance import repair
    from search.leftovers import mend_leftovers
    from search.vectors.queue import ensure_queue

    if connections[using].vendor == "sqlite":
        repair(connections[using])
        ensure_queue(connections[using])
        ensure_groups(connections[using])
        if using == DEFAULT_DB_ALIAS and app_config.name == SearchConfig.name:
            mend_leftovers()
