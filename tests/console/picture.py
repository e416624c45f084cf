"""The pictures of the README: in the console, a question, its reply, and the source at the sentence; the widget on a website. Both in both schemes."""

import pathlib
import sys

from playwright.sync_api import expect, sync_playwright

import museum
import widget
import world

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "picture"
SITE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Museum by the sea</title><style>
:root { color-scheme: light dark; font: 17px/1.6 Inter, sans-serif; color: light-dark(#1d2a33, #d7dfe4); background: light-dark(#f6f4ef, #0f1416); } body { margin: 0 4.5rem; max-width: 36rem; }
nav { display: flex; gap: 1.75rem; padding: 2rem 0 3.5rem; font-size: .875rem; color: light-dark(#5b6a73, #94a3ab); } nav b { margin-right: auto; color: light-dark(#1d2a33, #d7dfe4); letter-spacing: -.01em; }
h1 { font-size: 3.1rem; line-height: 1.08; letter-spacing: -.035em; margin: 0 0 1.25rem; } p { margin: 0 0 1.5rem; max-width: 30rem; } i { display: block; height: 12rem; border-radius: 1rem; background: linear-gradient(light-dark(#cfe0e6, #1b2c34) 58%, light-dark(#7fa6b3, #28505e) 58%); }
</style><nav><b>Museum by the sea</b><span>Visit</span><span>Exhibitions</span><span>Garden</span></nav><h1>Boats, storms and a lamp that never went out</h1><p>Two hundred years of life on the coast, in the old lifeboat station beneath the tower.</p><i></i>
<script src="SERVER/widget.js" data-token="TOKEN" data-open async></script></html>"""
QUESTIONS = ("What is the lifeboat called?", "When does the museum open?")


def main():
    with sync_playwright() as playwright, world.site(museum.pages) as site, world.site(lambda *_: (204, "text/plain", b"")) as hook:
        browser = world.launch(playwright)
        agent = museum.build(site, f"{hook}/hook")["agent"]
        for scheme in ("light", "dark"):
            with world.console(browser, scheme=scheme, width=1280, height=640) as page:
                world.go(page, f"#/agents/{agent}/playground")
                for asked, question in enumerate(QUESTIONS, 1):
                    page.get_by_label("Your question").fill(question)
                    page.keyboard.press("Enter")
                    expect(page.locator(".message.assistant .citations")).to_have_count(asked)
                page.locator(".citation").last.click()
                expect(page.locator("dialog mark")).to_be_visible()
                page.evaluate("document.activeElement.blur()")
                page.screenshot(path=FOLDER / f"console-{scheme}.png")
            embedded(browser, agent, scheme)
        browser.close()


def embedded(browser, agent, scheme):
    """The widget on the museum's website."""
    looks = {"greeting": "Hello! Ask me about your visit.", "handoff": True, "appearance": {"accent": "#1f7a61", "scheme": "auto", "position": "right"}}
    token = widget.make(agent, origins=["*"], **looks)["token"]
    content = SITE.replace("SERVER", world.SERVER).replace("TOKEN", token).encode()
    with world.site(lambda *_: (200, "text/html", content)) as site, widget.visit(browser, site, width=1280, height=640, color_scheme=scheme) as page:
        for question in ("When does the museum open?", "Are dogs allowed?"):
            widget.ask(page, question)
        page.evaluate("document.activeElement.blur()")
        page.screenshot(path=FOLDER / f"widget-{scheme}.png")


if __name__ == "__main__":
    sys.exit(main())
