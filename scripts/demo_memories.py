"""Made-up memories for screenshots and for trying memweb out, in the shape of claude-mem's JSON export.

    python scripts/demo_memories.py > demo.json && .venv/bin/memweb import demo.json

They tell of two programs that do not exist, a parcel service's web shop and its label printer; times count back from
now. What they say stands in demo_memories.json: one entry for each session.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any


def export(runs: list[dict[str, Any]], now: datetime) -> dict[str, list[dict[str, Any]]]:
    """Return the export of some sessions; ids count from 1 within each kind."""
    rows: dict[str, list[dict[str, Any]]] = {"sessions": [], "observations": [], "summaries": [], "prompts": []}
    for number, run in enumerate(runs, 1):
        began = now - timedelta(days=run["days_ago"])
        ids = {"content_session_id": f"content-{number}", "memory_session_id": f"memory-{number}"}
        mine = {"memory_session_id": f"memory-{number}", "project": run["project"]}
        prompts, notes = run["prompts"], run["notes"]
        session = {**ids, "project": run["project"], "user_prompt": prompts[0], "status": "completed"}
        add(rows["sessions"], "started_at", began, session)
        for place, text in enumerate(prompts):
            prompt = {"content_session_id": ids["content_session_id"], "prompt_number": place + 1, "prompt_text": text}
            add(rows["prompts"], "created_at", began + timedelta(minutes=25 * place), prompt)
        for place, note in enumerate(notes, 1):
            observation = {
                **mine,
                **{name: note[name] for name in ("type", "title", "narrative")},
                **{name: json.dumps(note[name]) for name in ("facts", "concepts")},
                "files_read": json.dumps(note["read"]),
                "files_modified": json.dumps(note["modified"]),
                "prompt_number": min(place, len(prompts)),
                "discovery_tokens": 900 * place + 137 * number,
            }
            add(rows["observations"], "created_at", began + timedelta(minutes=11 * place), observation)
        summary = {**mine, **run["summary"], "prompt_number": len(prompts)}
        add(rows["summaries"], "created_at", began + timedelta(minutes=11 * len(notes) + 9), summary)
    return rows


def add(rows: list[dict[str, Any]], time_name: str, moment: datetime, row: dict[str, Any]) -> None:
    """Append a row with the next id and with its time in both of claude-mem's forms."""
    times = {time_name: moment.isoformat(timespec="milliseconds"), f"{time_name}_epoch": int(moment.timestamp() * 1000)}
    rows.append({"id": len(rows) + 1, **row, **times})


if __name__ == "__main__":
    runs = json.loads(Path(__file__).with_suffix(".json").read_text())
    json.dump(export(runs, datetime.now(UTC)), sys.stdout, ensure_ascii=False, indent=1)
