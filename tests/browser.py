"""A headless Chromium that opens a page and says what became of it."""

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=60000",
)
# Without a window nothing is ever in view, so every figure is told that it is. Errors, and requests that the
# page's own rules stopped, end up in an attribute of the page.
WATCH = """<script>
window.IntersectionObserver = class {
  constructor(tell) { this.tell = tell; }
  observe(target) { this.tell([{ isIntersecting: true, target }]); }
};
const told = (text) => document.documentElement.setAttribute("data-told",
  (document.documentElement.getAttribute("data-told") || "") + text + ";");
addEventListener("error", (event) => told("error " + event.message));
addEventListener("unhandledrejection", (event) => told("rejected " + event.reason));
addEventListener("securitypolicyviolation", (event) => told("request " + event.blockedURI));
console.error = console.warn = (...words) => told("console " + words.join(" "));
%s
</script>"""


def opened(page: str, folder: Path, script: str = "", width: int = 1400) -> tuple[str, str]:
    """Open a page, with a script of the test's own; give what it became and what it complained of."""
    path = folder / "opened.html"
    path.write_text(page.replace("<title>", WATCH % script + "<title>", 1), encoding="utf-8")
    flags = (*FLAGS, f"--window-size={width},3000", f"--user-data-dir={folder / 'profile'}", "--dump-dom")
    call = [str(CHROMIUM), *flags, path.as_uri()]
    done = subprocess.run(call, capture_output=True, text=True, timeout=180, check=True)
    told = re.search(r'<html[^>]*data-told="([^"]*)"', done.stdout)
    return done.stdout, unescape(told[1]) if told else ""
