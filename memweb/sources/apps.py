from django.apps import AppConfig


class SourcesConfig(AppConfig):
    name = "memweb.sources"
