"""The Python client against `hostile.py`, synchronous and asynchronous."""

import asyncio
import os

import cicerone
import httpx
from cicerone import AsyncCicerone, Cicerone

HOSTILE = os.environ["HOSTILE"]


class Both:
    """A client in one of its two forms, called in the same way."""

    def __init__(self, name, scenario, options):
        kind = AsyncCicerone if name == "async" else Cicerone
        self.url = f"{HOSTILE}/{name}/{scenario}"
        self.client = kind("ck_test", self.url, **options)
        self.is_async = name == "async"

    def call(self, operation, *arguments, **named):
        answer = getattr(self.client, operation)(*arguments, **named)
        return runner.run(answer) if self.is_async else answer

    def items(self, iterable):
        if not self.is_async:
            return list(iterable)

        async def collect():
            return [item async for item in iterable]

        return runner.run(collect())

    def listed(self):
        return self.items(self.client.list_agents(page_size=2))

    def reply(self, texts, **options):
        """Collects the texts of a streamed reply, also if it fails."""
        message = {"agent_id": "agent_8kd02JwQ1z", "message": "Hello"}
        events = self.client.stream_message(**message, **options)

        async def collect():
            async for event in events:
                texts.append(event.get("content"))

        if self.is_async:
            return runner.run(collect())
        for event in events:
            texts.append(event.get("content"))
        return None

    def seen(self):
        return httpx.get(f"{self.url}/seen").json()


def raises(kind, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except cicerone.CiceroneError as error:
        assert type(error) is kind, repr(error)
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def check(name):
    def of(scenario, **options):
        return Both(name, scenario, options)

    create = ("create_agent",)
    for scenario, attempts, least in [("limited", 2, 1.0), ("date", 2, 0.9), ("progress", 3, 2.0), ("drop", 2, 0.3), ("half", 2, 0.3)]:
        both = of(scenario)
        assert both.call(*create, name="Guide")["id"] == "agent_8kd02JwQ1z", scenario
        seen = both.seen()
        assert len(seen) == attempts, (scenario, seen)
        assert seen[-1]["at"] - seen[0]["at"] >= least, (scenario, seen)
        assert len({request["key"] for request in seen}) == 1 and seen[0]["key"], (scenario, seen)
        assert seen[0]["body"].replace(" ", "") == '{"name":"Guide"}', seen

    refusals = [
        ("quota", cicerone.RateLimitError, 1, "quota_exceeded"),
        ("far", cicerone.RateLimitError, 1, "rate_limit_exceeded"),
        ("state", cicerone.ConflictError, 1, "conflict"),
        ("html", cicerone.ServerError, 3, None),
        ("portal", cicerone.ApiError, 1, None),
        ("redirect", cicerone.ApiError, 1, None),
        ("param", cicerone.BadRequestError, 1, "invalid_parameter"),
        ("invalid", cicerone.ValidationError, 1, "validation_error"),
    ]
    for scenario, kind, attempts, code in refusals:
        both = of(scenario)
        error = raises(kind, both.call, *create, name="Guide")
        assert error.code == code and len(both.seen()) == attempts, (scenario, error)
        if code:
            assert error.request_id == "req_8kd02JwQ1z" and code in str(error), error
        if scenario == "param":
            assert error.param == "temperature"
        if scenario == "invalid":
            assert error.errors[0]["param"] == "content[3].answer"
    shapeless = of("shapeless")
    for _ in range(3):
        assert raises(cicerone.BadRequestError, shapeless.call, *create, name="Guide").code is None
    silent = of("silent", timeout=1.0, max_retries=1)
    raises(cicerone.RequestTimeoutError, silent.call, *create, name="Guide")
    assert len(silent.seen()) == 2
    nobody = Both(name, "x", {"max_retries": 0})
    nobody.client = type(nobody.client)("ck_test", "http://127.0.0.1:9", max_retries=0)
    raises(cicerone.ConnectionFailedError, nobody.call, *create, name="Guide")

    assert [item["id"] for item in of("pages").listed()] == ["a", "b", "c"]
    raises(cicerone.CiceroneError, of("loop").listed)
    nothing = of("nothing")
    assert nothing.call("delete_agent", "a/../b?c#d") is None
    assert nothing.seen()[0]["path"] == "v1/agents/a%2F..%2Fb%3Fc%23d", nothing.seen()
    for bad in ("", ".", ".."):
        try:
            nothing.call("delete_agent", bad)
        except ValueError:
            continue
        raise AssertionError(bad)
    assert nothing.seen()[0]["key"] and len(nothing.seen()) == 1
    given = of("limited")
    given.call(*create, name="Guide", idempotency_key="mine")
    assert given.seen()[-1]["key"] == "mine"

    odd = of("stream_odd")
    texts = []
    odd.reply(texts)
    assert texts == ["One\u2028two\u0085", " three", "🦀", None], texts
    assert len({request["key"] for request in odd.seen()}) == 1
    for scenario, expected in [("cut", ["One", " two"]), ("ended", ["One"]), ("failed", ["One"]), ("garbage", []), ("stalled", ["One"])]:
        both = of(f"stream_{scenario}", timeout=1.0 if scenario == "stalled" else 30.0)
        texts = []
        error = raises(cicerone.StreamError, both.reply, texts)
        assert texts == expected, (scenario, texts)
        seen = both.seen()
        assert len(seen) == 1 and error.idempotency_key == seen[0]["key"], (scenario, seen)
        if scenario == "failed":
            assert (error.code, error.request_id, error.retryable) == ("internal_error", "req_8kd02JwQ1z", False)


with asyncio.Runner() as runner:
    check("sync")
    check("async")
os.environ.pop("CICERONE_API_KEY", None)
raises(cicerone.CiceroneError, Cicerone)
print("the Python client copes")
