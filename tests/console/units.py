"""Modules that compute something, with their own inputs: tables, Markdown, marks, addresses, and the limits of the contract."""

import json
import re

from world import api, console

CSV = [
    ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
    ('"a, ""x""\nz",b\r\n\r\nc,d\r\n', [['a, "x"\nz', "b"], ["c", "d"]]),
    ("a, with a comma\tb; c\nd\te", [["a, with a comma", "b; c"], ["d", "e"]]),
    ("a;b\nc;d,e", [["a", "b"], ["c", "d,e"]]),
    ("\ufeffa,b", [["a", "b"]]),
    ("", []),
]
GERMAN = "Haben Sie geöffnet?;Ja, für 5 €\r\n"
# What is pasted into a question, and the pairs that it is split into.
COPIED = [
    ("a\tb\nc\td\n", [["a", "b"], ["c", "d"]]),
    ('a\t"one\ntwo, three"', [["a", "one\ntwo, three"]]),
    ("Do you open late?\nYes, on Sundays, until ten.", []),
    ("def open():\n\treturn 9", []),
    ("one question, with a comma", []),
]
MARKDOWN = [
    ("one\ntwo\n\nthree", "<p>one\ntwo</p><p>three</p>"),
    ("# Title\n\n- a\n- b\n  - c\n\n1. x\n2. y", "<h1>Title</h1><ul><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul></li></ul><ol1><li><p>x</p></li><li><p>y</p></li></ol1>"),
    ("**bold** and *soft*, __too__ and _so_, snake_case_name", "<p><b>bold</b> and <i>soft</i>, <b>too</b> and <i>so</i>, snake_case_name</p>"),
    ("`a*b*` and ``x ` y``", "<p><c>a*b*</c> and <c>x ` y</c></p>"),
    ("```js\n<b>\n```\nafter", "<pre><b></pre><p>after</p>"),
    ("[text](https://a.example/x_(y)) https://b.example/z.", "<p><a https://a.example/x_(y)>text</a> <a https://b.example/z>https://b.example/z</a>.</p>"),
    ("[text](javascript:alert(1)) [x](/local)", "<p>[text](javascript:alert(1)) [x](/local)</p>"),
    ("> quoted\n> more", "<q><p>quoted\nmore</p></q>"),
    ("| a | b |\n|---|---|\n| 1 | 2 |", "<table>a|b/1|2</table>"),
    ("a  \nb\\*c", "<p>a<br>b*c</p>"),
    ("---", "<hr>"),
    ("*" * 5000, None),
    ("[" * 3000 + "a" + "](b)" * 3000, None),
    ("> " * 2000 + "deep", None),
    ("``a` b", "<p>``a` b</p>"),
]
# Texts that would take minutes if the time were not linear in their length.
MARKDOWN += [
    (text, None)
    for text in ["`" * 100_000, "a".join("`" * length for length in range(400)), "[a](https:" + "x" * 100_000, "[a](" + " " * 100_000, "# " + "#" * 100_000 + "a", "# " + " " * 100_000 + "a\u2028b", "|\n" + " " * 100_000 + "x", "|\n" + "|-" * 50_000 + "x", "- " * 50_000 + "x"]
]
MARKS = [
    ("The museum opens at nine. On Mondays it is closed.", "The museum opens at nine.", ["The museum opens at nine."]),
    ("The museum opens at nine. On Mondays it is closed.", "It opens at nine, the museum.", ["The museum opens at nine."]),
    ("Nothing here is shared.", "Entirely different words follow", []),
    ("博物館は九時に開きます。月曜日は休館です。", "博物館は九時に開きます。", ["博物館は九時に開きます。"]),
]
DRAW = """
const inline = part => ({ text: () => part.text, code: () => `<c>${part.text}</c>`, break: () => '<br>', strong: () => `<b>${all(part.children)}</b>`, emphasis: () => `<i>${all(part.children)}</i>`, link: () => `<a ${part.url}>${all(part.children)}</a>` })[part.kind]();
const all = parts => (parts || []).map(inline).join('');
const block = part => ({ paragraph: () => `<p>${all(part.inlines)}</p>`, heading: () => `<h${part.level}>${all(part.inlines)}</h${part.level}>`, code: () => `<pre>${part.text}</pre>`, quote: () => `<q>${part.blocks.map(block).join('')}</q>`, rule: () => '<hr>',
  table: () => `<table>${part.rows.map(row => row.map(all).join('|')).join('/')}</table>`, list: () => { const name = part.ordered ? `ol${part.first}` : 'ul'; return `<${name}>${part.items.map(item => `<li>${item.map(block).join('')}</li>`).join('')}</${name}>`; } })[part.kind]();
"""


DRAW_NODES = """
config => { const host = document.createElement('div');
  window.ciceronePreview({ credential: null }, config, 'inline', host);
  const all = node => [...node.childNodes].map(one).join('');
  const one = node => node.nodeType === 3 ? node.data : ({ A: () => `<a ${node.getAttribute('href')}>${all(node)}</a>`, STRONG: () => `<b>${all(node)}</b>`, EM: () => `<i>${all(node)}</i>`, CODE: () => node.parentElement.tagName === 'PRE' ? all(node) : `<c>${all(node)}</c>`, BR: () => '<br>', HR: () => '<hr>',
    PRE: () => `<pre>${all(node)}</pre>`, BLOCKQUOTE: () => `<q>${all(node)}</q>`, OL: () => `<ol${node.start}>${all(node)}</ol${node.start}>`, UL: () => `<ul>${all(node)}</ul>`, LI: () => `<li>${all(node)}</li>`, P: () => `<p>${all(node)}</p>`,
    DIV: () => `<table>${[...node.querySelectorAll('tr')].map(row => [...row.cells].map(all).join('|')).join('/')}</table>` })[node.tagName]();
  return all(host.shadowRoot.querySelector('.prose')); }
"""


AGAIN = """
async base => { const [{ Paged }, { ApiError }, { session }] = await Promise.all(['load', 'api', 'session'].map(each => import(`${base}lib/${each}.js`)));
  const { api } = session;
  let fails = false, asked = 0;
  session.api = { get: async () => { asked += 1; if (fails) throw new ApiError(0, {}); return { data: [{ id: 'a' }], has_more: false }; } };
  const list = new Paged({ signal: new AbortController().signal, update() {} }, 'v1/agents');
  const states = [];
  for (const work of [() => {}, () => { fails = true; return list.reload(); }, () => { fails = false; return list.again(); }]) {
    await work();
    await new Promise(resolve => setTimeout(resolve, 0));
    states.push([Boolean(list.error), asked]);
  }
  session.api = api;
  return states; }
"""


def units(browser):
    """Imports the modules that the page has loaded, and calls them."""
    with console(browser, key="") as page:
        base = page.locator('script[type="module"]').evaluate("script => script.src.replace('app.js', '')")

        def call(module, code, argument):
            return page.evaluate(f"argument => import({json.dumps(base + module)}).then(module => {{ {code} }})", argument)

        for text, rows in CSV:
            got = call("lib/csv.js", "return module.parse(argument);", text)
            assert got == rows, (text, got)
        headed = call("lib/csv.js", "return module.pairs(argument);", "Question,Answer\nWhy?,Because")
        assert headed == [{"question": "Why?", "answer": "Because"}], headed
        for text, found in COPIED:
            got = call("lib/csv.js", "return module.copied(argument).map(pair => [pair.question, pair.answer]);", text)
            assert got == found, (text, got)
        for coding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"):
            content = list((b"\xfe\xff" if coding == "utf-16-be" else b"") + GERMAN.encode(coding))
            got = call("lib/csv.js", "return module.decode(new Uint8Array(argument).buffer);", content)
            assert got == GERMAN, (coding, got)
        for text, drawn in MARKDOWN:
            got = call("ui/markdown.js", DRAW + "return module.blocks(argument).map(block).join('');", text)
            assert drawn is None or got == drawn, (text, got)
        shared_markdown(page, call)
        for passage, reply, marked in MARKS:
            got = call("lib/marking.js", "const pieces = module.mark(argument[0], argument[1]); return [pieces.map(piece => piece.text).join(''), pieces.filter(piece => piece.isMarked).map(piece => piece.text)];", [passage, reply])
            assert got == [passage, marked], (passage, got)
        got = call("lib/router.js", "return [module.to(['a b', '/x'], { q: 'ä&', none: '' }), module.match('/a/:x', '/a/%2Fy'), module.match('/a/:x', '/a/'), module.match('/a/:x', '/a/%')];", None)
        assert got == ["#/a%20b/%2Fx?q=%C3%A4%26", {"x": "/y"}, None, None], got
        waits = call("lib/format.js", "return [1, 119, 120, 3600, 7200, 86399].map(module.duration);", None)
        assert waits == ["1 s", "119 s", "2 minutes", "60 minutes", "2 hours", "24 hours"], waits
        assert call("lib/format.js", "return ['x', null, ''].map(module.beginOf);", None) == ["x", None, ""]
        # A list of one page that could not be read again is read again.
        assert page.evaluate(AGAIN, base) == [[False, 1], [True, 2], [False, 3]]
        limits(call("lib/limits.js", "return module.LIMITS;", None))


def shared_markdown(page, call):
    """The widget draws the same texts alike. It is no module, so it is asked through a greeting."""
    if page.evaluate("fetch('widget.js').then(answer => answer.status)") != 200:
        return
    page.evaluate("import(new URL('widget.js', document.baseURI).href)")
    looks = {"starters": [], "language": "en", "appearance": {"accent": "#2f5bd7", "scheme": "auto", "position": "right"}, "texts": {}, "title": "x"}
    for text, drawn in MARKDOWN:
        got = page.evaluate(DRAW_NODES, {**looks, "greeting": text})
        # In the widget, a heading is a paragraph in bold, and a list's only paragraph is the item itself.
        wanted = drawn and re.sub(r"<h\d>(.*?)</h\d>", r"<p><b>\1</b></p>", re.sub(r"<li><p>([^<]*)</p></li>", r"<li>\1</li>", drawn))
        assert wanted is None or got == wanted, (text, got)


def limits(shown):
    """The limits that fields show are those of the contract."""
    schemas = api("GET", "/v1/openapi.json")["components"]["schemas"]
    agent, endpoint = schemas["CreateAgent"]["properties"], schemas["CreateWebhookEndpoint"]["properties"]
    website, text, _, pairs = (choice["properties"]["content"] for choice in schemas["CreateSource"]["oneOf"])
    pairs = pairs["contentSchema"]
    contract = {
        "name": agent["name"]["maxLength"], "system_prompt": agent["system_prompt"]["maxLength"], "max_tokens": agent["max_tokens"]["maximum"], "temperature": agent["temperature"]["maximum"],
        "retention_days": agent["retention_days"]["maximum"], "message": schemas["SendMessage"]["properties"]["message"]["maxLength"], "text": text["maxLength"], "url": website["maxLength"],
        "pairs": pairs["maxItems"], "question": pairs["items"]["properties"]["question"]["maxLength"], "comment": schemas["Rate"]["properties"]["comment"]["maxLength"], "description": endpoint["description"]["maxLength"], "search": 200,
    }
    contract |= widget_limits(schemas)
    assert shown == {**shown, **contract} and shown.keys() - contract.keys() <= WIDGET_LIMITS, (shown, contract)


WIDGET_LIMITS = {"origins", "title", "greeting", "starters", "starter", "language", "texts", "widget_text", "messages_per_day", "messages_per_visitor_per_hour", "messages_per_address_per_minute", "replies_at_once"}


def widget_limits(schemas):
    """Those of widgets, as far as the contract has them."""

    def whole(schema):
        for choice in [schema, *schema.get("oneOf", []), *schema.get("allOf", [])]:
            if "$ref" in choice:
                return whole(schemas[choice["$ref"].split("/")[-1]])
        return schema

    fields = next((schema["properties"] for name, schema in schemas.items() if name.startswith("Create") and "starters" in schema.get("properties", {})), {})
    fields = {name: whole(schema) for name, schema in fields.items()}
    found = {name: fields[name].get("maxItems") or fields[name].get("maxLength") or fields[name].get("maxProperties") for name in ("origins", "title", "greeting", "starters", "language", "texts") if name in fields}
    if fields:
        found["starter"] = fields["starters"]["items"].get("maxLength")
        found |= {name: whole(schema).get("maximum") for name, schema in fields["limits"].get("properties", {}).items()}
    return {name: limit for name, limit in found.items() if limit is not None}
