"""Checks the wire format of chat completions against the official `openai` package.

An upstream that answers like the official API gets each request twice: from Cicerone, and from the
official client. Cicerone's request must match the package's types, and Cicerone must read the same
from the answers as the package does.

    cargo build
    python3 -m venv /tmp/openai && /tmp/openai/bin/pip install openai
    /tmp/openai/bin/python tests/python/openai_shapes.py target/debug/cicerone

Not part of the test command, as it needs a package registry.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import get_type_hints

from openai import OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter

ROOT_KEY = "root-key-for-the-shape-check-0123456789"
WRITTEN = "The museum opens at nine [1]. «é» 👍 [1]"
SAID = "The museum opens at nine. «é» 👍"
FRAME = {"id": "chatcmpl-1", "created": 1700000000, "model": "gpt-4o-2024-08-06",
         "service_tier": "default", "system_fingerprint": "fp_1"}
USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


def whole():
    message = {"role": "assistant", "content": WRITTEN, "refusal": None, "annotations": []}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return {**FRAME, "object": "chat.completion", "choices": [choice], "usage": USAGE}


def chunks():
    def chunk(delta, reason=None):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return {**FRAME, "object": "chat.completion.chunk", "choices": [choice], "usage": None}

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    for start in range(0, len(WRITTEN), 3):
        yield chunk({"content": WRITTEN[start : start + 3]})
    yield chunk({}, "stop")
    yield {**FRAME, "object": "chat.completion.chunk", "choices": [], "usage": USAGE}


class Upstream(BaseHTTPRequestHandler):
    received = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.received.append((self.path, dict(self.headers), body))
        if body.get("stream"):
            events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks()] + ["data: [DONE]\n\n"]
            kind, answer = "text/event-stream", "".join(events).encode()
        else:
            kind, answer = "application/json", json.dumps(whole()).encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def call(base, path, body=None):
    headers = {"authorization": f"Bearer {ROOT_KEY}", "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(base + path, data, headers)) as answer:
        return answer.read().decode()


def start(program, upstream, data):
    environment = {"CICERONE_DATA_DIR": data, "CICERONE_BIND": "127.0.0.1:0", "RUST_LOG": "warn",
                   "CICERONE_ROOT_KEY": ROOT_KEY, "OPENAI_BASE_URL": upstream,
                   "OPENAI_API_KEY": "sk-shapes"}
    process = subprocess.Popen([program, "serve"], env=environment, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if "http://" in line:
            return process, "http://" + line.split("http://")[1].split()[0]
    sys.exit("the server did not start")


def ask_cicerone(base):
    agent = json.loads(call(base, "/v1/agents", {"name": "Guide"}))["id"]
    text = {"type": "text", "content": "The museum opens at nine o'clock in the morning."}
    source = json.loads(call(base, f"/v1/agents/{agent}/sources", text))["id"]
    while json.loads(call(base, f"/v1/sources/{source}"))["status"] != "trained":
        time.sleep(0.05)
    question = {"agent_id": agent, "message": "When does the museum open?"}
    reply = json.loads(call(base, "/v1/conversations", question))
    stream = call(base, "/v1/conversations", {**question, "stream": True})
    events = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: ")]
    streamed = "".join(event.get("content", "") for event in events)
    sources = [reply["sources_used"], events[-1]["sources_used"]]
    return reply["reply"], streamed, sources, source


def ask_officially(upstream, body):
    client = OpenAI(base_url=upstream, api_key="sk-shapes")
    completion = client.chat.completions.create(**body)
    if not body["stream"]:
        return completion.choices[0].message.content
    return "".join(c.choices[0].delta.content or "" for c in completion if c.choices)


def main():
    ChatCompletion.model_validate(whole(), strict=True)
    for chunk in chunks():
        ChatCompletionChunk.model_validate(chunk, strict=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    upstream = f"http://127.0.0.1:{server.server_port}/v1"
    with tempfile.TemporaryDirectory() as data:
        process, base = start(os.path.abspath(sys.argv[1]), upstream, data)
        try:
            reply, streamed, sources, source = ask_cicerone(base)
        finally:
            process.terminate()
            process.wait()

    assert reply == SAID and streamed == SAID, (reply, streamed)
    assert [[cited["id"] for cited in used] for used in sources] == [[source], [source]], sources
    kinds = [CompletionCreateParamsNonStreaming, CompletionCreateParamsStreaming]
    sent = list(Upstream.received)
    assert len(sent) == 2, sent
    for (path, headers, body), kind in zip(sent, kinds):
        assert path == "/v1/chat/completions", path
        assert headers["authorization"] == "Bearer sk-shapes", headers
        unknown = set(body) - set(get_type_hints(kind))
        assert not unknown, unknown
        TypeAdapter(kind).validate_python(body)
        # The official client sends the same request, and reads the same text.
        assert ask_officially(upstream, body) == WRITTEN
        assert Upstream.received[-1][2] == body, Upstream.received[-1][2]
    print("the shapes agree with the openai package")


if __name__ == "__main__":
    main()
