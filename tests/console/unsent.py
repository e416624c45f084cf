"""What was written or chosen is neither lost nor sent twice, whatever happens to requests and wherever people go in between."""

from playwright.sync_api import expect
from world import KEY, api, console, go, settled, sign_in, trained

PRICES = {"name": "prices.txt", "mimeType": "text/plain", "buffer": b"The price list says that tea costs four euros."}

QUESTION = "When does the tea shop open?"


def unsent(browser):
    agent = api("POST", "/v1/agents", {"name": "Tea shop"})["id"]
    api("POST", f"/v1/agents/{agent}/sources", {"type": "text", "content": "The tea shop opens at eight."})
    trained(agent)
    with console(browser, allowed=("net::ERR",)) as page:
        lost_answer(page, agent)
        left_upload(page, agent)
        cancelled(page, agent)
        question(page, agent)
        gone(page, agent)
        go(page, f"#/agents/{agent}/playground")
        refused(page, agent)
        lost_reply(page)
        rating(page, agent)
    refused_key(browser, agent)
    away(browser)
    api("DELETE", f"/v1/agents/{agent}")


def files(agent):
    """The sources that are files."""
    return [each for each in api("GET", f"/v1/agents/{agent}/sources")["data"] if each["type"] == "file"]


def choose_file(page):
    page.get_by_role("button", name="Add content").click()
    page.locator("dialog input[name=files]").set_input_files(PRICES)


def lost_answer(page, agent):
    """A file whose answer was lost is one source, however often it is sent."""
    go(page, f"#/agents/{agent}/sources")

    def lose(route):
        route.fetch()
        route.abort()

    page.route("**/v1/agents/*/sources", lose, times=1)
    choose_file(page)
    page.get_by_role("button", name="Send again").click()
    expect(page.locator(".uploads")).to_have_count(0)
    expect(page.locator("tbody tr", has_text="prices.txt")).to_have_count(1)
    assert len(files(agent)) == 1, files(agent)


def left_upload(page, agent):
    """A file that was not stored waits where it was chosen, and is asked about before it is lost."""
    page.route("**/v1/files", lambda route: route.abort(), times=1)
    choose_file(page)
    expect(page.get_by_role("button", name="Send again")).to_be_visible()
    go(page, "#/usage")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("dialog")).to_contain_text("was not sent")
    page.get_by_role("button", name="Cancel").click()
    go(page, f"#/agents/{agent}/sources")
    page.get_by_role("button", name="Send again").click()
    expect(page.locator(".uploads")).to_have_count(0)
    assert len(files(agent)) == 2, files(agent)
    # One that fails while another view is shown says so.
    page.route("**/v1/files", lambda route: (page.wait_for_timeout(300), route.abort()), times=1)
    choose_file(page)
    page.evaluate("location.hash = '#/usage'")
    expect(page.locator(".toast")).to_contain_text("was not added")
    go(page, f"#/agents/{agent}/sources")
    page.get_by_role("button", name="Forget prices.txt").click()
    expect(page.locator(".uploads")).to_have_count(0)


def cancelled(page, agent):
    """Cancel discards what was written, Escape does not."""
    go(page, f"#/agents/{agent}/sources?add=text")
    field = page.get_by_label("Text", exact=True)
    for key, kept in (("Escape", "The shop sells cups."), ("Cancel", "")):
        field.fill("The shop sells cups.")
        page.keyboard.press("Escape") if key == "Escape" else page.get_by_role("button", name=key).click()
        expect(page.locator("dialog")).to_have_count(0)
        go(page, f"#/agents/{agent}/sources?add=text")
        expect(field).to_have_value(kept)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    sign_in(page, KEY)


def question(page, agent):
    """A question without a reply is there when its view is shown again."""
    go(page, f"#/agents/{agent}/playground")
    page.route("**/v1/conversations", lambda route: route.abort(), times=1)
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    go(page, "#/usage")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("dialog")).to_contain_text("was not sent")
    page.get_by_role("button", name="Cancel").click()
    go(page, f"#/agents/{agent}/playground")
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    page.get_by_label("Your question").press("Enter")
    expect(page.locator(".citation")).to_be_visible()
    go(page, "#/usage")
    page.go_back()
    expect(page.get_by_label("Your question")).to_have_value("")
    expect(page.locator(".message.user .bubble")).to_have_text([QUESTION])
    expect(page.locator(".citation")).to_be_visible()


def gone(page, agent):
    """What another tab has deleted is deleted."""
    source = api("POST", f"/v1/agents/{agent}/sources", {"type": "text", "content": "The shop is closed in May."})["id"]
    trained(agent)
    go(page, f"#/agents/{agent}/sources")
    page.get_by_role("button", name="Delete The shop is closed").click()
    api("DELETE", f"/v1/sources/{source}")
    page.get_by_role("dialog").get_by_role("button", name="Delete source").click()
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.get_by_role("link", name="The shop is closed")).to_have_count(0)


def refused(page, agent):
    """What was refused is not refused for ever: the reason may have gone. Without an answer, the question is not asked twice."""
    page.get_by_role("button", name="New conversation").click()
    api("PATCH", f"/v1/agents/{agent}", {"status": "paused"})
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("paused")
    api("PATCH", f"/v1/agents/{agent}", {"status": "active"})
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".citation")).to_be_visible()
    keys = []
    page.on("request", lambda request: keys.append(request.headers["idempotency-key"]) if request.url.endswith("/v1/conversations") else None)
    in_progress = {"error": {"code": "conflict", "message": "a request with the same key is in progress"}}
    for answer in (lambda route: route.abort(), lambda route: route.fulfill(status=409, headers={"Retry-After": "1"}, json=in_progress)):
        page.route("**/v1/conversations", answer, times=1)
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    for _ in range(2):
        expect(page.get_by_role("alert")).to_be_visible()
        page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name="Good reply")).to_have_count(2)
    assert len(keys) == 3 and len(set(keys)) == 1, keys


# Replaces the next reply by one whose connection is lost.
LOSES = """() => { const { fetch } = window;
  const body = () => new ReadableStream({ start(sink) { sink.enqueue(new TextEncoder().encode('event: token\\ndata: {"content": "It opens"}\\n\\n')); setTimeout(() => sink.error(new TypeError('network error')), 100); } });
  window.fetch = async () => { window.fetch = fetch; return new Response(body(), { headers: { 'Content-Type': 'text/event-stream' } }); }; }"""


def lost_reply(page):
    """A reply whose connection is lost says so, and can be had again."""
    page.get_by_role("button", name="New conversation").click()
    page.evaluate(LOSES)
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The reply ended early")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".citation")).to_be_visible()


def rating(page, agent):
    """Each press of a rating is answered before the next is sent; a double click on Ask does not stop the reply."""
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".message")).to_have_count(0)
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).dblclick()
    sent = []

    def slow(route):
        sent.append(route.request.method)
        if len(sent) == 1:
            page.wait_for_timeout(400)
            assert sent == ["PUT"], sent
        route.continue_()

    page.route("**/rating", slow)
    good = page.get_by_role("button", name="Good reply")
    good.dblclick()
    expect(good).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="Bad reply").click()
    expect(page.get_by_role("button", name="Say why")).to_be_visible()
    for _ in range(100):
        if len(sent) == 3:
            break
        page.wait_for_timeout(100)
    settled(page)
    page.unroute("**/rating")
    assert sent == ["PUT", "DELETE", "PUT"], sent
    conversation = api("GET", f"/v1/agents/{agent}/conversations")["data"][0]["id"]
    assert api("GET", f"/v1/conversations/{conversation}")["messages"][1]["rating"]["value"] == "down"


def away(browser):
    """A reload while the server cannot be reached does not lose the key."""
    with console(browser, allowed=("net::ERR",)) as page:
        settled(page)
        page.route("**/v1/me", lambda route: route.abort())
        page.reload()
        expect(page.get_by_text("could not be reached")).to_be_visible()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_text("could not be reached")).to_be_visible()
        page.unroute("**/v1/me")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".frame")).to_be_visible()


def refused_key(browser, agent):
    """A question whose key was deleted meanwhile is there for another key."""
    key = api("POST", "/v1/api_keys", {"name": "Meanwhile", "permissions": ["agents:read", "conversations:write", "conversations:read"]})
    with console(browser, key=key["key"]) as page:
        go(page, f"#/agents/{agent}/playground")
        page.get_by_label("Your question").fill(QUESTION)
        api("DELETE", f"/v1/api_keys/{key['id']}")
        # The server remembers a key that was found for less than a second.
        page.wait_for_timeout(1_100)
        page.get_by_label("Your question").press("Enter")
        expect(page.get_by_label("API key")).to_be_visible()
        sign_in(page, KEY)
        expect(page.get_by_label("Your question")).to_have_value(QUESTION)
