"""A server with content, and a browser that shows its console."""

import contextlib
import http.server
import json
import os
import pathlib
import threading
import time
import urllib.error
import urllib.request

from playwright.sync_api import expect

SERVER = os.environ.get("CONSOLE_SERVER", "")
KEY = os.environ.get("CICERONE_API_KEY", "")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PATIENCE = 20_000
# Playwright's own 5 seconds are too few beside a suite that keeps all cores busy.
expect.set_options(timeout=PATIENCE)


def api(method, path, body=None, key=KEY, content_type="application/json"):
    """Calls the API; returns its JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
    headers = {"Authorization": f"Bearer {key}", "Content-Type": content_type}
    request = urllib.request.Request(SERVER + path, method=method, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error
    return json.loads(text) if text else None


def has_route(method, path):
    """Whether the server has a route."""
    return method in api("GET", "/v1/openapi.json")["paths"].get(path, {})


def trained(agent):
    """Waits until all sources of an agent are trained or failed."""
    deadline = time.monotonic() + 60
    while any(source["status"] in ("pending", "processing") for source in api("GET", f"/v1/agents/{agent}/sources?page_size=100")["data"]):
        assert time.monotonic() < deadline, "sources were not trained"
        time.sleep(0.2)


def text(agent, content):
    """Adds a text."""
    return api("POST", f"/v1/agents/{agent}/sources", {"type": "text", "content": content})


def ask(agent, message, **more):
    """Asks a question."""
    return api("POST", "/v1/conversations", {"agent_id": agent, "message": message, **more})


@contextlib.contextmanager
def site(answer):
    """A web server on loopback; `answer(path, body)` gives a status, a content type, bytes, and headers if it likes. Yields its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def respond(self):
            length = int(self.headers.get("Content-Length") or 0)
            status, kind, content, *headers = answer(self.path, self.rfile.read(length))
            self.send_response(status)
            for name, value in (headers[0] if headers else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = respond

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def launch(playwright):
    """Debian's Chromium."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])


@contextlib.contextmanager
def console(browser, key=KEY, scheme="light", width=1280, height=860, at="", allowed=(), **options):
    """A page with the console. Fails if a script fails, if the policy is violated, or if another host is asked for anything. `allowed` are parts of messages of the browser that are expected."""
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height}, reduced_motion="reduce", accept_downloads=True, **options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(f"script: {error}"))
    page.on("console", lambda said: faults.append(f"console: {said.text}") if said.type == "error" and not any(each in said.text for each in ("the server responded with a status of", *allowed)) else None)
    page.on("request", lambda request: faults.append(f"foreign request: {request.url}") if not request.url.startswith((SERVER, "data:", "blob:" + SERVER)) else None)
    page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()) if dialog.type != "beforeunload" else dialog.accept())
    page.goto(f"{SERVER}/console{at}")
    if key:
        sign_in(page, key)
    yield page
    context.close()
    assert not faults, "\n".join(faults)


def sign_in(page, key):
    """Signs in on the page."""
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector(".frame")


def go(page, address):
    """Shows a view, and waits until it has read what it shows."""
    page.evaluate("address => { location.hash = address; }", address)
    settled(page)


def settled(page):
    """Waits until nothing is being loaded."""
    expect(page.locator(".waiting")).to_have_count(0, timeout=PATIENCE)
    page.wait_for_load_state("networkidle")


# Words that are divided among lines.
BROKEN = """cells => cells.flatMap(cell => { const broken = [], walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let node; (node = walker.nextNode());) for (const { 0: word, index } of node.data.matchAll(/\\S+/g)) { range.setStart(node, index); range.setEnd(node, index + word.length); if (range.getClientRects().length > 1) broken.push(word); }
  return broken; })"""
TABLE = "| Weekday | Opening hours | Admission | Guided tours |\n|---|---|---|---|\n| Wednesday | afternoon | grown-ups: seventeen euros | Kindergartens |"


def pictures():
    """The folder for screenshots; it is not committed."""
    folder = pathlib.Path(os.environ.get("CONSOLE_PICTURES", "target/console-pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
