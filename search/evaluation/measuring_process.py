"""The process that `memweb evaluate` measures in: `python -m search.evaluation.measuring_process`."""

import json
import os
import sys
import threading
from typing import Any

import django


def main(request: str) -> None:
    """Measure what is asked for and write messages for isolation.py to standard output."""
    # What a library prints must not stand between the messages.
    messages = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(**message: Any) -> None:
        messages.write(json.dumps(message) + "\n")
        messages.flush()

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memweb.settings")
    django.setup()
    from django.db import DatabaseError

    from memweb.operations.importing_process import end_with_parent
    from memweb.operations.preparation import prepare_database
    from memweb.operations.problems import Problem, database_problem
    from search.evaluation.conversations import EvaluationError
    from search.evaluation.isolation import Measurement
    from search.evaluation.measuring import measure

    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        prepare_database()
        measure(Measurement(**json.loads(request)), send)
    except DatabaseError as error:
        send(**{"is": "error", "text": str(database_problem(error))})
    except (EvaluationError, Problem) as error:
        send(**{"is": "error", "text": str(error)})


if __name__ == "__main__":
    main(sys.argv[1])
