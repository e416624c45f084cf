"""Long lists: nothing is left out without a word, and people find their place again."""

import re

from playwright.sync_api import expect
from world import api, ask, console, go, settled


def lists(browser):
    agent = api("POST", "/v1/agents", {"name": "Library"})["id"]
    with console(browser) as page:
        gaps(page, agent)
        restriction(page)
        many(page)
        back(page, agent)
    api("DELETE", f"/v1/agents/{agent}")


def gaps(page, agent):
    """The API lists 100 gaps; the next one moves up when one of them is dismissed."""
    time = "2026-01-01T00:00:00Z"
    known = [{"id": f"gap_{number}", "question": f"Question {number}?", "status": "open", "count": 1, "unanswered": 1, "rated_down": 0, "source_id": None, "examples": [], "last_asked_at": time} for number in range(101)]

    def answer(route):
        if route.request.method == "PATCH":
            known[:] = [each for each in known if not route.request.url.endswith(each["id"])]
            return route.fulfill(json={})
        return route.fulfill(json={"data": known[:100], "ungrouped": 0})

    page.route("**/gaps*", answer)
    page.route("**/gaps/*", answer)
    go(page, f"#/agents/{agent}/gaps")
    expect(page.get_by_text("the 100 most frequent")).to_be_visible()
    page.get_by_role("button", name="Dismiss").first.click()
    expect(page.get_by_text("Question 100?")).to_be_visible()
    expect(page.get_by_text("Question 0?")).to_have_count(0)
    page.get_by_role("button", name="Dismiss").first.click()
    expect(page.locator(".entries > li")).to_have_count(99)
    expect(page.get_by_text("the 100 most frequent")).to_have_count(0)
    page.unroute("**/gaps*")
    page.unroute("**/gaps/*")


def restriction(page):
    """A key can be restricted to agents that are still being read when its form is opened."""
    waiting = []
    page.route("**/v1/agents?*", lambda route: waiting.append(route))
    page.evaluate("location.hash = '#/keys'")
    page.get_by_role("button", name="New key").click()
    agents = page.get_by_role("group", name="Agents")
    expect(agents.locator(".waiting")).to_be_visible()
    waiting.pop().fulfill(status=500, json={"error": {"code": "internal_error", "message": "something failed"}})
    expect(agents.get_by_role("alert")).to_be_visible()
    page.unroute("**/v1/agents?*")
    agents.get_by_role("button", name="Try again").click()
    expect(agents.get_by_label("Library")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()


def many(page):
    """Each of many agents is found by its name: in their view, in the palette, and to be compared with."""
    made = [api("POST", "/v1/agents", {"name": f"Branch {number}"})["id"] for number in range(110)]
    go(page, "#/agents")
    expect(page.locator(".tile")).to_have_count(50)
    expect(page.get_by_role("link", name="Open Branch 3", exact=True)).to_have_count(0)
    page.get_by_label("Name").fill("branch 3")
    expect(page.locator(".tile")).to_have_count(sum("3" in str(number) for number in range(110)))
    expect(page.get_by_role("link", name="Open Branch 3", exact=True)).to_be_visible()
    page.get_by_label("Name").fill("no such branch")
    expect(page.get_by_text("No matches")).to_be_visible()
    # It is there again after Back.
    page.get_by_label("Name").fill("branch 100")
    page.get_by_role("link", name="Open Branch 100").click()
    expect(page.get_by_role("heading", name="Branch 100")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Name")).to_have_value("branch 100")
    expect(page.locator(".tile")).to_have_count(1)
    page.keyboard.press("Control+k")
    page.keyboard.type("branch 3")
    expect(page.locator(".commands").get_by_text("Branch 3", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    go(page, f"#/agents/{made[-1]}/playground")
    expect(page.get_by_label("Beside").locator("option", has_text=re.compile("^Branch 3$"))).to_have_count(1)
    for agent in made:
        api("DELETE", f"/v1/agents/{agent}")


def back(page, agent):
    """Back shows as much of a list as before, at the same place; a link shows its beginning. What was changed meanwhile is shown as it is."""
    made = [ask(agent, f"How many books are on shelf {number}?")["conversation_id"] for number in range(45)]
    go(page, f"#/agents/{agent}/conversations")
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".entries > li")).to_have_count(40)
    expect(page.locator(".entries a.mono, .entries .lines .mono")).to_have_count(0)
    settled(page)
    page.get_by_role("link", name="shelf 12?").scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 1000, place
    page.get_by_role("link", name="shelf 12?").click()
    expect(page.get_by_role("heading", name="Conversation", exact=True)).to_be_visible()
    api("DELETE", f"/v1/conversations/{made[13]}")
    page.go_back()
    expect(page.get_by_role("heading", name="Conversations", exact=True)).to_be_visible()
    assert abs(page.evaluate("scrollY") - place) < 2, (page.evaluate("scrollY"), place)
    expect(page.get_by_role("link", name="shelf 13?")).to_have_count(0)
    page.get_by_role("link", name="shelf 12?").click()
    expect(page.get_by_role("heading", name="Conversation", exact=True)).to_be_visible()
    page.locator(".above a").click()
    expect(page.locator(".entries > li")).to_have_count(20)
    assert page.evaluate("scrollY") == 0
