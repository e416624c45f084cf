"""Modules that compute something, with their own inputs: tables, Markdown, marks, addresses, and the limits of the contract."""

import json

from world import api, console

CSV = [
    ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
    ('"a, ""x""\nz",b\r\n\r\nc,d\r\n', [['a, "x"\nz', "b"], ["c", "d"]]),
    ("a, with a comma\tb; c\nd\te", [["a, with a comma", "b; c"], ["d", "e"]]),
    ("a;b\nc;d,e", [["a", "b"], ["c", "d,e"]]),
    ("\ufeffa,b", [["a", "b"]]),
    ("", []),
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
        for text, drawn in MARKDOWN:
            got = call("ui/markdown.js", DRAW + "return module.blocks(argument).map(block).join('');", text)
            assert drawn is None or got == drawn, (text, got)
        for passage, reply, marked in MARKS:
            got = call("lib/marking.js", "const pieces = module.mark(argument[0], argument[1]); return [pieces.map(piece => piece.text).join(''), pieces.filter(piece => piece.isMarked).map(piece => piece.text)];", [passage, reply])
            assert got == [passage, marked], (passage, got)
        got = call("lib/router.js", "return [module.to(['a b', '/x'], { q: 'ä&', none: '' }), module.match('/a/:x', '/a/%2Fy'), module.match('/a/:x', '/a/'), module.match('/a/:x', '/a/%')];", None)
        assert got == ["#/a%20b/%2Fx?q=%C3%A4%26", {"x": "/y"}, None, None], got
        limits(call("lib/limits.js", "return module.LIMITS;", None))


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
    assert shown == contract, (shown, contract)
