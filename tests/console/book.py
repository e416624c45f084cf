"""The book at /docs with a widget that answers from the book itself."""

import re
import urllib.error
import urllib.request

from playwright.sync_api import expect

import widget
import world
from world import SERVER, api, trained


def proxy(path, _body):
    """A server requests everything but its own address, so its book is read through a proxy, as that of a real server is."""
    try:
        with urllib.request.urlopen(SERVER + path, timeout=30) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as error:
        return error.code, "application/json", error.read()


def book(browser):
    """Asks on a page of the book. The server has an agent "Book", whose widget its setting `http.book_widget` names."""
    agent = next(agent["id"] for agent in api("GET", "/v1/agents")["data"] if agent["name"] == "Book")
    with world.site(proxy) as address:
        api("POST", f"/v1/agents/{agent}/sources", {"type": "website", "content": f"{address}/docs/introduction", "crawl_subpages": True})
        trained(agent)
    with widget.visit(browser, f"{SERVER}/docs/websites") as page:
        page.get_by_role("button", name="Open the chat").click()
        page.keyboard.type("and/or")
        expect(page.get_by_label("Your message")).to_have_value("and/or")
        widget.ask(page, "What does plan exit with if there is something to do?", "2")
        expect(page.locator(".sources a").first).to_have_attribute("href", re.compile(rf"{address}/docs/[a-z-]+"))
