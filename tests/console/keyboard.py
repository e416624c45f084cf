"""The way of a newcomer without a pointer."""

from playwright.sync_api import expect
from world import KEY, api, console, trained

QUESTION = "When does the garden open?"


def reach(page, name, role=None, most=80):
    """Presses Tab until the element with this name has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "() => { const element = document.activeElement; return element === document.body ? ['', false] : [element.getAttribute('aria-label') || (element.labels?.[0] || element).textContent.trim().replace(/\\s+/g, ' '), element.matches(':focus-visible')]; }"
        )
        if name in focused[0]:
            assert focused[1], f"the focus on {name} is not visible"
            return
    raise AssertionError(f"{name} was not reached by Tab")


def keyboard(browser):
    """Signs in, makes an agent, adds a text, asks and opens the source, by keys alone."""
    with console(browser, key="") as page:
        expect(page.get_by_label("API key")).to_be_visible()
        reach(page, "API key")
        page.keyboard.type(KEY)
        page.keyboard.press("Enter")
        page.wait_for_selector(".frame")
        page.keyboard.press("Control+k")
        page.keyboard.type("create an agent")
        page.keyboard.press("Enter")
        expect(page.locator("dialog[open] [name=name]")).to_be_focused()
        page.keyboard.type("Garden")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Sources", exact=True)).to_be_focused()
        agent = page.evaluate("location.hash.split('/')[2]")
        page.keyboard.press("Control+k")
        page.keyboard.type("add a text")
        page.keyboard.press("Enter")
        expect(page.locator("dialog[open] textarea")).to_be_focused()
        page.keyboard.type("The garden opens at seven. The roses bloom in June.")
        page.keyboard.press("Control+Enter")
        expect(page.locator("dialog[open]")).to_have_count(0)
        trained(agent)
        page.keyboard.press("g")
        page.keyboard.press("p")
        expect(page.get_by_role("heading", name="Playground")).to_be_focused()
        page.keyboard.press("/")
        page.keyboard.type(QUESTION)
        page.keyboard.press("Enter")
        expect(page.locator(".message.assistant .citation")).to_be_visible()
        page.get_by_role("heading", name="Playground").focus()
        reach(page, "The garden opens")
        page.keyboard.press("Enter")
        expect(page.locator("dialog mark")).to_contain_text("opens at seven")
        # The focus stays inside the panel, and returns to where it was.
        for _ in range(6):
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')"), "the focus left the panel"
        page.keyboard.press("Escape")
        expect(page.locator(".citation").first).to_be_focused()
        page.keyboard.press("Control+k")
        page.keyboard.type("settings")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_focused()
        page.keyboard.press("?")
        expect(page.locator("dialog[open]")).to_contain_text("Ctrl")
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
        api("DELETE", f"/v1/agents/{agent}")
