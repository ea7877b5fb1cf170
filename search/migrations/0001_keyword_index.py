from django.db import migrations

from search.keyword.schema import drop_index, ensure_index


def make_keyword_index(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        ensure_index(schema_editor.connection)


def remove_keyword_index(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        drop_index(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_initial")]

    operations = [migrations.RunPython(make_keyword_index, remove_keyword_index)]
