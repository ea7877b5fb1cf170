"""Takes the pictures in docs/screenshots: the main pages over made-up memories, in both themes.

    .venv/bin/python scripts/screenshots.py [--folder docs/screenshots] [--width 1280]

memweb is started on a data folder of its own, with the memories of demo_memories.py; Chromium must be installed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PORT = 8177
PAGES = {
    "search": "/?q=sign-in+code",
    "memory": "/m/o9/",
    "timeline": "/timeline/?anchor=o6",
    "session": "/sessions/4/",
    "sessions": "/sessions/",
    "projects": "/projects/",
}
THEMES = ("light", "dark")


@contextmanager
def running_memweb(data_dir: Path) -> Iterator[str]:
    """Start memweb with the made-up memories; yield a sign-in link, stop it at the end."""
    environment = {**os.environ, "MEMWEB_DATA_DIR": str(data_dir)}
    memweb = [sys.executable, str(ROOT / "manage.py")]
    source = data_dir / "demo.json"
    with source.open("w") as file:
        subprocess.run([sys.executable, ROOT / "scripts" / "demo_memories.py"], stdout=file, check=True)  # noqa: S603
    for command in (["migrate", "--verbosity", "0"], ["import", str(source)]):
        subprocess.run([*memweb, *command], env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    server = subprocess.Popen(  # noqa: S603 - this very program
        [*memweb, "up", "--no-import", "--port", str(PORT)], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        lines = iter(server.stdout or ())
        link = next((word for line in lines for word in line.split() if "/accounts/" in word), None)
        if link is None:
            raise SystemExit("memweb ended without a sign-in link")
        while not is_embedded(memweb, environment):
            time.sleep(1)
        yield link
    finally:
        server.terminate()
        server.wait()


def is_embedded(memweb: list[str], environment: dict[str, str]) -> bool:
    """Return whether every memory can be found by its meaning."""
    command = [*memweb, "index", "status", "--json"]
    done = subprocess.run(command, env=environment, check=True, capture_output=True)  # noqa: S603
    vectors = json.loads(done.stdout)["vectors"]
    return vectors["waiting"] == 0


def take(browser: Browser, link: str, folder: Path, width: int) -> None:
    """Write one picture for each page and theme."""
    context = browser.new_context(
        viewport={"width": width, "height": 860}, locale="en-GB", timezone_id="UTC", reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(link)
    for theme in THEMES:
        scheme: Any = theme
        page.emulate_media(color_scheme=scheme)
        for name, address in PAGES.items():
            page.goto(f"http://127.0.0.1:{PORT}{address}", wait_until="networkidle")
            page.screenshot(path=folder / f"{name}-{theme}.png")
    context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--width", type=int, default=1280)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with (
        tempfile.TemporaryDirectory(prefix="memweb-screenshots-") as name,
        running_memweb(Path(name)) as link,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        take(browser, link, options.folder, options.width)
        browser.close()


if __name__ == "__main__":
    main()
