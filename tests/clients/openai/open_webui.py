"""The requests of Open WebUI, in the shapes that it sends to an OpenAI-compatible server."""

import json
import os
import urllib.request

agent = os.environ["AGENT"]


def call(path, body=None):
    headers = {
        "Authorization": f"Bearer {os.environ['API_KEY']}",
        "Content-Type": "application/json",
        "X-OpenWebUI-User-Name": "Ada",
    }
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["BASE_URL"] + path, data, headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=20) as answer:
        return answer.read().decode()


# The list of models, of which it shows `id` and `name`.
models = json.loads(call("/models"))["data"]
assert all(isinstance(model["id"], str) and model["name"] for model in models), models
assert agent in [model["id"] for model in models]

# A chat, streamed, with a prompt and parameters of the workspace.
chat = {
    "stream": True,
    "model": agent,
    "messages": [
        {"role": "system", "content": "You are helpful. User: Ada"},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello! How can I help?"},
        {"role": "user", "content": [{"type": "text", "text": "When does the museum open?"}]},
    ],
    "temperature": 0.8, "top_p": 0.9, "seed": 42, "stop": ["###"], "max_tokens": 512,
    "frequency_penalty": 0.1, "reasoning_effort": "medium", "stream_options": {"include_usage": True},
    "tools": [{"type": "function", "function": {"name": "search", "parameters": {}}}],
}
lines = [line[6:] for line in call("/chat/completions", chat).splitlines() if line.startswith("data: ")]
assert lines.pop() == "[DONE]"
chunks = [json.loads(line) for line in lines]
text = "".join(c["delta"].get("content") or "" for chunk in chunks for c in chunk["choices"])
assert "nine o'clock" in text, text
assert chunks[-1]["usage"]["total_tokens"] == 0
notes = [note for chunk in chunks for c in chunk["choices"] for note in c["delta"].get("annotations", [])]
assert notes[0]["url_citation"]["url"].startswith("https://"), notes

# The prompts of its own for titles, tags and follow-up questions. They are not stored.
task = "### Task:\nGenerate a concise, 3-5 word title.\n### Chat History:\n<chat_history>\nUSER: Hello\n</chat_history>"
title = {
    "model": agent, "messages": [{"role": "user", "content": task}], "stream": False,
    "max_completion_tokens": 1000, "metadata": {"task": "title_generation", "task_body": {"model": agent}, "chat_id": "1"},
}
assert json.loads(call("/chat/completions", title))["choices"][0]["message"]["content"]

# Its connection of the type "responses".
reply = json.loads(call("/responses", {
    "model": agent, "stream": False, "instructions": "Be brief.",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "When does the museum open?"}]}
    ],
}))
assert "nine o'clock" in reply["output"][0]["content"][0]["text"]
