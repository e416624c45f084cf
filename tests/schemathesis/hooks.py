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
