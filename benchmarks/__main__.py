"""`python -m benchmarks [NAME] [options]`: run one measurement, or all as they are."""

import importlib
import sys

MEASUREMENTS = {
    "import": "benchmarks.import_speed",
    "search": "benchmarks.search_speed",
    "pages": "benchmarks.page_speed",
    "facets": "benchmarks.facet_speed",
    "meaning": "benchmarks.meaning_speed",
    "embedding": "benchmarks.embedding_speed",
    "vectors": "benchmarks.vector_speed",
    "mempalace": "benchmarks.mempalace_speed",
}


def main(arguments: list[str]) -> None:
    if arguments and arguments[0] not in MEASUREMENTS:
        sys.exit(f"python -m benchmarks: {arguments[0]!r} is not one of {', '.join(MEASUREMENTS)}")
    for name in arguments[:1] or MEASUREMENTS:
        importlib.import_module(MEASUREMENTS[name]).main(arguments[1:])


main(sys.argv[1:])
