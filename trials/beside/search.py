"""Searches of another library: `search.py bm25s|tantivy FILE`.

The file has `passages` and `questions`, each of which is about the passage of a number, `about`. Prints how long the index took in
seconds; then, for each line of standard input, asks all questions and prints the percentiles in milliseconds and how
many found their passage first. Everything that is printed is a line of JSON.
"""

import json
import sys
import time

FOUND = 5


def of_bm25s(passages):
    import bm25s

    retriever = bm25s.BM25()
    tokens = bm25s.tokenize(passages, stopwords="en", show_progress=False)
    retriever.index(tokens, show_progress=False)

    def search(question):
        tokens = bm25s.tokenize([question], stopwords="en", show_progress=False)
        found, _ = retriever.retrieve(tokens, k=FOUND, show_progress=False)
        return int(found[0][0])

    return search


def of_tantivy(passages):
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", tokenizer_name="en_stem")
    schema.add_unsigned_field("number", stored=True)
    index = tantivy.Index(schema.build())
    writer = index.writer()
    for number, passage in enumerate(passages):
        writer.add_document(tantivy.Document(text=passage, number=number))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(question):
        query, _ = index.parse_query_lenient(question, ["text"])
        hits = searcher.search(query, FOUND).hits
        return searcher.doc(hits[0][1])["number"][0] if hits else None

    return search


_, tool, file = sys.argv
with open(file) as opened:
    data = json.load(opened)
began = time.perf_counter()
search = {"bm25s": of_bm25s, "tantivy": of_tantivy}[tool](data["passages"])
print(json.dumps({"seconds": time.perf_counter() - began}), flush=True)
for _ in sys.stdin:
    times, first = [], 0
    for question in data["questions"]:
        began = time.perf_counter()
        found = search(question["text"])
        times.append((time.perf_counter() - began) * 1000)
        first += found == question["about"]
    times.sort()
    p50, p99 = (times[round((len(times) - 1) * share)] for share in (0.5, 0.99))
    print(json.dumps({"p50_ms": p50, "p99_ms": p99, "first": first}), flush=True)
