"""What was written or chosen is neither lost nor sent twice, whatever happens to requests and wherever people go in between."""

from playwright.sync_api import expect
from world import api, console, go, trained

PRICES = {"name": "prices.txt", "mimeType": "text/plain", "buffer": b"The price list says that tea costs four euros."}


def unsent(browser):
    agent = api("POST", "/v1/agents", {"name": "Tea shop"})["id"]
    api("POST", f"/v1/agents/{agent}/sources", {"type": "text", "content": "The tea shop opens at eight."})
    trained(agent)
    with console(browser, allowed=("net::ERR",)) as page:
        lost_answer(page, agent)
        left_upload(page, agent)
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
