"""A process of its own that indexes and may be killed: `python -m tests.search.vectors.killed_indexer STEP...`."""

import os
import random
import sys
import time
from collections.abc import Sequence

import django

MEMORIES = 120


def prepare() -> None:
    """Make tables and memories of all kinds, some long, some empty, some equal."""
    from django.core.management import call_command

    from tests.factories import make_one_of_each

    call_command("migrate", verbosity=0)
    for number in range(MEMORIES // 4):
        words = [f"word{number * 7 + place}" for place in range(60 if number % 5 == 0 else 6)]
        make_one_of_each("" if number % 11 == 3 else "again" if number % 7 == 2 else " ".join(words))


def change(seed: int) -> None:
    """Edit and remove some memories."""
    from memweb.memories.models import Drawer, Observation, UserPrompt

    chosen = random.Random(seed)  # noqa: S311
    for model, name in ((Drawer, "text"), (Observation, "narrative")):
        for memory in chosen.sample(list(model.objects.order_by("pk")), 6):
            setattr(memory, name, f"changed {seed} " * chosen.choice([0, 1, 40]))
            memory.save()
    for prompt in chosen.sample(list(UserPrompt.objects.order_by("pk")), 3):
        prompt.delete()


def index(name: str) -> None:
    """Run an indexer, slowly; say when it begins and when it is done."""
    from search.vectors import indexer
    from search.vectors.embedding import Embedded
    from tests.embedders import FakeEmbedder

    class SlowEmbedder(FakeEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> Embedded:
            time.sleep(0.004 * len(texts))
            return super().embed_documents(texts)

    indexer.TEXTS_AT_ONCE = 4
    sys.stdout.write("begins\n")
    sys.stdout.flush()
    done = indexer.Indexer(SlowEmbedder(name, salt=name)).run()
    sys.stdout.write("done\n" if done.is_complete else "incomplete\n")
    sys.stdout.flush()


def check(name: str) -> None:
    """Say `equal` when everything stored is what it should be, else what differs."""
    import numpy as np

    from memweb.memories.models import MEMORY_MODELS
    from search.models import Embedding, EmbeddingModel, EmbeddingTask, TokenStates
    from search.vectors.embedding import Embedded
    from search.vectors.matrix import VectorMatrix, read_state
    from search.vectors.stored import hash_text
    from search.vectors.texts import chunks_of
    from tests.embedders import FakeEmbedder

    embedder = FakeEmbedder(name, salt=name)
    wanted, texts = {}, []
    for model in MEMORY_MODELS.values():
        for memory in model.objects.all():
            for chunk, text in enumerate(chunks_of(memory, embedder) or [""]):
                wanted[memory.kind.letter, memory.pk, chunk] = text
                texts.append(text)
    made: Embedded = embedder.embed_documents(texts)
    vectors = {text: made.vectors[place].astype("<f2").tobytes() if text else b"" for place, text in enumerate(texts)}
    rows = {(row.kind, row.memory_id, row.chunk): row for row in Embedding.objects.all()}
    wrong = [f"{key} missing" for key in wanted.keys() - rows.keys()] + [
        f"{key} left" for key in rows.keys() - wanted.keys()
    ]
    for key in wanted.keys() & rows.keys():
        if bytes(rows[key].text_hash) != hash_text(wanted[key]) or bytes(rows[key].vector) != vectors[wanted[key]]:
            wrong.append(f"{key} differs")
    with_states = set(TokenStates.objects.values_list("pk", flat=True))
    if with_states != {row.pk for row in rows.values() if row.vector}:
        wrong.append("token states differ")
    if EmbeddingTask.objects.exists():
        wrong.append("tasks are left")
    if [(model.name, model.is_searched) for model in EmbeddingModel.objects.all()] != [(f"{name}/1", True)]:
        wrong.append("models differ")
    state = read_state()
    if state is not None:
        found = VectorMatrix(state).refresh(state)
        places = np.flatnonzero(found.kinds)
        if found.ids[places].tolist() != sorted(row.pk for row in rows.values() if row.vector):
            wrong.append("the file of vectors differs")
    sys.stdout.write("; ".join(wrong) or "equal")


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "memweb.settings"
    django.setup()
    for step, _, argument in (one.partition(":") for one in sys.argv[1:]):
        match step:
            case "prepare":
                prepare()
            case "change":
                change(int(argument))
            case "index":
                index(argument)
            case "check":
                check(argument)
