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
