"""What changes without the person's doing, or far from the focus, is said to those who cannot see it."""

from playwright.sync_api import expect
from world import api, console, go, trained

QUESTION = "How tall is the tower?"


def said(browser):
    agent = api("POST", "/v1/agents", {"name": "Tower"})["id"]
    api("POST", f"/v1/agents/{agent}/sources", {"type": "text", "content": "The tower is forty metres tall."})
    trained(agent)
    with console(browser, allowed=("net::ERR",)) as page:
        sources(page, agent)
        stopped(page, agent)
        conversations(page, agent)
        agents(page)
    api("DELETE", f"/v1/agents/{agent}")


def sources(page, agent):
    go(page, f"#/agents/{agent}/sources")
    page.get_by_label("Question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".said")).to_have_text("1 passage was found.")
    page.route("**/v1/files", lambda route: route.abort(), times=1)
    file = {"name": "steps.txt", "mimeType": "text/plain", "buffer": b"The tower has two hundred steps."}
    page.get_by_role("button", name="Add content").click()
    page.locator("dialog input[name=files]").set_input_files(file)
    expect(page.locator(".said")).to_contain_text("steps.txt was not added. The server could not be reached")
    # The list is read again until the source was trained.
    states = ["processing", "processing", "trained"]

    def answer(route):
        whole = route.fetch().json()
        for source in whole["data"]:
            if source["type"] == "file":
                source["status"] = states.pop(0) if len(states) > 1 else states[0]
        route.fulfill(json=whole)

    page.route(f"**/v1/agents/{agent}/sources?*", answer)
    page.get_by_role("button", name="Send again").click()
    expect(page.locator(".uploads")).to_have_count(0)
    # As if it had only begun to be read, however fast it was.
    go(page, f"#/agents/{agent}/sources?type=file")
    expect(page.locator(".said")).to_have_text("steps.txt: trained.")
    page.unroute(f"**/v1/agents/{agent}/sources?*")


def stopped(page, agent):
    go(page, f"#/agents/{agent}/playground")
    waiting = []
    page.route("**/v1/conversations", lambda route: waiting.append(route))
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    status = page.locator(".playground [role=status]")
    expect(status).to_have_text("The agent is writing.")
    page.get_by_role("button", name="Stop").click()
    expect(status).to_have_text("The reply was stopped.")
    waiting.pop().abort()
    page.unroute("**/v1/conversations")
    page.get_by_role("button", name="Ask again").click()
    expect(status).to_have_text("The reply is complete.")


def conversations(page, agent):
    go(page, f"#/agents/{agent}/conversations")
    page.get_by_label("Words in a message").fill("tower")
    page.keyboard.press("Enter")
    expect(page.locator(".said")).to_have_text("1 conversation.")


def agents(page):
    made = [api("POST", "/v1/agents", {"name": f"Turret {number}"})["id"] for number in range(12)]
    go(page, "#/agents")
    page.get_by_label("Name").fill("turret 11")
    expect(page.locator("main").get_by_role("status")).to_have_text("1 agent")
    for agent in made:
        api("DELETE", f"/v1/agents/{agent}")
