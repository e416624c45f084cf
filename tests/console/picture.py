"""The pictures of the README: a question, its reply, and the source at the sentence, in both schemes."""

import pathlib
import sys

from playwright.sync_api import expect, sync_playwright

import museum
import world

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "picture"
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
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
