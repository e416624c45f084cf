"""Every view in both schemes and at 360 px: axe finds nothing, nothing is wider than the screen, and a picture is kept."""

import json
import pathlib

from playwright.sync_api import expect
from world import console, go, pictures, settled

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
WIDE, NARROW = (1280, 860), (360, 760)


def look(browser, made, views, axe):
    """Looks at all views."""
    script = pathlib.Path(axe).read_text()
    folder = pictures()
    found = []
    with console(browser, key="") as page:
        examine(page, script, found, "sign-in")
        page.screenshot(path=folder / "sign-in-light-1280.png")
    for scheme in ("light", "dark"):
        for width, height in (WIDE, NARROW):
            with console(browser, scheme=scheme, width=width, height=height) as page:
                settled(page)
                for name, address in views.items():
                    go(page, address)
                    examine(page, script, found, f"{name} ({scheme}, {width})")
                    page.screenshot(path=folder / f"{name}-{scheme}-{width}.png")
                for name, opening in overlays(made):
                    opening(page)
                    examine(page, script, found, f"{name} ({scheme}, {width})")
                    page.screenshot(path=folder / f"{name}-{scheme}-{width}.png")
                    page.keyboard.press("Escape")
                    expect(page.locator("dialog[open]")).to_have_count(0)
    assert not found, "\n".join(found)


def overlays(made):
    """What opens above a view."""

    def opens(address, *names, role="button"):
        def run(page):
            go(page, address)
            for name in names:
                page.get_by_role(role, name=name, exact=True).first.click()
            page.wait_for_selector("dialog[open]")
            settled(page)

        return run

    def palette(page):
        page.keyboard.press("Control+k")
        page.wait_for_selector(".palette[open]")
        settled(page)

    def citation(page):
        go(page, f"#/agents/{made['agent']}/conversations/{made['conversation']}")
        page.locator(".citation").first.click()
        page.wait_for_selector("dialog[open] mark")

    def asked(page):
        go(page, f"#/agents/{made['agent']}/playground?beside={made['other']}")
        page.get_by_label("Your question").fill("When does the museum open?")
        page.keyboard.press("Enter")
        expect(page.locator(".citation").first).to_be_visible()
        # The other agent is paused.
        expect(page.get_by_role("alert")).to_be_visible()

    def menu(page):
        if page.viewport_size["width"] == NARROW[0]:
            page.get_by_role("button", name="Menu").click()

    agent = f"#/agents/{made['agent']}"
    widgets = [("new-widget", opens(f"{agent}/widgets", "New widget")), ("rotate-token", opens(f"{agent}/widgets/{made['widget']}", "Rotate token"))] if "widget" in made else []
    return widgets + [
        ("asked", asked), ("menu", menu),
        ("new-agent", opens("#/agents", "New agent")), ("add-files", opens(f"{agent}/sources", "Add content")), ("add-website", opens(f"{agent}/sources?add=website")), ("add-pairs", opens(f"{agent}/sources?add=qa")),
        ("delete-agent", opens(f"{agent}/settings", "Delete agent")), ("new-key", opens("#/keys", "New key")), ("new-endpoint", opens("#/webhooks", "New endpoint")), ("palette", palette), ("citation", citation),
        ("receipt", opens(f"{agent}/conversations/{made['conversation']}", "Receipt")), ("export", opens(f"{agent}/conversations", "Export")),
    ]


def examine(page, script, found, where):
    """Runs axe, isolated from the page, and looks for what does not fit."""
    session = page.context.new_cdp_session(page)
    frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
    world = session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "axe"})["executionContextId"]
    session.send("Runtime.evaluate", {"expression": script, "contextId": world})
    run = f"axe.run(document, {json.dumps(RULES)}).then(result => JSON.stringify(result.violations.map(each => [each.id, each.nodes.slice(0, 3).map(node => node.html.slice(0, 160) + ' ' + (node.any[0]?.message || node.all[0]?.message || ''))])))"
    answer = session.send("Runtime.evaluate", {"expression": run, "contextId": world, "awaitPromise": True, "returnByValue": True})
    session.detach()
    assert "value" in answer["result"], answer
    found += [f"{where}: {rule}: {nodes}" for rule, nodes in json.loads(answer["result"]["value"])]
    if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
        found.append(f"{where}: wider than the screen")
