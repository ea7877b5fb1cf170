from django.db import migrations, models

from search.vectors.queue import drop_queue, ensure_queue


def make_queue(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        ensure_queue(schema_editor.connection)


def remove_queue(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        drop_queue(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("search", "0002_embeddings"), ("memories", "0001_initial")]

    operations = [
        migrations.AddField(
            "embeddingmodel",
            "state_width",
            models.PositiveSmallIntegerField(default=0, help_text="numbers of each token state; 0: there are none"),
        ),
        migrations.AddField(
            "embeddingtask",
            "changes",
            models.PositiveIntegerField(
                default=0, help_text="0 for a memory that is new; grows whenever it is changed or removed"
            ),
        ),
        migrations.AddIndex(
            "embeddingtask",
            models.Index(condition=models.Q(changes__gt=0), fields=["id"], name="embedding_task_changed"),
        ),
        migrations.RunPython(make_queue, remove_queue),
    ]
