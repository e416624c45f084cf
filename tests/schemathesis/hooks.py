"""What the contract says beyond what OpenAPI can: applied to requests that are meant to be valid."""

import uuid

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    # A key that was used for another request is refused: every request gets one of its own.
    if case.headers and "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = uuid.uuid4().hex
    # Only a cursor that the list itself has given is taken.
    if case.query:
        case.query.pop("cursor", None)
    # The end of a key lies ahead, and its agents exist.
    if "/api_keys" in case.path and isinstance(case.body, dict):
        if isinstance(case.body.get("expires_at"), str):
            case.body["expires_at"] = "2999-01-31T08:30:00Z"
        if isinstance(case.body.get("agent_ids"), list):
            case.body["agent_ids"] = None
    # Events are sent to public addresses, or to what this server is allowed to ask: nobody listens there.
    if "/webhook_endpoints" in case.path and isinstance(case.body, dict):
        if isinstance(case.body.get("url"), str):
            case.body["url"] = "http://127.9.9.9:9/"
