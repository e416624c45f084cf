"""Checks the types of the client that openapi-python-client has generated. Usage: use_client.py FOLDER"""

import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
program = """
from datetime import datetime
from python_client.models import Reply, SendMessage, UploadedFile

message = SendMessage(agent_id="agent_8kd02JwQ1z", message="Hello")
assert message.to_dict() == {"agent_id": "agent_8kd02JwQ1z", "message": "Hello"}
reply = Reply.from_dict({
    "id": "conv_8kd02JwQ1z", "agent_id": "agent_8kd02JwQ1z", "reply": "Hi", "sources_used": [],
    "conversation_id": "conv_8kd02JwQ1z", "n": 2, "created_at": "2026-01-31T08:30:00.000Z",
})
assert reply.reply == "Hi" and isinstance(reply.created_at, datetime)
assert UploadedFile.__name__ == "UploadedFile"
"""
link = folder / "python_client"
if not link.exists():
    link.symlink_to("python-client")
subprocess.run([folder / "python/bin/python", "-c", program], cwd=folder, check=True)
