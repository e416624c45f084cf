"""Names, titles, texts, replies, file names, page titles, addresses and metadata that try to become markup: none runs, in any view."""

import json
import uuid

from playwright.sync_api import expect

import widget
from world import SERVER, api, ask, console, go, has_route, settled, site, trained

MARK = "window.__ran=(window.__ran||0)+1"
PAYLOADS = [
    f"<script>{MARK}</script>", f"<img src=x onerror={MARK}>", f"<svg onload={MARK}>", f"<svg><script>{MARK}</script></svg>", f'"><script>{MARK}</script>', f"'><img src=x onerror={MARK}>",
    f'" onmouseover="{MARK}" x="', f"' onfocus='{MARK}' autofocus='", f"<iframe srcdoc='<script>parent.{MARK}</script>'></iframe>", f"<iframe src=javascript:parent.{MARK}>", f"<a href=javascript:{MARK}>click</a>",
    f"[click](javascript:{MARK})", f"[click](JaVaScRiPt:{MARK})", f"[click](java\tscript:{MARK})", f"[x](data:text/html,<script>{MARK}</script>)", f"![x](x\" onerror=\"{MARK})", f"<javascript:{MARK}>",
    f"<details open ontoggle={MARK}>", f"<body onload={MARK}>", f"<video><source onerror={MARK}></video>", f"<audio src=x onerror={MARK}>", f"<input autofocus onfocus={MARK}>", f"<select autofocus onfocus={MARK}>",
    f"<textarea autofocus onfocus={MARK}>", f"<marquee onstart={MARK}>", f"<object data=javascript:{MARK}>", f"<embed src=javascript:{MARK}>", f"<form action=javascript:{MARK}><button>go</button></form>",
    f"<button formaction=javascript:{MARK}>go</button>", f"<math href=javascript:{MARK}>x</math>", f"<link rel=stylesheet href=javascript:{MARK}>", f"<meta http-equiv=refresh content='0;url=javascript:{MARK}'>",
    f"<base href=javascript:{MARK}//>", f"<style>@import 'javascript:{MARK}';</style>", f"<div style=\"background:url(javascript:{MARK})\">", f"<table background=javascript:{MARK}>", f"<template><script>{MARK}</script></template>",
    f"</script><script>{MARK}</script>", f"</title><script>{MARK}</script>", f"</textarea><script>{MARK}</script>", f"</style><script>{MARK}</script>", f"--><script>{MARK}</script>", f"]]><script>{MARK}</script>",
    f"<!--<img src=--><img src=x onerror={MARK}//>", f"<scr<script>ipt>{MARK}</script>", f"&lt;script&gt;{MARK}&lt;/script&gt;", f"&#60;script&#62;{MARK}&#60;/script&#62;", f"\\u003cscript\\u003e{MARK}\\u003c/script\\u003e",
    f"<IMG SRC=x ONERROR={MARK}>", f"<img/src=x/onerror={MARK}>", f"<img src=x onerror=\n{MARK}>", f"<svg/onload={MARK}>", f"<svg><animate onbegin={MARK} attributeName=x dur=1s>", f"<svg><set onbegin={MARK} attributename=x>",
    f"<svg><a xlink:href=javascript:{MARK}><text>x</text></a></svg>", f"<svg><use href=data:image/svg+xml,<svg id=x><script>{MARK}</script></svg>#x>", f"<math><mi//xlink:href='data:x,<script>{MARK}</script>'>",
    f"<noscript><p title='</noscript><img src=x onerror={MARK}>'>", f"<xss id=x tabindex=1 onfocus={MARK}></xss>", f"${{{MARK}}}", f"{{{{constructor.constructor('{MARK}')()}}}}", f"<?lit$0$?>{MARK}", f"`${{{MARK}}}`",
    f"<b>**bold** `<img src=x onerror={MARK}>` </b>", f"```\n<script>{MARK}</script>\n```", f"| <img src=x onerror={MARK}> | a |\n|---|---|\n| [x](javascript:{MARK}) | b |", f"1. <script>{MARK}</script>\n   - [y](vbscript:{MARK})",
]
assert len(PAYLOADS) >= 60


def hostile(browser, hook):
    """Puts each payload into everything that a person or a website can name, and opens every view of it."""
    batches = [PAYLOADS[start:start + 12] for start in range(0, len(PAYLOADS), 12)]
    titles = {f"/{index}": payload for index, payload in enumerate(PAYLOADS)}
    links = "".join(f'<a href="/{index}">{index}</a>' for index in range(len(PAYLOADS)))

    def pages(path, _body):
        if path == "/":
            return 200, "text/html", f"<title>Start</title><main>The start page of the site has many links. {links}</main>".encode()
        if path in titles:
            shown = titles[path].replace("&", "&amp;").replace("<", "&lt;")
            return 200, "text/html; charset=utf-8", f"<title>{shown}</title><main><h1>{shown}</h1><p>The pavilion number {path[1:]} shows {shown} all day.</p></main>".encode()
        return 404, "text/plain", b"not here"

    with site(pages) as address, console(browser) as page:
        settled(page)
        made = []
        for number, batch in enumerate(batches):
            agent = api("POST", "/v1/agents", {"name": batch[0][:100], "system_prompt": "\n".join(batch)[:4000]})["id"]
            made.append(agent)
            fill(agent, batch, f"{address}/" if number == 0 else None, number, hook)
            walk(page, agent)
            chat(browser, page, agent, batch, number)
        assert page.evaluate("window.__ran") is None, "a payload ran"
        for agent in made:
            api("DELETE", f"/v1/agents/{agent}")


def chat(browser, page, agent, batch, number):
    """A widget whose every word is a payload: in its settings, on a page of another origin, and on its own page."""
    plain = [" ".join(payload.split()) for payload in batch]
    texts = dict(zip(("placeholder", "send", "sources", "good", "bad", "new", "history", "reply", "you"), plain))
    fields = {"name": plain[0][:100], "title": plain[1][:60], "greeting": "\n\n".join(batch)[:500], "starters": [each[:100] for each in plain[:5]], "texts": {key: text[:300] for key, text in texts.items()}, "identity": "optional", "handoff": True, "lead": True}
    with widget.website() as site:
        made = api("POST", f"/v1/agents/{agent}/widgets", {**fields, "origins": [site]})
        go(page, f"#/agents/{agent}/conversations/{leave(made, plain)}")
        expect(page.get_by_role("region", name="Visitor")).to_contain_text(plain[3][:100])
        go(page, f"#/agents/{agent}/widgets")
        go(page, f"#/agents/{agent}/widgets/{made['id']}")
        expect(page.locator(".preview .log")).to_be_visible()
        for address in (f"{site}/{made['token']}?data-open", f"{SERVER}/chat/{made['token']}"):
            with widget.visit(browser, address) as visitor:
                for index in range(0, len(batch), 6):
                    visitor.locator("textarea").fill(f"Where is zebra{number}x{index}? {plain[index]}")
                    visitor.keyboard.press("Enter")
                    expect(visitor.locator(".rating")).to_have_count(index // 6 + 1)
                visitor.locator("header .list").click()
                expect(visitor.locator(".entry")).to_have_count(1)
                for link in visitor.locator("a").evaluate_all("links => links.map(link => link.href)"):
                    assert link.startswith(("http://", "https://", "mailto:")), link
                assert visitor.evaluate("window.__ran") is None, "a payload ran"
                assert visitor.locator(".panel").evaluate("panel => panel.querySelector('script, img, iframe, style, object, embed, base, meta, form form')") is None


def leave(made, plain):
    """A visitor whose name, wish and address are payloads; returns the conversation's id."""
    person = widget.signed(made["identity_secret"], sub=plain[0][:200], name=plain[1][:100], email="ada@museum.example")
    place = f"/w/{made['token']}"
    conversation = api("POST", f"{place}/messages", {"message": plain[2]}, key=person)["conversation_id"]
    api("PUT", f"{place}/conversations/{conversation}/handoff", {"message": plain[4]}, key=person)
    api("PUT", f"{place}/conversations/{conversation}/lead", {"email": "ada@museum.example", "name": plain[3][:100], "phone": plain[5][:40], "message": plain[6]}, key=person)
    return conversation


def upload(name, content):
    """Uploads a file with any name."""
    boundary = uuid.uuid4().hex
    quoted = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("\t", " ")
    body = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\nContent-Type: text/plain\r\n\r\n{content}\r\n--{boundary}--\r\n'.encode()
    return api("POST", "/v1/files", body, content_type=f"multipart/form-data; boundary={boundary}")["id"]


def fill(agent, batch, website, number, hook):
    """An agent with sources, conversations, a webhook and a key that carry the payloads."""
    sources = f"/v1/agents/{agent}/sources"
    if website:
        api("POST", sources, {"type": "website", "content": website, "crawl_subpages": True})
    pairs = [{"question": f"What is number {index}? {payload}"[:2000], "answer": f"Number {index} is {payload}"} for index, payload in enumerate(batch)]
    api("POST", sources, {"type": "qa", "content": json.dumps(pairs)})
    for index, payload in enumerate(batch):
        api("POST", sources, {"type": "text", "content": f"{payload}\n\nThe exhibit called zebra{number}x{index} is {payload} and stands in hall {index}."})
        if index % 3 == 0:
            api("POST", sources, {"type": "file", "content": upload(f"{payload[:80]}.txt", f"File {index} says {payload}")})
    trained(agent)
    for index, payload in enumerate(batch):
        reply = ask(agent, f"Where is zebra{number}x{index}? {payload}", metadata={payload.replace("\n", " ")[:40]: payload.replace("\n", " ")[:400]})
        if index < 3:
            api("PUT", f"/v1/conversations/{reply['conversation_id']}/messages/{reply['n']}/rating", {"value": "down", "comment": payload})
    if number < 4:
        endpoint = api("POST", "/v1/webhook_endpoints", {"url": f"{hook}/hook?x=%3Cscript%3E", "description": batch[1][:500]})["id"]
        api("POST", f"/v1/webhook_endpoints/{endpoint}/test")
    api("POST", "/v1/api_keys", {"name": batch[2][:100], "permissions": ["agents:read"], "agent_ids": [agent]})
    if has_route("put", "/v1/agents/{agent_id}/checks"):
        api("PUT", f"/v1/agents/{agent}/checks", {"checks": [{"question": payload, "contains": [payload[:200]]} for payload in batch]})


def walk(page, agent):
    """Opens every view of an agent, each source, some documents and conversations, and the citations."""
    base = f"#/agents/{agent}"
    for address in (base, f"{base}/playground", f"{base}/sources", f"{base}/conversations", f"{base}/gaps", f"{base}/checks", f"{base}/settings", "#/agents", "#/usage", "#/keys", "#/webhooks", "#/audit", "#/health"):
        go(page, address)
    for source in api("GET", f"/v1/agents/{agent}/sources?page_size=100")["data"][::4]:
        for show in ("", "pages" if source["type"] == "website" else "content"):
            go(page, f"{base}/sources/{source['id']}?show={show}")
        for document in api("GET", f"/v1/sources/{source['id']}/documents?page_size=100")["data"][::9]:
            go(page, f"{base}/sources/{source['id']}/documents/{document['id']}?passage=0")
            page.get_by_role("button", name="Text", exact=True).click()
    for endpoint in api("GET", "/v1/webhook_endpoints?page_size=1")["data"]:
        go(page, f"#/webhooks/{endpoint['id']}")
    for conversation in api("GET", f"/v1/agents/{agent}/conversations?page_size=100")["data"]:
        go(page, f"{base}/conversations/{conversation['id']}")
        citation = page.locator(".citation").first
        if citation.count():
            citation.click()
            expect(page.locator("dialog[open] .passage").first).to_be_visible()
            page.keyboard.press("Escape")
    for name in page.locator("main a[href]").evaluate_all("links => links.map(link => link.href)"):
        assert name.startswith(("http://", "https://", "mailto:")), name
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
