"""The way of a newcomer without a pointer."""

from playwright.sync_api import expect
from newcomer import pdf
from world import KEY, api, console, settled, trained

QUESTION, UNKNOWN = "When does the garden open?", "Where can I buy umbrellas?"


def reach(page, name, exact=False, most=80):
    """Presses Tab until the element with this name has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "() => { const element = document.activeElement; return element === document.body ? ['', false] : [element.getAttribute('aria-label') || (element.labels?.[0] || element).textContent.trim().replace(/\\s+/g, ' '), element.matches(':focus-visible')]; }"
        )
        if name == focused[0] if exact else name in focused[0]:
            assert focused[1], f"the focus on {name} is not visible"
            return
    raise AssertionError(f"{name} was not reached by Tab")


def command(page, words):
    """Chooses a command of the palette."""
    page.keyboard.press("Control+k")
    expect(page.locator("dialog[open].palette input")).to_be_focused()
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open].palette")).to_have_count(0)


def press(page, name, exact=False):
    """Goes to a button or link, and presses it."""
    reach(page, name, exact)
    page.keyboard.press("Enter")


def add_file(page):
    file = {"name": "pond.pdf", "mimeType": "application/pdf", "buffer": pdf(["The pond is home to eleven carp."])}
    # The browser is told to ask us for files before the dialog is opened, because it is told without an answer.
    page.on("filechooser", lambda chooser: chooser.set_files(file))
    command(page, "add files")
    expect(page.locator("dialog[open] input[type=file]")).to_be_focused()
    reach(page, "Drop files here")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr", has_text="pond.pdf").locator(".badge")).to_contain_text("trained", timeout=30_000)


def single_keys(page):
    """Shortcuts of one key can be turned off, which those who dictate need."""
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_contain_text("Ctrl")
    reach(page, "Use single keys")
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_have_count(0)
    command(page, "shortcuts")
    reach(page, "Use single keys")
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)


def answer_gap(page):
    page.keyboard.press("g")
    page.keyboard.press("p")
    expect(page.get_by_role("heading", name="Playground")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type(UNKNOWN)
    page.keyboard.press("Enter")
    expect(page.locator(".message.assistant").last).to_contain_text("do not cover")
    page.get_by_role("heading", name="Playground").focus()
    page.keyboard.press("g")
    page.keyboard.press("g")
    expect(page.get_by_role("heading", name="Gaps", exact=True)).to_be_focused()
    gap = page.locator(".entries > li", has_text=UNKNOWN)
    for _ in range(60):
        settled(page)
        if gap.count():
            break
        press(page, "Read again")
        page.wait_for_timeout(500)
    press(page, "Answer", exact=True)
    expect(page.get_by_label("Answer", exact=True)).to_be_focused()
    page.keyboard.type("At the kiosk beside the pier.")
    page.keyboard.press("Control+Enter")
    expect(gap).to_have_count(0)


def make_webhook(page, hook):
    command(page, "webhooks")
    expect(page.get_by_role("heading", name="Webhooks", exact=True)).to_be_focused()
    press(page, "New endpoint")
    expect(page.get_by_role("textbox", name="Address")).to_be_focused()
    page.keyboard.type(hook)
    page.keyboard.press("Enter")
    expect(page.locator(".secret")).to_contain_text("whsec_")
    press(page, "Done")
    press(page, "Send a test")
    expect(page.locator(".entries .badge").first).to_have_text("succeeded", timeout=30_000)


def make_widget(page):
    command(page, "widgets")
    expect(page.get_by_role("heading", name="Widgets", exact=True)).to_be_focused()
    press(page, "New widget")
    expect(page.locator("dialog[open] [name=name]")).to_be_focused()
    page.keyboard.type("Garden gate")
    page.keyboard.press("Enter")
    expect(page.locator(".secret")).to_be_visible()
    press(page, "Done")
    expect(page.locator("main")).to_contain_text("pub_")
    # What is written into the preview is no shortcut.
    page.locator(".preview textarea").focus()
    page.keyboard.type("big pages? and/or")
    expect(page.locator(".preview textarea")).to_have_value("big pages? and/or")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.locator("main")).to_contain_text("pub_")


def keyboard(browser, hook):
    """Signs in, makes an agent, adds a text and a file, asks and opens the source, answers a gap, makes a webhook endpoint and a widget, by keys alone."""
    with console(browser, key="") as page:
        expect(page.get_by_label("API key")).to_be_visible()
        reach(page, "API key")
        page.keyboard.type(KEY)
        page.keyboard.press("Enter")
        page.wait_for_selector(".frame")
        command(page, "create an agent")
        expect(page.locator("dialog[open] [name=name]")).to_be_focused()
        page.keyboard.type("Garden")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Sources", exact=True)).to_be_focused()
        agent = page.evaluate("location.hash.split('/')[2]")
        command(page, "add a text")
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
        single_keys(page)
        add_file(page)
        answer_gap(page)
        make_widget(page)
        make_webhook(page, hook)
        api("DELETE", f"/v1/agents/{agent}")
