import django.db.models.deletion
from django.db import migrations, models

KINDS = [("d", "drawer"), ("o", "observation"), ("p", "prompt"), ("s", "summary")]


def id_field():
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [("search", "0001_keyword_index")]

    operations = [
        migrations.CreateModel(
            name="EmbeddingModel",
            fields=[
                ("id", id_field()),
                (
                    "name",
                    models.TextField(
                        help_text="name and version of the embedder, the way texts are cut included", unique=True
                    ),
                ),
                ("dimension", models.PositiveSmallIntegerField()),
                ("is_searched", models.BooleanField(default=False)),
                (
                    "removals",
                    models.BigIntegerField(default=0, help_text="grows whenever vectors are removed, never when added"),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(is_searched=True),
                        fields=("is_searched",),
                        name="one_searched_embedding_model",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Embedding",
            fields=[
                ("id", id_field()),
                (
                    "model",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="embeddings",
                        to="search.embeddingmodel",
                    ),
                ),
                ("kind", models.CharField(choices=KINDS, max_length=1)),
                ("memory_id", models.BigIntegerField()),
                ("chunk", models.PositiveSmallIntegerField(default=0)),
                ("text_hash", models.BinaryField(help_text="BLAKE2b of the embedded text", max_length=16)),
                (
                    "vector",
                    models.BinaryField(
                        help_text="float16, little-endian, of length 1; empty when there is nothing to embed"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("model", "kind", "memory_id", "chunk"), name="one_vector_for_each_chunk"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TokenStates",
            fields=[
                (
                    "embedding",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="states",
                        serialize=False,
                        to="search.embedding",
                    ),
                ),
                ("states", models.BinaryField()),
            ],
            options={"verbose_name_plural": "token states"},
        ),
        migrations.CreateModel(
            name="EmbeddingTask",
            fields=[
                ("id", id_field()),
                ("kind", models.CharField(choices=KINDS, max_length=1)),
                ("memory_id", models.BigIntegerField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("kind", "memory_id"), name="one_task_for_each_memory")],
            },
        ),
    ]
