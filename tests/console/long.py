"""Names and replies without a place to break them make nothing wider than the window, nor the menu wider than its column."""

import json

from playwright.sync_api import expect
from world import BROKEN, TABLE, api, console, go

NAME = "W" * 100
REPLY = "Here it is:\n\n```\n" + "x" * 400 + "\n```\n\n| a | b |\n|---|---|\n| " + "y" * 300 + " | z |\n\n" + TABLE
VIEWS = ("", "/playground", "/sources", "/conversations", "/gaps", "/checks", "/widgets", "/settings")
# What sticks out, unless it scrolls by itself.
WIDER = """() => { const menu = document.querySelector('.sidebar');
    return [document.documentElement.scrollWidth > innerWidth && 'the page', menu.scrollWidth > menu.clientWidth && 'the menu'].filter(Boolean); }"""


def streamed(text):
    """A reply as the server streams it."""
    done = {"conversation_id": "conv_0000000000", "n": 2, "sources_used": []}
    return "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in (("token", {"content": text}), ("done", done)))


def long(browser):
    agent = api("POST", "/v1/agents", {"name": NAME})["id"]
    for width in (1280, 360):
        with console(browser, width=width, height=760, allowed=("net::ERR",)) as page:
            for view in VIEWS:
                go(page, f"#/agents/{agent}{view}")
                assert not page.evaluate(WIDER), (width, view, page.evaluate(WIDER))
            go(page, f"#/agents/{agent}/sources")
            page.route("**/v1/files", lambda route: route.abort())
            page.locator("input[name=first-files]").set_input_files({"name": "w" * 200 + ".txt", "mimeType": "text/plain", "buffer": b"x"})
            expect(page.get_by_role("button", name="Send again")).to_be_visible()
            assert not page.evaluate(WIDER), (width, "uploads")
            page.get_by_role("button", name="Forget").click()
            go(page, f"#/agents/{agent}/playground")
            page.route("**/v1/conversations", lambda route: route.fulfill(content_type="text/event-stream", body=streamed(REPLY)))
            page.get_by_label("Your question").fill("q" * 400)
            page.keyboard.press("Enter")
            expect(page.locator(".message pre")).to_be_visible()
            expect(page.locator(".message[aria-busy]")).to_have_count(0)
            assert not page.evaluate(WIDER), (width, "reply")
            # A table scrolls instead of dividing its words.
            assert not page.locator(".message table").last.locator("th, td").evaluate_all(BROKEN), width
            pre = page.locator(".message pre").evaluate("each => each.scrollWidth > each.clientWidth")
            assert pre, "the code scrolls by itself"
    api("DELETE", f"/v1/agents/{agent}")
