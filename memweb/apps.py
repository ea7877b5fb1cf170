from django.apps import AppConfig


class MemwebConfig(AppConfig):
    name = "memweb"
