"""The widget on pages of other origins under strict policies, and the hosted page: people's ways, keys alone, axe, large text, narrow windows, and identities."""

import base64
import contextlib
import hashlib
import hmac
import json
import re
import time
import urllib.parse
import urllib.request

from playwright.sync_api import expect

import look
import world
from world import PATIENCE, SERVER, api, pictures, trained

# Nothing inline, no style or script of anybody else, and no markup made of texts: what a careful site sends.
POLICY = f"default-src 'none'; script-src {SERVER}; connect-src {SERVER}; style-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
STYLE = "html { font: 62.5%/1 serif; color: navy } * { letter-spacing: .5em } button { text-transform: uppercase } body { margin: 0; padding: 2rem; font-size: 1.6rem; line-height: 1.5; max-width: 60rem }"
OPENS, ANSWER = "When does the museum open?", "nine"
TEXTS = "The museum opens at nine in the morning and closes at five in the afternoon.\n\nDogs are welcome in the garden, but not in the halls."
EVENTS = "window.__events = []; for (const name of ['open', 'message', 'answer', 'feedback', 'lead']) document.addEventListener(`cicerone:${name}`, event => __events.push([name, event.detail]));"


@contextlib.contextmanager
def website():
    """A site that embeds whatever widget its address names: `/TOKEN?data-open=` and so on."""

    def answer(path, _body):
        if path == "/style.css":
            return 200, "text/css", STYLE.encode()
        token, _, attributes = urllib.parse.unquote(path[1:]).partition("?")
        # A query of the script's address, as some sites add it to renew what browsers keep.
        query = "?v=2" if "v=2" in attributes else ""
        attributes = "".join(f" {each}" for each in attributes.split("&") if each and each != "v=2")
        page = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Museum by the sea</title><link rel="stylesheet" href="/style.css"></head><body><main><h1>Museum by the sea</h1><p>Welcome. <a href="#tower">The tower</a> can be climbed from April to October.</p><div id="place"></div></main><script src="{SERVER}/widget.js{query}" data-token="{token}"{attributes} async></script></body></html>'
        return 200, "text/html; charset=utf-8", page.encode(), {"Content-Security-Policy": POLICY}

    with world.site(answer) as address:
        yield address


@contextlib.contextmanager
def visit(browser, address, width=1000, height=760, allowed=(), **options):
    """A page of a site. Fails if a script fails, a policy is violated, or anybody but the site and the server is asked for anything."""
    context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion=options.pop("reduced_motion", "reduce"), **options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.add_init_script(EVENTS)
    origin = "/".join(address.split("/")[:3])
    faults = []
    page.on("pageerror", lambda error: faults.append(f"script: {error}"))
    # The sites of these tests have no icon, which browsers ask for anyway.
    page.on("console", lambda said: faults.append(f"console: {said.text} {said.location['url']}") if said.type == "error" and (said.location["url"].startswith(SERVER) or not said.location["url"].endswith("/favicon.ico")) and not any(each in said.text for each in allowed) else None)
    page.on("request", lambda request: faults.append(f"foreign request: {request.url}") if not request.url.startswith((SERVER, origin, "data:")) else None)
    page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.goto(address)
    try:
        yield page
    except BaseException as error:
        # What failed before may be why.
        error.add_note("\n".join([*faults, *page.locator(".trouble").all_text_contents()]))
        raise
    context.close()
    assert not faults, "\n".join(faults)


def signed(secret, **claims):
    """A JWT of the site's owner."""
    encode = lambda part: base64.urlsafe_b64encode(part).rstrip(b"=")
    text = encode(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()) + b"." + encode(json.dumps({"exp": int(time.time()) + 600, **claims}).encode())
    return (text + b"." + encode(hmac.new(secret.encode(), text, hashlib.sha256).digest())).decode()


def events(page, name):
    """The details of the events with this name."""
    return [detail for each, detail in page.evaluate("window.__events") if each == name]


def ask(page, text, reply=None):
    """Asks in the open widget."""
    replies = page.locator(".rating").count()
    page.get_by_label("Your message").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator(".rating")).to_have_count(replies + 1)
    if reply:
        expect(page.locator(".turn").last).to_contain_text(reply)


def make(agent, **fields):
    """A widget; returns it with its secret. All visitors have one address here, so it may send more than usual."""
    limits = {"messages_per_address_per_minute": 1_000, "messages_per_visitor_per_hour": 1_000}
    return api("POST", f"/v1/agents/{agent}/widgets", {"name": "Website", "limits": limits, **fields})


def widget(browser, axe):
    """All of it."""
    agent = api("POST", "/v1/agents", {"name": "Museum guide", "system_prompt": "You are the guide of a small museum."})["id"]
    world.text(agent, TEXTS)
    trained(agent)
    script = open(axe, encoding="utf-8").read()
    look_of = {"greeting": "Hello! Ask me about your visit to the **museum by the sea**.", "starters": [OPENS, "Are dogs allowed?", "What is the lifeboat called?"], "handoff": True, "lead": True}
    with website() as site:
        made = make(agent, origins=[site], **look_of)
        embedded(browser, site, made)
        pinned(browser, agent, make(agent))
        foreign(browser, made)
        identities(browser, site, make(agent, origins=[site], identity="optional"))
        again(browser, site, make(agent, origins=[site], identity="optional"))
        keys_alone(browser, site, made)
        failures(browser, site, make(agent, origins=[site]))
        tables(browser, site, make(agent, origins=[site], title="W" * 60, greeting=world.TABLE, starters=["x" * 100]))
        arabic = make(agent, origins=[site], language="ar", appearance={"accent": "#c43560", "scheme": "auto", "position": "left"}, title="دليل المتحف", greeting="مرحبًا! كيف يمكنني مساعدتك؟", starters=["متى يفتح المتحف؟"], texts={"placeholder": "اكتب سؤالك…", "message": "Your message"})
        appearance(browser, site, made, arabic, script)
    api("DELETE", f"/v1/agents/{agent}")


def embedded(browser, site, made):
    """Opens, asks, reads a stream, rates, leaves an address, and finds all of it again after a reload."""
    with visit(browser, f"{site}/{made['token']}", allowed=("status of 4",)) as page:
        expect(page.locator(".panel")).to_be_hidden()
        assert page.evaluate("localStorage.length") == 0, "something is kept before anything was asked"
        # The style of the page stays outside.
        drawn = page.locator(".root").evaluate("element => { const { fontSize, letterSpacing } = getComputedStyle(element); return [fontSize, letterSpacing]; }")
        assert drawn == ["16px", "normal"], drawn
        page.get_by_role("button", name="Open the chat").click()
        expect(page.get_by_role("dialog", name="Museum guide")).to_be_visible()
        expect(page.get_by_label("Your message")).to_be_focused()
        with page.expect_response(lambda response: response.url.endswith("/messages") and response.request.method == "POST") as streamed:
            page.get_by_role("button", name=OPENS).click()
        assert streamed.value.headers["content-type"].startswith("text/event-stream"), streamed.value.headers
        expect(page.locator(".rating")).to_have_count(1)
        assert streamed.value.text().count("event: token") > 1, streamed.value.text()
        expect(page.locator(".turn").last).to_contain_text(ANSWER)
        # The whole reply is said once, when it is complete.
        expect(page.get_by_role("status")).to_contain_text(ANSWER)
        assert page.get_by_role("log").get_attribute("aria-live") == "off"
        assert [each["text"] for each in events(page, "message")] == [OPENS]
        assert len(events(page, "open")) == 1 and ANSWER in events(page, "answer")[0]["reply"], events(page, "answer")
        page.get_by_role("button", name="Good reply").click()
        expect(page.get_by_role("button", name="Good reply")).to_have_attribute("aria-pressed", "true")
        assert events(page, "feedback")[0]["value"] == "up"
        page.get_by_role("button", name="Ask for a person").click()
        expect(page.locator(".event")).to_contain_text("passed on")
        expect(page.get_by_role("button", name="Ask for a person")).to_be_hidden()
        page.get_by_role("button", name="Leave your address").click()
        page.get_by_label("Email").fill("ada@museum.example")
        # Escape keeps what was written, Cancel does not.
        for key, kept in (("Escape", "ada@museum.example"), ("Cancel", "")):
            page.keyboard.press("Escape") if key == "Escape" else page.get_by_role("button", name=key).click()
            expect(page.get_by_label("Your message")).to_be_focused()
            page.get_by_role("button", name="Leave your address").click()
            expect(page.get_by_label("Email")).to_have_value(kept)
        page.get_by_label("Email").fill("ada@museum.example")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.locator(".event").last).to_contain_text("address")
        assert events(page, "lead")[0]["lead"] == {"email": "ada@museum.example"}
        assert page.evaluate("Object.keys(localStorage)") == [f"cicerone-{made['token']}"] and page.evaluate("document.cookie") == ""
        page.reload()
        page.get_by_role("button", name="Open the chat").click()
        expect(page.locator(".bubble")).to_have_text(OPENS)
        expect(page.get_by_role("button", name="Good reply")).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_role("button", name="Ask for a person")).to_be_hidden()
        ask(page, "Are dogs allowed?", "garden")
        expect(page.locator(".bubble")).to_have_count(2)
        page.get_by_role("button", name="New conversation").click()
        expect(page.get_by_role("button", name=OPENS)).to_be_visible()
        ask(page, "Where are dogs welcome?", "garden")
        page.get_by_role("button", name="Conversations").click()
        expect(page.locator(".entry")).to_have_count(2)
        page.get_by_role("button", name=f"Delete: {OPENS}").click()
        page.get_by_role("button", name=f"Really delete? {OPENS}").click()
        expect(page.locator(".entry")).to_have_count(1)
        page.locator(".entry").click()
        expect(page.locator(".bubble")).to_have_text("Where are dogs welcome?")
        # The page's own functions.
        page.evaluate("cicerone.close()")
        expect(page.locator(".panel")).to_be_hidden()
        page.evaluate("cicerone.ask('When does it close?')")
        expect(page.locator(".rating")).to_have_count(2)
        page.evaluate("cicerone.reset()")
        expect(page.locator(".bubble")).to_have_count(0)
        assert page.evaluate("localStorage.length") == 0
    # Inline, at once.
    with visit(browser, f"{site}/{made['token']}?data-target=%23place&v=2") as page:
        expect(page.locator("#place").get_by_role("button", name=OPENS)).to_be_visible()
        expect(page.locator(".launcher")).to_be_hidden()


def pinned(browser, agent, made):
    """The snippet of the console names a script that is there, and its hash. Saving changes nothing that somebody else has changed."""
    with world.console(browser) as page:
        world.settled(page)
        world.go(page, f"#/agents/{agent}/widgets/{made['id']}")
        page.get_by_role("button", name="Checked by hash").click()
        expect(page.locator(".snippet code")).to_contain_text("integrity")
        # The tests' server cannot be reached from other computers.
        expect(page.get_by_text("Only this computer finds the server")).to_be_visible()
        address, integrity = re.search(r'src="([^"]+)" integrity="sha384-([^"]+)"', page.locator(".snippet code").inner_text()).groups()
        with urllib.request.urlopen(address, timeout=30) as answer:
            hash_of = base64.b64encode(hashlib.sha384(answer.read()).digest()).decode()
            assert (hash_of, "immutable" in answer.headers["Cache-Control"]) == (integrity, True), address
        page.get_by_label("Title", exact=True).fill("The guide")
        api("PATCH", f"/v1/widgets/{made['id']}", {"greeting": "Written by somebody else"})
        page.get_by_role("button", name="Save").click()
        # The button is disabled while the request is on its way, too.
        expect(page.get_by_text("Nothing has been changed.")).to_be_visible()
        saved = api("GET", f"/v1/widgets/{made['id']}")
        assert (saved["title"], saved["greeting"]) == ("The guide", "Written by somebody else"), saved


def foreign(browser, made):
    """A site that is not listed gets nothing; neither does anybody from an unknown token."""
    with website() as other:
        for token in (made["token"], "pub_000000000000000000000000"):
            with visit(browser, f"{other}/{token}", allowed=("CORS", "Failed to load")) as page:
                with page.expect_console_message(lambda said: "Cicerone: no chat" in said.text):
                    page.reload()
                expect(page.locator(".launcher, .panel")).to_have_count(0)


def identities(browser, site, made):
    """Each signed identity has conversations of its own, and a change shows the others at once."""
    ada, bob = (signed(made["identity_secret"], sub=name) for name in ("ada", "bob"))
    with visit(browser, f"{site}/{made['token']}?data-open", allowed=("status of 401",)) as page:
        page.evaluate("identity => cicerone.identify(identity)", ada)
        ask(page, "Are dogs allowed?", "garden")
        page.evaluate("identity => cicerone.identify(identity)", bob)
        expect(page.locator(".bubble")).to_have_count(0)
        ask(page, OPENS, ANSWER)
        page.evaluate("identity => cicerone.identify(identity)", ada)
        expect(page.locator(".bubble")).to_have_text("Are dogs allowed?")
        # A new identity of the same person changes nothing.
        page.evaluate("identity => cicerone.identify(identity)", signed(made["identity_secret"], sub="ada", name="Ada"))
        expect(page.locator(".bubble")).to_have_text("Are dogs allowed?")
        assert page.evaluate("localStorage.length") == 0, "an identity was kept"
        page.evaluate("identity => cicerone.identify(identity)", signed("another secret", sub="ada2"))
        expect(page.get_by_role("alert").locator("p")).to_contain_text("sign in")
        page.evaluate("cicerone.reset()")
        expect(page.locator(".bubble")).to_have_count(0)
    required = api("PATCH", f"/v1/widgets/{made['id']}", {"identity": "required"})
    # The server remembers a token that was found for less than a second.
    time.sleep(1)
    with visit(browser, f"{SERVER}/chat/{required['token']}") as page:
        expect(page.get_by_role("alert")).to_contain_text("sign in")
    with visit(browser, f"{SERVER}/chat/{required['token']}#identity={bob}") as page:
        expect(page.locator(".bubble")).to_have_text(OPENS)
        assert "identity" not in page.url, page.url


def again(browser, site, made):
    """A page that embeds its chat once more without being loaded has one chat, which its functions belong to."""
    eve = signed(made["identity_secret"], sub="eve")
    embed = "([src, token, identity]) => { const script = Object.assign(document.createElement('script'), { src }); Object.assign(script.dataset, { token, open: '' }, identity && { identity }); document.body.append(script); }"
    # The policy of the site does not allow scripts to be added.
    with visit(browser, f"{site}/{made['token']}", bypass_csp=True) as page:
        expect(page.locator(".launcher")).to_be_visible()
        page.evaluate(embed, [f"{SERVER}/widget.js", made["token"], eve])
        expect(page.locator(".panel")).to_be_visible()
        expect(page.locator(".launcher")).to_have_count(1)
        ask(page, OPENS, ANSWER)
        # The person signs out.
        page.evaluate("cicerone.identify(null)")
        expect(page.locator(".bubble")).to_have_count(0)


def keys_alone(browser, site, made):
    """Opens, asks, rates, goes back and closes without a pointer; the focus is never lost."""
    focused = "() => { let element = document.activeElement; while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement; return element.ariaLabel || element.textContent.trim(); }"
    for width in (1000, 400):
        with visit(browser, f"{site}/{made['token']}", width=width) as page:
            expect(page.locator(".launcher")).to_be_visible()

            def reach(name, key="Tab"):
                for _ in range(30):
                    page.keyboard.press(key)
                    if name in page.evaluate(focused):
                        assert page.evaluate("document.activeElement.shadowRoot.activeElement.matches(':focus-visible')"), name
                        return
                raise AssertionError(f"{name} is not reached: {page.evaluate(focused)}")

            reach("Open the chat")
            page.keyboard.press("Enter")
            expect(page.get_by_label("Your message")).to_be_focused()
            page.evaluate("window.__keys = []; for (const name of ['keydown', 'keypress']) addEventListener(name, event => __keys.push(event.key));")
            page.keyboard.type(OPENS)
            assert not page.evaluate("__keys"), "the page may take what is written for its shortcuts"
            page.keyboard.press("Shift+Enter")
            page.keyboard.type("And close?")
            page.keyboard.press("Enter")
            expect(page.locator(".bubble")).to_contain_text("And close?")
            expect(page.locator(".rating")).to_have_count(1)
            expect(page.get_by_label("Your message")).to_be_focused()
            reach("Bad reply", "Shift+Tab")
            page.keyboard.press("Space")
            expect(page.get_by_role("button", name="Bad reply")).to_have_attribute("aria-pressed", "true")
            reach("Conversations", "Shift+Tab")
            page.keyboard.press("Enter")
            expect(page.locator(".entry")).to_be_visible()
            reach(OPENS)
            if width == 400:
                # The last conversation leaves the focus in the empty list.
                reach("Delete")
                page.keyboard.press("Enter")
                page.keyboard.press("Enter")
                expect(page.locator(".earlier")).to_be_focused()
                reach("Back", "Shift+Tab")
            page.keyboard.press("Escape")
            expect(page.get_by_label("Your message")).to_be_focused()
            if width == 400:
                # It covers the page, which the focus does not leave it for.
                for _ in range(25):
                    page.keyboard.press("Tab")
                    assert page.evaluate("document.activeElement.shadowRoot !== null"), "the focus is behind the widget"
            page.get_by_label("Your message").focus()
            page.keyboard.press("Escape")
            expect(page.locator(".launcher")).to_be_focused()


def failures(browser, site, made):
    """What was written is not lost if a request fails or a stream breaks."""
    with visit(browser, f"{site}/{made['token']}?data-open", allowed=("net::ERR", "status of 4")) as page:
        page.route("**/messages", lambda route: route.abort(), times=1)
        page.get_by_label("Your message").fill(OPENS)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
        expect(page.locator(".bubble")).to_have_text(OPENS)
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".rating")).to_have_count(1)
        expect(page.locator(".bubble")).to_have_count(1)
        # The server has stored the reply, but its stream ended early.
        def cut(route):
            whole = route.fetch()
            route.fulfill(response=whole, body=whole.text().split("event: done")[0])

        page.route("**/messages", cut, times=1)
        ask(page, "Are dogs allowed?", "garden")
        expect(page.locator(".trouble")).to_be_empty()
        expect(page.locator(".bubble")).to_have_count(2)
        assert "garden" in events(page, "answer")[-1]["reply"], events(page, "answer")
        # The same question once more: its stream ends before anything is stored, and the earlier reply is not taken for its own.
        streamed = {"Access-Control-Allow-Origin": site, "Content-Type": "text/event-stream"}
        page.route("**/messages", lambda route: route.fulfill(headers=streamed, body='event: token\ndata: {"content":"In "}\n\n'), times=1)
        page.get_by_label("Your message").fill("Are dogs allowed?")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("ended early")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".trouble")).to_be_empty()
        expect(page.locator(".rating")).to_have_count(3)
        # A stored reply is found by the next attempt if the server cannot be reached in between: the question is not asked twice.
        unreachable = lambda route: route.abort() if route.request.method == "GET" else route.fallback()
        page.route("**/messages", cut, times=1)
        page.route("**/conversations/*", unreachable)
        page.get_by_label("Your message").fill("Where are dogs not welcome?")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("ended early")
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
        page.unroute("**/conversations/*", unreachable)
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".trouble")).to_be_empty()
        expect(page.locator(".bubble")).to_have_count(4)
        expect(page.get_by_role("status")).to_contain_text("halls")
        conversation = page.evaluate("window.__events").pop()[1]["conversation_id"]
        asked = [each["content"] for each in api("GET", f"/v1/conversations/{conversation}")["messages"] if each["role"] == "user"]
        assert asked == [OPENS, "Are dogs allowed?", "Are dogs allowed?", "Where are dogs not welcome?"], asked
        # The conversation was deleted elsewhere: the message begins another one.
        api("DELETE", f"/v1/conversations/{page.evaluate('window.__events')[-1][1]['conversation_id']}")
        page.get_by_label("Your message").fill("Where are dogs welcome?")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("not available")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".turn").last).to_contain_text("garden")
        # A chat that is opened while the server cannot be reached shows its conversation when it is opened again.
        page.route("**/conversations", lambda route: route.abort(), times=1)
        page.reload()
        expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
        page.get_by_role("button", name="Close").click()
        page.get_by_role("button", name="Open the chat").click()
        expect(page.locator(".bubble")).to_have_text("Where are dogs welcome?")
        expect(page.locator(".trouble")).to_be_empty()
        refusal = {"error": {"code": "rate_limit_exceeded", "message": "too many messages at once; try again in 20 s"}}
        page.route("**/messages", lambda route: route.fulfill(status=429, headers={"Access-Control-Allow-Origin": site}, json=refusal), times=1)
        page.get_by_label("Your message").fill("When does it close?")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("Too many messages at once")
        page.get_by_label("Your message").fill("x" * 4001)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("4001")
        expect(page.get_by_label("Your message")).to_have_value("x" * 4001)


def tables(browser, site, made):
    """A table scrolls by itself instead of dividing its words; words that are too long for a line are divided."""
    for width in (1000, 320):
        found = []
        with visit(browser, f"{site}/{made['token']}?data-open", width=width) as page:
            expect(page.locator("table")).to_be_visible()
            assert not page.locator("th, td").evaluate_all(world.BROKEN), width
            fits(page, found, f"greeting {width}")
            ask(page, "q" * 400)
            fits(page, found, f"question {width}")
        assert not found, "\n".join(found)


def appearance(browser, site, made, arabic, axe):
    """axe finds nothing, nothing is wider than the window, everything that is pressed is large enough; pictures of all of it."""
    folder, found = pictures(), []
    shots = {
        "light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"}, "narrow": {"color_scheme": "light", "width": 320, "height": 640}, "narrow-dark": {"color_scheme": "dark", "width": 390, "height": 780},
        "large": {"color_scheme": "light"}, "forced": {"forced_colors": "active", "color_scheme": "dark"}, "arabic": {"color_scheme": "light"}, "arabic-dark": {"color_scheme": "dark"},
    }
    for name, options in shots.items():
        token = (arabic if "arabic" in name else made)["token"]
        with visit(browser, f"{site}/{token}", **options) as page:
            if name == "large":
                page.context.new_cdp_session(page).send("Page.setFontSizes", {"fontSizes": {"standard": 32}})
                page.reload()

            def keep(part):
                look.examine(page, axe, found, f"widget {name} {part}")
                fits(page, found, f"widget {name} {part}")
                page.screenshot(path=folder / f"widget-{part}-{name}.png")

            page.locator(".launcher").click()
            expect(page.locator(".panel")).to_be_visible()
            if name in ("light", "dark", "narrow", "arabic"):
                keep("begin")
            ask(page, OPENS)
            ask(page, "Are dogs allowed?" if "arabic" not in name else "هل الكلاب مسموحة؟")
            if "arabic" in name:
                assert page.locator(".root").get_attribute("dir") == "rtl"
            keep("asked")
            if name in ("light", "dark", "narrow", "large"):
                page.get_by_role("button", name="Conversations").click()
                expect(page.locator(".entry").first).to_be_visible()
                keep("earlier")
                page.get_by_role("button", name="Back").click()
                page.get_by_role("button", name="Leave your address").click()
                keep("lead")
    for scheme in ("light", "dark"):
        with visit(browser, f"{SERVER}/chat/{made['token']}", color_scheme=scheme) as page:
            expect(page.get_by_role("button", name=OPENS)).to_be_visible()
            ask(page, OPENS, ANSWER)
            ask(page, "Are dogs allowed?", "garden")
            look.examine(page, axe, found, f"hosted {scheme}")
            fits(page, found, f"hosted {scheme}")
            page.screenshot(path=folder / f"hosted-{scheme}.png")
    # Motion only where it is wanted.
    for wish, moves in (("reduce", False), ("no-preference", True)):
        with visit(browser, f"{site}/{made['token']}", reduced_motion=wish) as page:
            name = page.locator(".launcher").evaluate("element => getComputedStyle(element).animationName")
            assert (name != "none") == moves, (wish, name)
    assert not found, "\n".join(found)


def fits(page, found, where):
    """Whether something sticks out of the panel, or is too small to be pressed."""
    found += page.evaluate(
        """where => { const { shadowRoot } = [...document.querySelectorAll('div')].find(each => each.shadowRoot); const { right, left } = shadowRoot.querySelector('.panel').getBoundingClientRect(); const wrong = [];
        for (const each of shadowRoot.querySelectorAll('.panel *')) { if (!each.checkVisibility() || each.closest('.unseen, .scroll, .sources, pre')) continue; const box = each.getBoundingClientRect();
          if (box.left < left - 1 || box.right > right + 1) wrong.push(`${where}: ${each.outerHTML.slice(0, 90)} sticks out`);
          if (each.matches('button, input, textarea') && (box.width < 24 || box.height < 24)) wrong.push(`${where}: ${each.outerHTML.slice(0, 90)} is ${box.width} by ${box.height}`); }
        return wrong; }""",
        where,
    )
