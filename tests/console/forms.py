"""Forms and filters say what is the case: why something was refused, and which choice is in effect."""

import datetime

from playwright.sync_api import expect
from world import api, console, go, trained


def forms(browser):
    agent = api("POST", "/v1/agents", {"name": "Harbour"})["id"]
    api("POST", f"/v1/agents/{agent}/sources", {"type": "text", "content": "The harbour has twelve berths."})
    trained(agent)
    widget = api("POST", f"/v1/agents/{agent}/widgets", {"name": "Website"})["id"]
    with console(browser, height=600) as page:
        refused(page, agent, widget)
        choices(page, agent, widget)
    with console(browser, timezone_id="Asia/Tokyo") as page:
        days(page, agent)
    with console(browser) as page:
        right_to_left(page)
    with console(browser, forced_colors="active") as page:
        forced(page, agent)
    api("DELETE", f"/v1/agents/{agent}")


def refused(page, agent, widget):
    """After a refusal, its reason is in sight and the field that is wrong has the focus."""
    for address, name, wrong in ((f"#/agents/{agent}/settings", "Name", "x" * 101), (f"#/agents/{agent}/widgets/{widget}", "Questions to begin with", "\n".join("abcdefg"))):
        go(page, address)
        field = page.get_by_label(name, exact=True)
        field.fill(wrong)
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".savebar [role=alert]")).to_be_in_viewport(ratio=1)
        expect(field).to_be_focused()
        expect(field).to_be_in_viewport(ratio=1)
        page.get_by_role("button", name="Discard changes").click()
        expect(page.locator(".savebar [role=alert]")).to_have_count(0)
    # An address without a scheme is one of https.
    go(page, f"#/agents/{agent}/sources?add=website")
    page.get_by_label("Address").fill("museum.example")
    page.route(f"**/v1/agents/{agent}/sources", lambda route: route.fulfill(status=400, json={"error": {"code": "invalid_parameter", "message": "no crawls in tests"}}), times=1)
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.get_by_role("button", name="Add", exact=True).click()
    assert sent.value.post_data_json["content"] == "https://museum.example", sent.value.post_data
    page.get_by_role("button", name="Cancel").click()
    # A pair without an answer is named by its number, and its cell is marked; so is a question that is too long.
    go(page, f"#/agents/{agent}/sources?add=qa")
    table = {"name": "pairs.csv", "mimeType": "text/csv", "buffer": f"How deep is it?,Six metres\nWho built it?,\n{'x' * 2001},Yes\n".encode()}
    page.locator("dialog input[type=file]").set_input_files(table)
    for refused, cell in (("Pair 2 has no answer", "Answer 2"), ("Pair 3 has a question that is too long", "Question 3")):
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text(refused)
        expect(page.get_by_label(cell)).to_be_focused()
        expect(page.get_by_label(cell)).to_have_attribute("aria-invalid", "true")
        page.get_by_label(cell).fill("Nobody knows")
    page.get_by_role("button", name="Cancel").click()
    # A field that is folded away is unfolded.
    go(page, "#/agents?create=1")
    page.get_by_label("Name", exact=True).fill("Harbour two")
    page.get_by_text("How it answers").click()
    page.get_by_label("Keep conversations for").fill("4000")
    page.get_by_text("How it answers").click()
    page.evaluate("document.querySelector('dialog form').noValidate = true")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_label("Keep conversations for")).to_be_focused()
    page.get_by_role("button", name="Cancel").click()


CLEAR = "rgba(0, 0, 0, 0)"
SHOWS = "([label, text]) => [...document.querySelectorAll('select')].some(each => each.labels[0].textContent.startsWith(label) && each.options[each.selectedIndex].text === text)"


def choices(page, agent, widget):
    """Selects show what is in effect, also after Back and Discard."""
    go(page, f"#/agents/{agent}/conversations")
    rating = page.get_by_label("Rating")
    for value in ("down", "up", ""):
        rating.select_option(value)
        page.wait_for_function("value => location.hash.includes(`rating=${value}`) || !value && !location.hash.includes('rating')", arg=value)
    # Words that were only written so far stay.
    page.get_by_label("Words in a message").fill("berths")
    rating.select_option("down")
    page.wait_for_function("location.hash.includes('rating=down') && location.hash.includes('text=berths')")
    expect(page.get_by_label("Words in a message")).to_have_value("berths")
    page.go_back()
    for text in ("Rated good", "Rated bad", "Any"):
        page.go_back()
        page.wait_for_function(SHOWS, arg=["Rating", text])
    go(page, f"#/agents/{agent}/widgets/{widget}")
    for value in ("dark", "light", "dark"):
        page.get_by_label("Colours").select_option(value)
    page.get_by_role("button", name="Discard changes").click()
    page.wait_for_function(SHOWS, arg=["Colours", "as the visitor’s system"])


def days(page, agent):
    """The days of filters are those of the times in the lists, which are the person's own."""
    for address, path in ((f"#/agents/{agent}/conversations", "conversations"), ("#/audit", "audit_log")):
        go(page, address)
        for name, day, parameter in (("From", "2026-05-02", "created_after"), ("Before", "2026-05-03", "created_before")):
            with page.expect_request(lambda request: path in request.url and parameter in request.url) as asked:
                page.get_by_label(name).fill(day)
            moment = datetime.date.fromisoformat(day) - datetime.timedelta(days=1)
            assert f"{parameter}={moment}T15%3A00%3A00" in asked.value.url, asked.value.url


def forced(page, agent):
    """With the colours of the system, what is pressed can be told apart, and nothing shows through the bars."""
    go(page, f"#/agents/{agent}/playground")
    page.get_by_label("Your question").fill("How many berths has the harbour?")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Good reply").click()
    expect(page.get_by_role("button", name="Good reply")).to_have_css("outline-style", "solid")
    expect(page.locator(".composer")).not_to_have_css("background-color", CLEAR)
    go(page, f"#/agents/{agent}")
    colours = page.locator(".legend i").evaluate_all("all => all.map(each => getComputedStyle(each).backgroundColor)")
    assert len(set(colours)) == 2, colours
    go(page, f"#/agents/{agent}/settings")
    expect(page.locator(".savebar")).not_to_have_css("background-color", CLEAR)


def right_to_left(page):
    """Texts of people have the direction of their own language."""
    agent = api("POST", "/v1/agents", {"name": "متجر (1)"})["id"]
    api("POST", f"/v1/agents/{agent}/sources", {"type": "text", "content": "يفتح متجر الشاي الساعة 8:00 صباحا (كل يوم)."})
    trained(agent)
    go(page, f"#/agents/{agent}/playground")
    composer = page.get_by_label("Your question")
    composer.fill("متى يفتح متجر الشاي؟ (8:00)")
    expect(composer).to_have_css("direction", "rtl")
    composer.press("Enter")
    expect(page.locator(".citation")).to_be_visible()
    for each in (".bubble", ".prose p", ".citation .clip"):
        expect(page.locator(each).first).to_have_css("direction", "rtl")
    page.locator(".citation").click()
    expect(page.locator("dialog .passage").first).to_have_css("direction", "rtl")
    page.keyboard.press("Escape")
    go(page, f"#/agents/{agent}/conversations")
    expect(page.locator(".entries a.lines")).to_have_css("direction", "rtl")
    go(page, f"#/agents/{agent}/settings")
    expect(page.get_by_label("Name", exact=True)).to_have_css("direction", "rtl")
    # What the console says itself stays as it is.
    expect(page.get_by_role("heading", name="Settings")).to_have_css("direction", "ltr")
    api("DELETE", f"/v1/agents/{agent}")
