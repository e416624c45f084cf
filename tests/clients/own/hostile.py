"""A server that answers as a bad day does, for the tests of the clients in `clients/`.

Usage: hostile.py COMMAND…: starts it, and runs the command with its address in HOSTILE.

The base URL of a client is `HOSTILE/CLIENT/SCENARIO`. `GET HOSTILE/CLIENT/SCENARIO/seen` gives the requests so far.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

AGENT = {"id": "agent_8kd02JwQ1z", "name": "Guide"}
DONE = b'event: done\ndata: {"conversation_id": "conv_8kd02JwQ1z", "sources_used": [], "n": 2}\n\n'
seen = defaultdict(list)


def refusal(code, **more):
    return {"error": {"type": "t", "code": code, "message": "no", "request_id": "req_8kd02JwQ1z", **more}}


def token(text):
    return f"event: token\ndata: {json.dumps({'content': text}, ensure_ascii=False)}\n\n".encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=(), content_type="application/json"):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in [("content-type", content_type), ("content-length", len(body)), *headers]:
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, *pieces, is_whole=True):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
        if is_whole:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def stall(self):
        """Says nothing until the client hangs up."""
        self.connection.settimeout(60)
        self.rfile.read(1)
        self.close_connection = True

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        _, client, scenario, rest = self.path.split("/", 3)
        name = f"{client}/{scenario}"
        if rest == "seen":
            return self.answer(200, seen[name])
        key = self.headers.get("idempotency-key")
        text = body.decode(errors="replace")
        request = {"at": time.time(), "key": key, "path": rest, "method": self.command, "body": text}
        seen[name].append(request)
        getattr(self, scenario)(len(seen[name]))

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any

    # Each scenario gets the number of its request, from 1.

    def limited(self, n):
        if n == 1:
            return self.answer(429, refusal("rate_limit_exceeded", retry_after=1), [("retry-after", 1)])
        return self.answer(201, AGENT)

    def quota(self, _):
        headers = [("retry-after", 1), ("x-should-retry", "false")]
        return self.answer(429, refusal("quota_exceeded", retry_after=1), headers)

    def far(self, _):
        return self.answer(429, refusal("rate_limit_exceeded"), [("retry-after", 3600)])

    def date(self, n):
        if n == 1:
            return self.answer(503, refusal("service_unavailable"), [("retry-after", formatdate(time.time() + 2, usegmt=True))])
        return self.answer(201, AGENT)

    def progress(self, n):
        if n < 3:
            return self.answer(409, refusal("conflict"), [("retry-after", 1)])
        return self.answer(201, AGENT)

    def state(self, _):
        return self.answer(409, refusal("conflict"), [("x-should-retry", "false")])

    def invalid(self, _):
        errors = [{"param": "content[3].answer", "message": "must not be empty"}]
        return self.answer(422, refusal("validation_error", errors=errors))

    def param(self, _):
        return self.answer(400, refusal("invalid_parameter", param="temperature"))

    def html(self, _):
        return self.answer(502, b"<html>Bad Gateway</html>", content_type="text/html")

    def portal(self, _):
        return self.answer(200, b"<html>Please sign in</html>", content_type="text/html")

    def shapeless(self, n):
        return self.answer(400, [b"[]", b"null", b'{"error": "no"}'][n - 1])

    def drop(self, n):
        if n == 1:
            self.close_connection = True
            return self.connection.close()
        return self.answer(201, AGENT)

    def half(self, n):
        if n == 1:
            self.wfile.write(b"HTTP/1.1 201 Created\r\ncontent-length: 999\r\n\r\n{\"id\":")
            self.close_connection = True
            return None
        return self.answer(201, AGENT)

    def silent(self, _):
        self.stall()

    def redirect(self, _):
        return self.answer(307, b"", [("location", "http://127.0.0.1:9/")])

    def loop(self, _):
        return self.answer(200, {"data": [AGENT], "has_more": True, "next_cursor": "again"})

    def pages(self, n):
        pages = [["a", "b"], [], ["c"]]
        data = [{"id": name} for name in pages[n - 1]]
        cursor = f"cursor{n}" if n < 3 else None
        return self.answer(200, {"data": data, "has_more": n < 3, "next_cursor": cursor})

    def nothing(self, _):
        self.send_response(204)
        self.end_headers()

    def stream_odd(self, n):
        if n == 1:
            return self.answer(503, refusal("service_unavailable"), [("retry-after", 0)])
        crab = token("🦀")
        middle = crab.index("🦀".encode()) + 2
        return self.stream(
            b": a comment\n\n", token("One\u2028two\u0085")[:20], token("One\u2028two\u0085")[20:],
            b"event: later\ndata: {}\n\n", token(" three").replace(b"\n", b"\r\n"), crab[:middle], crab[middle:],
            b"id: 7\nretry: 5\n" + DONE, token("never seen"),
        )

    def stream_cut(self, _):
        return self.stream(token("One"), token(" two"), is_whole=False)

    def stream_ended(self, _):
        return self.stream(token("One"), DONE[:-1])

    def stream_failed(self, _):
        event = {"message": "the model failed", "code": "internal_error", "type": "api_error", "retryable": False, "request_id": "req_8kd02JwQ1z"}
        return self.stream(token("One"), f"event: error\ndata: {json.dumps(event)}\n\n".encode())

    def stream_garbage(self, _):
        return self.stream(b"event: token\ndata: {nope\n\n", DONE)

    def stream_stalled(self, _):
        self.stream(token("One"), is_whole=False)
        self.stall()


class Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        """Clients that hang up are part of the tests."""


server = Server(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
ended = subprocess.run(sys.argv[1:], env={**os.environ, "HOSTILE": address}, check=False)
sys.exit(ended.returncode)
