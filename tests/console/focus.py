"""Whatever is pressed with the keyboard, the focus stays there or goes to what is nearest; it is never lost."""

import contextlib

from playwright.sync_api import expect
from world import api, console, go, settled, trained

FOCUSED = "() => { const element = document.activeElement; return element === document.body ? '' : element.getAttribute('aria-label') || (element.labels?.[0] || element).textContent.trim().replace(/\\s+/g, ' '); }"


def focus(browser):
    agent = api("POST", "/v1/agents", {"name": "Pier"})["id"]
    for text in ("The pier closes at ten.", "The kiosk sells ice.", "The boats leave at noon."):
        api("POST", f"/v1/agents/{agent}/sources", {"type": "text", "content": text})
    trained(agent)
    with console(browser) as page:
        settings(page, agent)
        sources(page, agent)
        checks(page, agent)
        playground(page, agent)
    with console(browser, width=360, height=760) as page:
        menu(page, agent)
    for width in (1280, 360):
        with console(browser, width=width, height=480) as page:
            uncovered(page, agent)
    api("DELETE", f"/v1/agents/{agent}")


def press(page, button):
    """Presses a button with the keyboard."""
    button.focus()
    page.keyboard.press("Enter")


def settings(page, agent):
    go(page, f"#/agents/{agent}/settings")
    save = page.get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    page.get_by_label("Instructions").fill("Be brief.")
    press(page, save)
    expect(page.get_by_text("Nothing has been changed.")).to_be_visible()
    expect(save).to_be_focused()
    # A button that is disabled does nothing.
    with quiet(page, "PATCH"):
        page.keyboard.press("Enter")
        page.wait_for_timeout(200)
    page.get_by_label("Instructions").fill("Be briefer.")
    press(page, page.get_by_role("button", name="Discard changes"))
    expect(save).to_be_focused()
    press(page, page.get_by_role("button", name="Pause"))
    expect(page.get_by_role("button", name="Activate")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Pause")).to_be_focused()


@contextlib.contextmanager
def quiet(page, method):
    """Fails if a request with this method is sent."""
    sent = []
    note = lambda request: sent.append(request.url) if request.method == method else None
    page.on("request", note)
    yield
    page.remove_listener("request", note)
    assert not sent, sent


def sources(page, agent):
    go(page, f"#/agents/{agent}/sources")
    press(page, page.get_by_role("button", name="Delete The kiosk"))
    press(page, page.get_by_role("dialog").get_by_role("button", name="Delete source"))
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.locator("dialog")).to_have_count(0)
    # What has moved up to its place.
    expect(page.get_by_role("link", name="The pier closes")).to_be_focused()
    # A dialog that is closed without having done anything.
    press(page, page.get_by_role("button", name="Add content"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Add content")).to_be_focused()


def checks(page, agent):
    go(page, f"#/agents/{agent}/checks")
    press(page, page.get_by_role("button", name="Write the first check"))
    expect(page.get_by_label("Question 1")).to_be_focused()
    press(page, page.get_by_role("button", name="Remove check 1"))
    expect(page.get_by_role("button", name="Write the first check")).to_be_focused()


def playground(page, agent):
    go(page, f"#/agents/{agent}/playground")
    page.get_by_label("Your question").fill("When does the pier close?")
    press(page, page.get_by_role("button", name="Ask", exact=True))
    expect(page.locator(".message.assistant .citation")).to_be_visible()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_focused()
    page.get_by_label("Your question").fill("Where can I buy umbrellas?")
    page.keyboard.press("Enter")
    expect(page.locator(".message.assistant").last).to_contain_text("do not cover")
    go(page, f"#/agents/{agent}/gaps")
    gap = page.locator(".entries > li", has_text="umbrellas")
    for _ in range(60):
        settled(page)
        again = page.get_by_role("button", name="Read again")
        if gap.count() or not again.count():
            break
        press(page, again)
        page.wait_for_timeout(500)
    press(page, gap.get_by_role("button", name="Dismiss"))
    expect(gap).to_have_count(0)
    assert page.evaluate(FOCUSED), "the focus is lost"


def menu(page, agent):
    go(page, f"#/agents/{agent}")
    press(page, page.get_by_role("button", name="Menu"))
    page.get_by_role("link", name="Checks").focus()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Menu")).to_be_focused()


# Whether something else is drawn where an element begins or ends, as far as it can be seen.
COVERED = """() => { const element = document.activeElement, { left, top, right, bottom } = element.getBoundingClientRect();
  return [Math.max(top, 0) + 2, Math.min(bottom, innerHeight) - 2].some(y => { const hit = document.elementFromPoint((left + right) / 2, y); return !hit || !(element.contains(hit) || hit.contains(element) || element.labels?.[0]?.contains(hit)); }); }"""


def uncovered(page, agent):
    """What gets the focus is not behind the bar at the top, or that with the buttons; a text of many lines may be taller than what is between them."""
    go(page, f"#/agents/{agent}/settings")
    for key in ("Tab", "Shift+Tab"):
        for _ in range(40):
            page.keyboard.press(key)
            if page.evaluate("document.activeElement.matches('fieldset :not(textarea)')"):
                assert not page.evaluate(COVERED), (key, page.evaluate(FOCUSED))
