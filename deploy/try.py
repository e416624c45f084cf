#!/usr/bin/env python3
"""Tries the files of this folder with a built program: `try.py unit|image|nginx|caddy PROGRAM`.

unit    documents are read and the server serves behind the restrictions of cicerone.service, and directives that
        are often recommended are shown to break or weaken the sandbox of the readers
image   the program works in a read-only root that has what the image has, as its user (needs root)
nginx   a stream passes the proxy as it comes, large files pass, the client's address is known
caddy   the same
"""
import http.server
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
KEY = "a-key-for-trying-out-the-deployment-files"
PAGE = "<!doctype html><title>Light</title><main><h1>Light</h1><p>The harbour light was built in 1854.</p></main>"
QUESTION = "When was the harbour light built?"
TOKENS, PAUSE = 10, 0.2


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(url, process, context=None):
    for _ in range(200):
        if process.poll() is not None:
            raise SystemExit(f"{url}: the program ended with {process.returncode}")
        try:
            return urllib.request.urlopen(url, timeout=2, context=context).read()
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"{url} does not answer")


def behind(unit, command, **options):
    environment = {"PATH": os.environ["PATH"], "RUST_LOG": "warn", **options.pop("environment", {})}
    start = [sys.executable, str(HERE / "as_the_unit_does.py"), str(unit), *command]
    return subprocess.Popen(start, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def ask(unit, program, folder):
    """What `cicerone ask` says of a page, which a child process reads."""
    process = behind(unit, [program, "ask", "--source", "page.html", QUESTION], cwd=folder)
    out, errors = process.communicate(timeout=60)
    return process.returncode, out, errors


def with_filter(folder, *lines):
    """The unit with other filters of system calls."""
    text = (HERE / "cicerone.service").read_text()
    new = "\n".join(f"SystemCallFilter={line}" for line in lines)
    unit = Path(folder, "other.service")
    unit.write_text(re.sub(r"^SystemCallFilter=.*$", new, text, flags=re.M))
    return unit


def try_unit(program):
    unit = HERE / "cicerone.service"
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        Path(folder, "page.html").write_text(PAGE)
        status, out, errors = ask(unit, program, folder)
        assert status == 0 and "1854" in out, (status, out, errors)
        assert "cannot filter" not in errors, errors
        print("documents are read, with the filter of system calls of their own")

        status, out, errors = ask(with_filter(folder, "@system-service"), program, folder)
        assert "cannot filter" in errors, "without `seccomp`, the readers were expected to say so"
        print("without `seccomp` in the list, readers run without their filter, and the log says so")

        status, out, errors = ask(with_filter(folder, "@system-service seccomp", "~@privileged @resources"), program, folder)
        assert status != 0, "without capset and setpriority, no reader was expected to start"
        print("with `~@privileged @resources`, no document is read:", errors.strip().splitlines()[-1])

        port = free_port()
        bind = {"CICERONE_BIND": f"127.0.0.1:{port}", "CICERONE_ROOT_KEY": KEY}
        server = behind(unit, [program, "serve"], environment=bind, cwd=folder)
        wait_for(f"http://127.0.0.1:{port}/readyz", server)
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=40)
        assert server.returncode == 0, (server.returncode, errors)
        print("the server serves, and stops with status 0")


# Mounts as a container has them, then what the image does: read a document, serve, be healthy, stop.
IN_THE_IMAGE = """
set -e
cd "$1"
mount --bind . . && mount -o remount,bind,ro . && cd "$1"
mount -t tmpfs tmpfs tmp && mount -t tmpfs -o uid=65532,gid=65532,mode=700 tmpfs data && mount -t proc proc proc
run() { chroot --userspec 65532:65532 . /usr/local/bin/cicerone "$@"; }
run ask --source /page.html "$2"
chroot --userspec 65532:65532 . /usr/local/bin/cicerone serve > /dev/null &
for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; if run health; then break; fi; done
run health
kill -TERM $! && wait $!
"""


def try_image(program):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        for name in ["usr/local/bin", "lib64", "proc", "data", "tmp", "etc/ssl/certs"]:
            Path(root, name).mkdir(parents=True)
        os.chmod(folder, 0o755)
        shutil.copy(program, root / "usr/local/bin/cicerone")
        # libgcc, libm, the C library and the loader are all that the program is linked with.
        listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        libraries = re.findall(r"(/\S+) \(0x", listed)
        assert {Path(library).name.split(".")[0].split("-")[0] for library in libraries} <= {"libgcc_s", "libm", "libc", "ld"}, listed
        for library in libraries:
            target = root / library.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)
        shutil.copy("/etc/ssl/certs/ca-certificates.crt", root / "etc/ssl/certs")
        Path(root, "page.html").write_text(PAGE)
        environment = {"PATH": os.environ["PATH"], "RUST_LOG": "warn", "CICERONE_ROOT_KEY": KEY, "CICERONE_DATA_DIR": "/data",
                       "CICERONE_BIND": f"127.0.0.1:{free_port()}"}
        command = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", IN_THE_IMAGE, "sh", str(root), QUESTION]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert run.returncode == 0 and "1854" in run.stdout and '"ready"' in run.stdout, run
        print("a document is read, `cicerone health` is content, and the server stops with status 0")


class Upstream(http.server.BaseHTTPRequestHandler):
    """A model that writes a token every 200 ms."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for number in range(TOKENS):
            time.sleep(PAUSE)
            chunk = {"choices": [{"index": 0, "delta": {"content": f"word{number} "}, "finish_reason": None}]}
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            self.wfile.flush()
        self.wfile.write(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
        self.close_connection = True

    def log_message(self, *_):
        pass


def call(url, body=None, headers=None, context=None):
    headers = {"Authorization": f"Bearer {KEY}", **(headers or {})}
    if isinstance(body, dict):
        body, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
    request = urllib.request.Request(url, data=body, headers=headers)
    return urllib.request.urlopen(request, timeout=30, context=context)


def nginx(folder, port, upstream):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1",
                    "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"], check=True, capture_output=True)
    site = (HERE / "nginx.conf").read_text()
    site = re.sub(r"listen \[::\]:.*\n", "", site).replace("listen 80;", f"listen 127.0.0.1:{free_port()};")
    site = site.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace("127.0.0.1:8080", f"127.0.0.1:{upstream}")
    site = re.sub(r"/etc/ssl/certs/\S+;", f"{folder}/cert.pem;", site)
    site = re.sub(r"/etc/ssl/private/\S+;", f"{folder}/key.pem;", site)
    paths = "".join(f"{kind}_temp_path {folder}/{kind}; " for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    text = f"daemon off; pid {folder}/pid; error_log {folder}/errors; events {{}} http {{ access_log off; {paths}\n{site}\n}}"
    Path(folder, "nginx.conf").write_text(text)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return ["nginx", "-c", f"{folder}/nginx.conf", "-e", f"{folder}/errors"], f"https://127.0.0.1:{port}", context, 200


def caddy(folder, port, upstream):
    text = (HERE / "Caddyfile").read_text().replace("127.0.0.1:8080", f"127.0.0.1:{upstream}")
    text = text.replace("agents.example.com {", f"http://127.0.0.1:{port} {{")
    Path(folder, "Caddyfile").write_text("{\n\tadmin off\n}\n" + text)
    return ["caddy", "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile"], f"http://127.0.0.1:{port}", None, 404


def try_proxy(kind, program):
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        # The workers of nginx are another user.
        os.chmod(folder, 0o755)
        port, front = free_port(), free_port()
        environment = {"PATH": os.environ["PATH"], "RUST_LOG": "warn", "CICERONE_ROOT_KEY": KEY, "CICERONE_BIND": f"127.0.0.1:{port}",
                       "CICERONE_DATA_DIR": f"{folder}/data", "CICERONE_CONFIG": str(HERE / "cicerone.toml"),
                       "OPENAI_BASE_URL": f"http://127.0.0.1:{model.server_port}/v1"}
        server = subprocess.Popen([program, "serve"], env=environment, stdout=subprocess.DEVNULL)
        command, url, context, metrics = {"nginx": nginx, "caddy": caddy}[kind](folder, front, port)
        log = open(f"{folder}/log", "w", encoding="utf-8")
        proxy = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder})
        try:
            wait_for(f"http://127.0.0.1:{port}/readyz", server)
            wait_for(f"{url}/readyz", proxy, context)
            measure(url, context, metrics)
        finally:
            proxy.terminate()
            server.terminate()
            proxy.wait(10)
            server.wait(40)


def measure(url, context, metrics):
    agent = json.load(call(f"{url}/v1/agents", {"name": "Guide"}, context=context))["id"]
    text = {"type": "text", "content": "The harbour light was built in 1854."}
    source = json.load(call(f"{url}/v1/agents/{agent}/sources", text, context=context))["id"]
    while json.load(call(f"{url}/v1/sources/{source}", context=context))["status"] != "trained":
        time.sleep(0.05)
    body = {"agent_id": agent, "message": QUESTION, "stream": True}
    arrivals = []
    with call(f"{url}/v1/conversations", body, context=context) as stream:
        for line in stream:
            if line.startswith(b"event: token"):
                arrivals.append(time.monotonic())
    span = arrivals[-1] - arrivals[0]
    assert len(arrivals) == TOKENS and span > PAUSE * (TOKENS - 1) * 0.7, (len(arrivals), span)
    print(f"{len(arrivals)} tokens arrived over {span:.2f} s; the model wrote them over {PAUSE * (TOKENS - 1):.2f} s")

    boundary, size = "boundary", 10 * 1024 * 1024
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'.encode()
    upload = head + b"word " * (size // 5) + f"\r\n--{boundary}--\r\n".encode()
    kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    stored = json.load(call(f"{url}/v1/files", upload, kind, context=context))["bytes"]
    assert stored == size // 5 * 5, stored
    print(f"a file of {stored} bytes passed")

    call(f"{url}/v1/api_keys", {"name": "another", "permissions": ["agents:read"]}, {"X-Forwarded-For": "203.0.113.9"}, context)
    records = json.load(call(f"{url}/v1/audit_log", context=context))["data"]
    addresses = {value for record in records for name, value in record.items() if "address" in name or name == "ip"}
    assert "203.0.113.9" not in addresses, "what a client says of itself was believed"
    assert addresses == {"127.0.0.1"}, addresses
    print("the audit log has the address of the client, not what the client said of itself")

    try:
        status = call(f"{url}/metrics", context=context).status
    except urllib.error.HTTPError as error:
        status = error.code
    assert status == metrics, status


def main():
    what, program = sys.argv[1], os.path.abspath(sys.argv[2])
    if what == "image":
        try_image(program)
    elif what == "unit":
        # Where another user can run it.
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = shutil.copy(program, folder)
            os.chmod(copy, 0o755)
            try_unit(copy)
    else:
        try_proxy(what, program)


main()
