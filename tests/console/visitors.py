"""The widget under people's hands: the focus is never lost, nothing is sent twice, pages of one visitor agree, and small windows show all of it."""

from playwright.sync_api import expect
from widget import OPENS, TEXTS, ask, make, visit, website
from world import api, text, trained


def visitors(browser):
    """All of it."""
    agent = api("POST", "/v1/agents", {"name": "Museum guide"})["id"]
    text(agent, TEXTS)
    trained(agent)
    with website() as site:
        made = make(agent, origins=[site], starters=[OPENS], handoff=True, lead=True)
        focus(browser, site, made)
        refused_visitor(browser, site, make(agent, origins=[site], identity="required"))
        once(browser, site, made)
        two_pages(browser, site, make(agent, origins=[site]))
        rotated(browser, site, make(agent, origins=[site]))
        small(browser, site, make(agent, origins=[site], handoff=True, lead=True, title="Museum by the sea, the guide"))
    api("DELETE", f"/v1/agents/{agent}")


def press(page, name):
    page.get_by_role("button", name=name, exact=True).focus()
    page.keyboard.press("Enter")


def focus(browser, site, made):
    """Whatever is pressed, the keyboard goes on in the panel, and Escape closes it."""
    with visit(browser, f"{site}/{made['token']}", allowed=("net::ERR",)) as page:
        message, replies = page.get_by_label("Your message"), page.locator(".rating")
        press(page, "Open the chat")
        press(page, OPENS)
        expect(replies).to_have_count(1)
        expect(message).to_be_focused()
        message.fill("Are dogs allowed?")
        press(page, "Send")
        expect(replies).to_have_count(2)
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_focused()
        page.route("**/messages", lambda route: route.abort(), times=1)
        message.fill(OPENS)
        page.keyboard.press("Tab")
        press(page, "Send")
        press(page, "Try again")
        expect(replies).to_have_count(3)
        expect(message).to_be_focused()
        press(page, "Ask for a person")
        expect(page.locator(".event")).to_be_visible()
        expect(message).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Open the chat")).to_be_focused()


def refused_visitor(browser, site, made):
    """A visitor who is not signed in can close what opened."""
    with visit(browser, f"{site}/{made['token']}", width=400) as page:
        press(page, "Open the chat")
        expect(page.get_by_role("heading", name="Museum guide")).to_be_focused()
        # The focus does not leave it for what it covers.
        for _ in range(6):
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.shadowRoot !== null"), "the focus is behind the widget"
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Open the chat")).to_be_focused()


def once(browser, site, made):
    """A double click asks for one person, and leaves one address."""
    with visit(browser, f"{site}/{made['token']}?data-open") as page:
        sent = []
        page.on("request", lambda request: sent.append(request.url.rsplit("/", 1)[1]) if request.method == "PUT" else None)
        ask(page, OPENS)
        page.get_by_role("button", name="Ask for a person").dblclick()
        expect(page.locator(".event")).to_have_count(1)
        page.get_by_role("button", name="Leave your address").click()
        page.get_by_label("Email").fill("ada@museum.example")
        page.get_by_role("button", name="Send", exact=True).dblclick()
        expect(page.locator(".event")).to_have_count(2)
        page.get_by_role("button", name="Good reply").first.dblclick()
        expect(page.get_by_role("button", name="Good reply").first).to_have_attribute("aria-pressed", "true")
        assert sent == ["handoff", "lead", "rating"], sent


def two_pages(browser, site, made):
    """Two pages that a visitor had open before the first message are of one visitor."""
    with visit(browser, f"{site}/{made['token']}?data-open") as page:
        other = page.context.new_page()
        other.goto(f"{site}/{made['token']}?data-open")
        expect(other.get_by_label("Your message")).to_be_visible()
        ask(page, OPENS)
        kept = page.evaluate("localStorage[Object.keys(localStorage)[0]]")
        ask(other, "Are dogs allowed?")
        assert page.evaluate("localStorage[Object.keys(localStorage)[0]]") == kept
        other.get_by_role("button", name="Conversations").click()
        expect(other.locator(".entry")).to_have_count(2)


def rotated(browser, site, made):
    """A page that was open when its token was replaced says so."""
    with visit(browser, f"{site}/{made['token']}?data-open", allowed=("status of 404",)) as page:
        ask(page, OPENS)
        api("POST", f"/v1/widgets/{made['id']}/rotate_token", {"keep_seconds": 0})
        # The server remembers a token that was found for less than a second.
        page.wait_for_timeout(1_100)
        page.get_by_label("Your message").fill("Are dogs allowed?")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("This chat is not available")


def small(browser, site, made):
    """At 400 % on a usual screen, everything can be reached."""
    with visit(browser, f"{site}/{made['token']}?data-open", width=320, height=256, allowed=("net::ERR",)) as page:
        ask(page, OPENS)
        page.route("**/messages", lambda route: route.abort(), times=1)
        page.get_by_label("Your message").fill("Are dogs allowed?")
        page.keyboard.press("Enter")
        for name in ("Try again", "Ask for a person", "Leave your address", "Send", "New conversation", "Close"):
            page.get_by_role("button", name=name, exact=True).click(trial=True)
        page.get_by_label("Your message").click(trial=True)
        assert page.locator(".log").evaluate("each => each.clientHeight") >= 80
    with visit(browser, f"{site}/{made['token']}?data-open") as page:
        ask(page, OPENS)
        assert page.locator(".panel").evaluate("each => each.scrollHeight - each.clientHeight") == 0, "the panel itself scrolls"
