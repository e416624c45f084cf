"""Verifies real deliveries with the official `standardwebhooks` package.

A server on loopback sends the events of real sources to an endpoint in this process, before, during and
after a rotation of the secret. The package must accept each with every live secret, and refuse it with
any other secret, with a changed body and with a changed id.

    cargo build
    python3 -m venv /tmp/webhooks && /tmp/webhooks/bin/pip install standardwebhooks
    /tmp/webhooks/bin/python tests/python/webhooks.py target/debug/cicerone

Not part of the test command, as it needs a package registry.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

ROOT_KEY = "root-key-for-the-webhook-check-0123456789"
NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")


class Endpoint(BaseHTTPRequestHandler):
    received = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Endpoint.received.append(({name: self.headers[name] for name in NAMES}, body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def takes(secret, headers, body):
    try:
        Webhook(secret).verify(body, headers)
        return True
    except WebhookVerificationError:
        return False


def main(program):
    endpoint = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as data:
        environment = {
            "CICERONE_BIND": "127.0.0.1:0", "CICERONE_DATA_DIR": data, "CICERONE_ROOT_KEY": ROOT_KEY,
            "CICERONE_EGRESS_ALLOW": "127.0.0.0/8", "PATH": os.environ["PATH"],
        }
        server = subprocess.Popen([program, "serve"], env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            address = server.stdout.readline().split()[-1]
            check(address, endpoint.server_address[1], os.path.join(data, "cicerone.db"))
        finally:
            server.terminate()
            server.wait()


def check(address, port, database):
    def call(method, path, body=None):
        request = urllib.request.Request(
            address + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {ROOT_KEY}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null")

    made = call("POST", "/v1/webhook_endpoints", {"url": f"http://127.0.0.1:{port}/hook"})
    agent = call("POST", "/v1/agents", {"name": "Guide"})["id"]

    def event(text):
        """Adds a source and returns what the endpoint receives for it."""
        count = len(Endpoint.received)
        call("POST", f"/v1/agents/{agent}/sources", {"type": "text", "content": text})
        deadline = time.monotonic() + 30
        while len(Endpoint.received) == count:
            assert time.monotonic() < deadline, "no delivery came"
            time.sleep(0.01)
        return Endpoint.received[-1]

    first = made["secret"]
    headers, body = event("Before: the museum opens at nine. \u00e9 \U0001f980")
    assert takes(first, headers, body), "before a rotation"
    assert json.loads(body)["data"]["content"].startswith("Before")
    assert not takes(first, headers, body + b" "), "a changed body"
    assert not takes(first, {**headers, "webhook-id": "evt_0000000000"}, body), "a changed id"

    second = call("POST", f"/v1/webhook_endpoints/{made['id']}/rotate_secret")["secret"]
    assert not takes(second, headers, body), "a secret of later"
    headers, body = event("During: the museum opens at nine.")
    assert takes(first, headers, body) and takes(second, headers, body), "during a rotation"

    # Makes the database believe that a day has passed.
    with sqlite3.connect(database, timeout=10) as rows:
        (kept,) = rows.execute("SELECT retired_secrets FROM webhook_endpoints").fetchone()
        ended = [{**one, "until": "2020-01-01T00:00:00.000Z"} for one in json.loads(kept)]
        assert len(ended) == 1
        rows.execute("UPDATE webhook_endpoints SET retired_secrets = ?", (json.dumps(ended),))
    rows.close()
    headers, body = event("After: the museum opens at nine.")
    assert takes(second, headers, body) and not takes(first, headers, body), "after a rotation"
    print("every delivery verifies with the live secrets, and with no other")


if __name__ == "__main__":
    main(sys.argv[1])
