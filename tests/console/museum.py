"""An account with a little of everything, so that each view has something to show."""

import json

from world import api, ask, has_route, text, trained

VISIT = """Your visit

The museum opens at nine in the morning and closes at five in the afternoon. On Mondays it is closed. The last admission is at half past four.

Admission is eight euros for adults. Children under twelve enter for free. Groups of ten or more pay six euros each.

Dogs are welcome in the garden, but not in the halls. There is a cloakroom for coats and bags beside the entrance."""
BOAT = """The lifeboat Marie

The lifeboat in the great hall is called Marie. She was built in Whitby in 1911 and saved forty-one people in twenty years of service.

Her crew of ten rowed her. An engine was never fitted."""
PAIRS = [
    {"question": "Can I take photographs?", "answer": "Yes, without a flash and without a tripod."},
    {"question": "Is there a café?", "answer": "The café beside the garden is open until half past four."},
]
QUESTIONS = ["When does the museum open?", "What is the lifeboat called?", "Is parking free?", "Can I take photographs?", "How much do children pay?", "Do you sell tickets online?", "Are dogs allowed?"]


def build(site, hook):
    """Fills the account of the key; returns the ids by name."""
    made = {}
    agent = api("POST", "/v1/agents", {"name": "Museum guide", "system_prompt": "You are the guide of a small museum by the sea. Answer briefly and kindly."})["id"]
    other = api("POST", "/v1/agents", {"name": "Shop assistant", "system_prompt": "You help customers of the museum's shop.", "answer_floor": "cautious"})["id"]
    api("PATCH", f"/v1/agents/{other}", {"status": "paused"})
    made["visit"] = text(agent, VISIT)["id"]
    text(agent, BOAT)
    made["pairs"] = api("POST", f"/v1/agents/{agent}/sources", {"type": "qa", "content": json.dumps(PAIRS)})["id"]
    made["website"] = api("POST", f"/v1/agents/{agent}/sources", {"type": "website", "content": f"{site}/", "crawl_subpages": True})["id"]
    text(other, "The shop sells postcards, books and a model of the lifeboat.")
    trained(agent)
    trained(other)
    for index, question in enumerate(QUESTIONS):
        reply = ask(agent, question, metadata={"page": "/visit", "language": "en"} if index % 2 else {})
        made["conversation"] = reply["conversation_id"] if index == 0 else made["conversation"]
        if index < 4:
            api("PUT", f"/v1/conversations/{reply['conversation_id']}/messages/{reply['n']}/rating", {"value": "down" if index == 2 else "up", "comment": "It should say so." if index == 2 else None})
    ask(agent, "And what does it cost?", conversation_id=made["conversation"])
    made["document"] = api("GET", f"/v1/sources/{made['visit']}/documents")["data"][0]["id"]
    made["endpoint"] = api("POST", "/v1/webhook_endpoints", {"url": hook, "description": "Tells the team"})["id"]
    api("POST", f"/v1/webhook_endpoints/{made['endpoint']}/test")
    api("POST", "/v1/api_keys", {"name": "Website", "permissions": ["conversations:write"], "agent_ids": [agent]})
    api("POST", "/v1/api_keys", {"name": "Editor", "permissions": ["agents:read", "sources:read", "sources:write"]})
    if has_route("put", "/v1/agents/{agent_id}/checks"):
        api("PUT", f"/v1/agents/{agent}/checks", {"checks": [{"question": "When does the museum open?", "contains": ["nine"]}, {"question": "Is parking free?", "contains": ["free"]}]})
        api("POST", f"/v1/agents/{agent}/checks/run")
    website = api("POST", f"/v1/agents/{agent}/widgets", {"name": "Website", "origins": ["https://museum.example", "https://*.museum.example"], "greeting": "Hello! Ask me about your **visit**.", "starters": QUESTIONS[:3], "handoff": True, "lead": True})
    made["visited"] = visit(website["token"])
    made["widget"] = website["id"]
    api("POST", f"/v1/agents/{agent}/widgets", {"name": "Members", "identity": "required", "is_active": False})
    return {"agent": agent, "other": other, **made}


def visit(token):
    """A visitor of the widget asks, wants a person and leaves an address; returns the conversation's id."""
    credential = api("POST", f"/w/{token}/visitors")["credential"]
    conversation = api("POST", f"/w/{token}/messages", {"message": "Do you open for school groups on Mondays?"}, key=credential)["conversation_id"]
    api("PUT", f"/w/{token}/conversations/{conversation}/handoff", {"message": "We are thirty children."}, key=credential)
    api("PUT", f"/w/{token}/conversations/{conversation}/lead", {"email": "ada@school.example", "name": "Ada", "message": "Please call after four."}, key=credential)
    return conversation


def pages(path, _body):
    """The museum's website."""
    content = {
        "/": '<title>Museum by the sea</title><main><h1>Museum by the sea</h1><p>Welcome. The tower can be climbed from April to October.</p><a href="/tower">The tower</a> <a href="/secret">Staff</a> <a href="/gone">Gone</a></main>',
        "/tower": "<title>The tower</title><main><h1>The tower</h1><p>The tower has ninety-nine steps and was finished in 1888.</p></main>",
    }
    if path == "/robots.txt":
        return 200, "text/plain", b"User-agent: *\nDisallow: /secret\n"
    if path in content:
        return 200, "text/html; charset=utf-8", content[path].encode()
    return 404, "text/plain", b"not here"


def views(made):
    """The addresses of all views, by name."""
    agent = f"#/agents/{made['agent']}"
    widgets = {"widgets": f"{agent}/widgets", "widget-settings": f"{agent}/widgets/{made['widget']}"} if "widget" in made else {}
    return {
        **widgets,
        "agents": "#/agents", "overview": agent, "playground": f"{agent}/playground", "sources": f"{agent}/sources", "source": f"{agent}/sources/{made['visit']}", "pages": f"{agent}/sources/{made['website']}?show=pages",
        "pairs": f"{agent}/sources/{made['pairs']}?show=content", "document": f"{agent}/sources/{made['visit']}/documents/{made['document']}?passage=0&reply={made['conversation']}.2", "conversations": f"{agent}/conversations", "search": f"{agent}/conversations?text=lifeboat",
        "conversation": f"{agent}/conversations/{made['conversation']}", "visitor": f"{agent}/conversations/{made['visited']}", "gaps": f"{agent}/gaps", "checks": f"{agent}/checks", "settings": f"{agent}/settings", "usage": "#/usage", "keys": "#/keys", "webhooks": "#/webhooks",
        "webhook": f"#/webhooks/{made['endpoint']}", "audit": "#/audit", "health": "#/health", "missing": "#/nowhere",
    }
