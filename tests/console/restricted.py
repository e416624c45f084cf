"""What a key may not do is not offered, and an address of it says what is missing."""

from playwright.sync_api import expect
from world import KEY, api, console, go, settled, sign_in

NAVIGATION = ".sidebar nav a"


def restricted(browser, made):
    """Signs in with keys that may do little."""
    agent = made["agent"]
    reader = issue("Reader", ["agents:read", "sources:read"], [agent])
    with console(browser, key=reader) as page:
        settled(page)
        expect(page.locator(".tile")).to_have_count(1)
        expect(page.get_by_role("button", name="New agent")).to_have_count(0)
        go(page, f"#/agents/{agent}/sources")
        assert offered(page) == ["Overview", "Sources", "Settings", "Agents", "Usage", "Health"] or offered(page) == ["Overview", "Sources", "Checks", "Settings", "Agents", "Usage", "Health"], offered(page)
        for name in ("Add content", "Delete", "Refresh"):
            expect(page.get_by_role("button", name=name)).to_have_count(0)
        go(page, f"#/agents/{agent}/settings")
        for name in ("Save", "Pause", "Delete agent"):
            expect(page.get_by_role("button", name=name)).to_have_count(0)
        expect(page.get_by_label("Name", exact=True)).to_be_disabled()
        go(page, "#/keys")
        expect(page.locator("main")).to_contain_text("keys:read")
        go(page, f"#/agents/{made['other']}")
        expect(page.get_by_role("alert")).to_contain_text("resource_not_found")
        page.keyboard.press("Control+k")
        expect(page.locator(".commands")).not_to_contain_text("Add a text")
        expect(page.locator(".commands")).not_to_contain_text("Create an agent")
    asker = issue("Asker", ["conversations:write"], [agent])
    with console(browser, key=asker) as page:
        assert offered(page) == ["Agents", "Health"], offered(page)
        page.get_by_role("link", name="Museum guide").click()
        # Its name is known from the list of those that may be asked.
        expect(page.get_by_role("heading", name="Ask Museum guide")).to_be_visible()
        expect(page.locator(".sidebar")).to_contain_text("Museum guide")
        page.get_by_label("Your question").fill("When does the museum open?")
        page.keyboard.press("Enter")
        expect(page.locator(".message.assistant")).to_contain_text("nine")
        page.locator(".citation").first.click()
        expect(page.locator("dialog")).to_contain_text("nine")
        expect(page.get_by_role("link", name="Open the document")).to_have_count(0)
    expired(browser, agent)
    # The next key learns nothing of what the key before has seen.
    with console(browser) as page:
        settled(page)
        go(page, f"#/agents/{agent}/playground")
        expect(page.locator(".sidebar")).to_contain_text("Museum guide")
        page.keyboard.press("Control+k")
        expect(page.locator(".commands")).to_contain_text("Museum guide")
        page.keyboard.press("Escape")
        page.get_by_label("Your question").fill("A secret question")
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
        sign_in(page, issue("Next", ["conversations:write"], [made["other"]]))
        settled(page)
        assert "Museum guide" not in page.locator("body").inner_text(), page.locator("body").inner_text()
        page.keyboard.press("Control+k")
        expect(page.locator(".commands")).to_contain_text("Sign out")
        expect(page.locator(".commands")).not_to_contain_text("Museum guide")
        assert page.get_by_label("Your question").input_value() == "" if page.get_by_label("Your question").count() else True
    # A key that is deleted while it is used signs the person out, with the reason.
    gone = issue("Gone", ["agents:read"], None)
    with console(browser, key=gone) as page:
        settled(page)
        keys = api("GET", "/v1/api_keys?page_size=100")["data"]
        api("DELETE", f"/v1/api_keys/{next(key['id'] for key in keys if key['name'] == 'Gone')}")
        # Keys that were found are remembered for some seconds.
        for view in ["#/usage", "#/agents"] * 20:
            if page.get_by_label("API key").count():
                break
            page.evaluate("view => { location.hash = view; }", view)
            page.wait_for_timeout(1_000)
        expect(page.get_by_label("API key")).to_be_visible()
        expect(page.locator(".notice")).to_be_visible()


def expired(browser, agent):
    """A key that the server refuses in the middle signs the person out; what was written is there for the next key of the account, until the person signs out."""
    refusal = {"error": {"code": "unauthorized", "message": "the API key has expired"}}
    with console(browser) as page:
        settled(page)
        go(page, f"#/agents/{agent}/settings")
        name = page.get_by_label("Name", exact=True)
        before = name.input_value()
        name.fill("Guide of the museum")
        page.route("**/v1/agents/*", lambda route: route.fulfill(status=401, json=refusal) if route.request.method == "PATCH" else route.fallback())
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".notice")).to_contain_text("expired")
        sign_in(page, KEY)
        expect(name).to_have_value("Guide of the museum")
        page.get_by_role("button", name="Sign out").click()
        # What was not sent would be lost.
        page.locator("dialog").get_by_role("button", name="Sign out").click()
        sign_in(page, KEY)
        expect(name).to_have_value(before)


def issue(name, permissions, agents):
    """A new key."""
    return api("POST", "/v1/api_keys", {"name": name, "permissions": permissions, "agent_ids": agents})["key"]


def offered(page):
    """The views that are offered."""
    # Widgets are offered if the server has them.
    return [text.strip() for text in page.locator(NAVIGATION).all_inner_texts() if text.strip() != "Widgets"]
