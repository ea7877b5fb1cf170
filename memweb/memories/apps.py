from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    name = "memweb.memories"

    def ready(self) -> None:
        from memweb.memories import refreshing

        refreshing.connect()
