import django.db.models.deletion
from django.db import migrations, models

from search.closets.groups import drop_groups, ensure_groups


def make_groups(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        ensure_groups(schema_editor.connection)


def remove_groups(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        drop_groups(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("search", "0003_embedding_queue"), ("memories", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="ClosetGroup",
            fields=[
                (
                    "key",
                    models.CharField(
                        help_text="s and the session's id, or f and the file's",
                        max_length=24,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("changes", models.PositiveBigIntegerField(default=1)),
                ("built", models.BigIntegerField(default=-1, help_text="the changes that its lines know of")),
                ("model", models.TextField(default="")),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("built", models.F("changes")), _negated=True),
                        fields=["key"],
                        name="closet_group_changed",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ClosetLine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField()),
                ("text_hash", models.BinaryField(help_text="BLAKE2b of the text", max_length=16)),
                ("vector", models.BinaryField(help_text="float16, little-endian, of length 1")),
                (
                    "group",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="lines",
                        to="search.closetgroup",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("group", "text_hash"), name="one_closet_line_for_each_text")
                ],
            },
        ),
        migrations.CreateModel(
            name="ClosetPointer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("drawer_id", models.BigIntegerField()),
                (
                    "line",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pointers",
                        to="search.closetline",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("drawer_id", "line"), name="one_closet_pointer_for_each_drawer")
                ],
            },
        ),
        migrations.RunPython(make_groups, remove_groups),
    ]
