"""A newcomer signs in, makes an agent, drops a PDF, watches it train, asks, opens the source at the sentence, adds pairs, answers a gap, and makes a webhook."""

import world
from playwright.sync_api import expect
from world import KEY, console, settled

TEXT = ["The lighthouse was built in 1874.", "Its lamp can be seen from twenty miles away.", "The keeper lived there with two goats."]


def pdf(lines):
    """A page with these lines."""
    drawn = "BT /F1 12 Tf 72 720 Td 16 TL " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    return (out + f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(places) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n").encode()


def drop(page, target, name, kind, content):
    """Drops a file, as from a folder of the desktop."""
    data = page.evaluate_handle(
        "([name, kind, bytes]) => { const data = new DataTransfer(); data.items.add(new File([new Uint8Array(bytes)], name, { type: kind })); return data; }",
        [name, kind, list(content)],
    )
    for event in ("dragenter", "dragover", "drop"):
        page.locator(target).dispatch_event(event, {"dataTransfer": data})


def newcomer(browser, hook):
    """Goes the way of a newcomer; ends signed out."""
    with console(browser, key="") as page:
        page.get_by_label("API key").fill("ck_wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("unauthorized")
        expect(page.get_by_label("API key")).to_be_focused()
        world.sign_in(page, KEY)
        make_agent(page)
        drop(page, ".first-source", "lighthouse.pdf", "application/pdf", pdf(TEXT))
        expect(page.locator("tbody .badge", has_text="trained")).to_be_visible(timeout=30_000)
        ask_and_open(page)
        look_behind(page)
        look_at_site(page)
        add_pair(page)
        answer_gap(page)
        agent = page.evaluate("location.hash.split('/')[2]")
        make_webhook(page, hook)
        page.goto(f"{world.SERVER}/console#/agents/{agent}/sources")
        page.reload()
        expect(page.get_by_role("heading", name="Sources")).to_be_visible()
        delete_agent(page, agent)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("API key")).to_be_visible()
        assert page.evaluate("sessionStorage.length + Object.keys(localStorage).length") == 0


def make_agent(page):
    page.get_by_role("button", name="New agent").first.click()
    page.get_by_label("Name", exact=True).fill("x" * 101)
    page.get_by_role("button", name="Create").click()
    # The API's own words, beside the field; what was written stays.
    expect(page.locator(".field .objection")).to_contain_text("100")
    expect(page.get_by_label("Name", exact=True)).to_have_value("x" * 101)
    page.get_by_label("Name", exact=True).fill("Lighthouse")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Sources", exact=True)).to_be_visible()


def ask_and_open(page):
    page.get_by_role("link", name="Playground", exact=True).click()
    page.get_by_label("Your question").fill("When was the lighthouse built?")
    # The first request fails. Sent again, it has the same idempotency key, so that it takes effect once.
    sent = []
    page.route("**/v1/conversations", lambda route: (sent.append(route.request.headers["idempotency-key"]), route.fulfill(status=503, json={"error": {"code": "overloaded", "message": "the server is overloaded"}})), times=1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("overloaded")
    expect(page.locator(".playground [role=status]")).to_be_empty()
    with page.expect_request("**/v1/conversations") as again:
        page.get_by_role("button", name="Try again").click()
    assert sent == [again.value.headers["idempotency-key"]], sent
    expect(page.locator(".message.assistant")).to_contain_text("1874")
    page.locator(".citation").first.click()
    expect(page.locator("dialog mark")).to_contain_text("built in 1874")
    page.get_by_role("link", name="Open the document").click()
    expect(page.locator(".passage.cited mark")).to_contain_text("built in 1874")
    expect(page.locator(".passage.cited mark")).not_to_contain_text("goats")
    # The address alone shows the same.
    page.reload()
    expect(page.locator(".passage.cited mark")).to_contain_text("built in 1874")
    page.go_back()
    expect(page.get_by_role("heading", name="Playground")).to_be_visible()


def look_behind(page):
    page.get_by_role("link", name="Conversations", exact=True).click()
    page.get_by_label("Words in a message").fill("LIGHTHOUSE")
    page.keyboard.press("Enter")
    expect(page.locator(".entries li")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
        page.locator("dialog").get_by_role("button", name="Export").click()
    table = open(download.value.path(), encoding="utf-8").read()
    assert "When was the lighthouse built?" in table and "1874" in table, table
    page.locator(".entries a").first.click()
    page.get_by_role("button", name="Receipt").click()
    expect(page.locator("dialog .hits .cited")).to_contain_text("cited")
    page.keyboard.press("Escape")


def look_at_site(page):
    """Asks what a crawl would find, before a website is added. Nothing listens there."""
    page.get_by_role("link", name="Sources", exact=True).click()
    page.get_by_role("button", name="Add content").click()
    page.locator("dialog").get_by_role("button", name="Website", exact=True).click()
    look = page.get_by_role("button", name="See what may be read")
    expect(look).to_be_disabled()
    page.get_by_role("textbox", name="Address").fill("http://127.0.0.1:9/")
    look.click()
    expect(page.locator("dialog .objection")).to_contain_text("could not be fetched")
    # Another address has not been looked at.
    page.get_by_role("textbox", name="Address").fill("http://127.0.0.1:9/other")
    expect(page.locator("dialog .objection")).to_have_count(0)
    page.get_by_role("textbox", name="Address").fill("")
    page.keyboard.press("Escape")


PASTE = """text => { const data = new DataTransfer(); data.setData('text/plain', text);
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })); }"""


def add_pair(page):
    page.get_by_role("link", name="Sources", exact=True).click()
    page.get_by_role("button", name="Add content").click()
    page.get_by_role("button", name="Questions and answers").click()
    cell = page.get_by_label("Question 1", exact=True)
    cell.focus()
    page.evaluate(PASTE, 'Is the tower open?\tOn Sundays, from ten to four.\n"How ""high"" is it?"\tForty metres.')
    expect(page.get_by_label("Question 2", exact=True)).to_have_value('How "high" is it?')
    # An answer of several lines stays one.
    page.get_by_label("Answer 2", exact=True).fill("")
    page.get_by_label("Answer 2", exact=True).focus()
    page.evaluate(PASTE, "Forty metres,\nor\t130 feet,\twith its flag.")
    expect(page.get_by_label("Question 3", exact=True)).to_have_count(0)
    page.get_by_label("Answer 2", exact=True).fill("Forty metres.")
    page.get_by_role("button", name="Add", exact=True).click()
    # The first row may still be that of the file.
    expect(page.locator("tbody .badge", has_text="trained")).to_have_count(2, timeout=30_000)
    page.get_by_role("link", name="Playground", exact=True).click()
    page.get_by_label("Your question").fill("Is the tower open?")
    page.keyboard.press("Enter")
    expect(page.locator(".message.assistant").last).to_contain_text("Sundays")
    page.get_by_role("button", name="Bad reply").last.click()
    expect(page.get_by_role("button", name="Bad reply").last).to_have_attribute("aria-pressed", "true")


def answer_gap(page):
    """Asks what nobody has written yet, answers it where it is collected, and asks again."""
    question = "Where can I buy umbrellas?"
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".message.assistant")).to_have_count(2)
    expect(page.locator(".message.assistant").last).not_to_contain_text("Sundays")
    page.get_by_role("link", name="Gaps", exact=True).click()
    gap = page.locator(".entries > li", has_text=question)
    for _ in range(60):
        settled(page)
        again = page.get_by_role("button", name="Read again")
        if gap.count() or not again.count():
            break
        again.click()
        page.wait_for_timeout(500)
    gap.get_by_role("button", name="Answer").click()
    expect(page.get_by_label("Answer", exact=True)).to_be_focused()
    page.keyboard.type("At the kiosk beside the pier.")
    page.keyboard.press("Control+Enter")
    expect(gap).to_have_count(0)
    page.get_by_role("link", name="Answered").click()
    gap.get_by_role("link", name="answered here").click()
    expect(page.locator("main")).to_contain_text("trained", timeout=30_000)
    page.get_by_role("link", name="Playground", exact=True).click()
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".message.assistant").last).to_contain_text("kiosk")


def make_webhook(page, hook):
    page.get_by_role("link", name="Webhooks", exact=True).click()
    page.get_by_role("button", name="New endpoint").first.click()
    page.get_by_role("textbox", name="Address").fill(hook)
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".secret")).to_contain_text("whsec_")
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Send a test").click()
    expect(page.locator(".entries .badge").first).to_have_text("succeeded", timeout=30_000)
    settled(page)


def delete_agent(page, agent):
    page.evaluate("agent => { location.hash = `#/agents/${agent}/settings`; }", agent)
    page.get_by_role("button", name="Delete agent").click()
    expect(page.locator("dialog")).to_contain_text("3 sources and 2 conversations")
    page.locator("dialog").get_by_role("button", name="Delete agent").click()
    expect(page.get_by_role("heading", name="Agents", exact=True)).to_be_visible()
