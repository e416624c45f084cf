"""Makes requests valid where the schema does not suffice; applied to requests that are meant to be valid."""

import uuid

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    # An idempotency key that was used for another request is refused, so every request gets its own.
    if case.headers and "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = uuid.uuid4().hex
    # A list accepts only its own cursors.
    if case.query:
        case.query.pop("cursor", None)
    # Replies have even numbers, and only they are rated and have receipts.
    if case.path_parameters and isinstance(case.path_parameters.get("n"), int):
        case.path_parameters["n"] += case.path_parameters["n"] % 2
    # A key expires in the future, and its agents exist.
    if "/api_keys" in case.path and isinstance(case.body, dict):
        if isinstance(case.body.get("expires_at"), str):
            case.body["expires_at"] = "2999-01-31T08:30:00Z"
        if isinstance(case.body.get("agent_ids"), list):
            case.body["agent_ids"] = None
    # Events are sent to public addresses, or to addresses that this server is configured to allow. Nobody
    # listens at this one.
    if "/webhook_endpoints" in case.path and isinstance(case.body, dict):
        if isinstance(case.body.get("url"), str):
            case.body["url"] = "http://127.9.9.9:9/"
    if not isinstance(case.body, dict):
        return
    # The contrast of a colour is computed.
    if isinstance(case.body.get("appearance"), dict) and case.body["appearance"].get("accent"):
        case.body["appearance"]["accent"] = "#2f7de1"
    # Which hosts are valid is in a standard of its own, and too much for a pattern.
    if isinstance(case.body.get("origins"), list):
        case.body["origins"] = [with_host(origin, "https://site.example") for origin in case.body["origins"]]
    # A check expects something.
    for check in case.body.get("checks") or [] if case.path.endswith("/checks") else []:
        if check.get("answered") is None:
            check["answered"] = True
        if isinstance(check.get("sources"), list):
            check["sources"] = [with_host(source, "https://site.example/page") for source in check["sources"]]
    # A response continues one conversation.
    if case.path == "/v1/responses" and case.body.get("previous_response_id"):
        case.body.pop("conversation", None)
    # The last message is the user's, and is not blank.
    messages = {"/v1/chat/completions": "messages", "/v1/responses": "input"}.get(case.path)
    if messages and isinstance(case.body.get(messages), list):
        case.body[messages] = case.body[messages][-2047:] + [{"role": "user", "content": "When do you open?"}]


def with_host(text, address):
    return address if isinstance(text, str) and "://" in text else text
