// The TypeScript client against `hostile.py`.
import assert from "node:assert/strict";
import * as cicerone from "cicerone-client";

const HOSTILE = process.env.HOSTILE;
delete process.env.CICERONE_API_KEY;
const message = { agent_id: "agent_8kd02JwQ1z", message: "Hello" };

function of(scenario, options = {}) {
  const baseUrl = `${HOSTILE}/node/${scenario}/`;
  const client = new cicerone.Cicerone({ apiKey: "ck_test", baseUrl, ...options });
  return { client, seen: async () => (await fetch(`${baseUrl}seen`)).json() };
}

async function raises(kind, promise) {
  try {
    await promise;
  } catch (error) {
    assert.equal(error.name, kind.name, error);
    return error;
  }
  assert.fail(`${kind.name} was not thrown`);
}

async function all(iterable, into = []) {
  for await (const item of iterable) into.push(item);
  return into;
}

const repeated = [["limited", 2, 1.0], ["date", 2, 0.9], ["progress", 3, 2.0], ["drop", 2, 0.3], ["half", 2, 0.3]];
for (const [scenario, attempts, least] of repeated) {
  const { client, seen } = of(scenario);
  assert.equal((await client.createAgent({ name: "Guide" })).id, "agent_8kd02JwQ1z");
  const requests = await seen();
  assert.equal(requests.length, attempts, scenario);
  assert(requests.at(-1).at - requests[0].at >= least, scenario);
  assert(requests[0].key && new Set(requests.map((request) => request.key)).size === 1, scenario);
  assert.equal(requests[0].body, '{"name":"Guide"}');
}
const refusals = [
  ["quota", cicerone.RateLimitError, 1, "quota_exceeded"],
  ["far", cicerone.RateLimitError, 1, "rate_limit_exceeded"],
  ["state", cicerone.ConflictError, 1, "conflict"],
  ["html", cicerone.ServerError, 3, undefined],
  ["portal", cicerone.ApiError, 1, undefined],
  ["redirect", cicerone.ConnectionFailedError, 3, undefined],
  ["param", cicerone.BadRequestError, 1, "invalid_parameter"],
  ["invalid", cicerone.ValidationError, 1, "validation_error"],
];
for (const [scenario, kind, attempts, code] of refusals) {
  const { client, seen } = of(scenario);
  const error = await raises(kind, client.createAgent({ name: "Guide" }));
  assert(error instanceof cicerone.CiceroneError);
  assert.equal(error.code, code);
  assert.equal((await seen()).length, attempts, scenario);
  if (code) assert(error.requestId === "req_8kd02JwQ1z" && error.message.includes(code));
  if (scenario === "param") assert.equal(error.param, "temperature");
  if (scenario === "invalid") assert.equal(error.errors[0].param, "content[3].answer");
}
const shapeless = of("shapeless").client;
for (let n = 0; n < 3; n++) {
  const error = await raises(cicerone.BadRequestError, shapeless.createAgent({ name: "Guide" }));
  assert.equal(error.code, undefined);
}
const silent = of("silent", { timeoutMs: 1_000, maxRetries: 1 });
await raises(cicerone.RequestTimeoutError, silent.client.createAgent({ name: "Guide" }));
assert.equal((await silent.seen()).length, 2);
const nobody = new cicerone.Cicerone({ apiKey: "ck_test", baseUrl: "http://127.0.0.1:9", maxRetries: 0 });
await raises(cicerone.ConnectionFailedError, nobody.createAgent({ name: "Guide" }));

assert.deepEqual((await all(of("pages").client.listAgents({ page_size: 2 }))).map((item) => item.id), ["a", "b", "c"]);
await raises(cicerone.CiceroneError, all(of("loop").client.listAgents()));
const nothing = of("nothing");
assert.equal(await nothing.client.deleteAgent("a/../b?c#d"), undefined);
assert.equal((await nothing.seen())[0].path, "v1/agents/a%2F..%2Fb%3Fc%23d");
for (const bad of ["", ".", ".."]) assert.throws(() => nothing.client.deleteAgent(bad), TypeError);
assert.equal((await nothing.seen()).length, 1);
const given = of("limited");
await given.client.createAgent({ name: "Guide" }, { idempotencyKey: "mine" });
assert.equal((await given.seen()).at(-1).key, "mine");

const odd = of("stream_odd");
const texts = (await all(odd.client.streamMessage(message))).map((event) => event.content);
assert.deepEqual(texts, ["One\u2028two\u0085", " three", "🦀", undefined]);
assert.equal(new Set((await odd.seen()).map((request) => request.key)).size, 1);
const broken = [["cut", ["One", " two"]], ["ended", ["One"]], ["failed", ["One"]], ["garbage", []], ["stalled", ["One"]]];
for (const [scenario, expected] of broken) {
  const { client, seen } = of(`stream_${scenario}`, { timeoutMs: scenario === "stalled" ? 1_000 : 30_000 });
  const events = [];
  const error = await raises(cicerone.StreamError, all(client.streamMessage(message), events));
  assert.deepEqual(events.map((event) => event.content), expected, scenario);
  const requests = await seen();
  assert.equal(requests.length, 1, scenario);
  assert.equal(error.idempotencyKey, requests[0].key);
  if (scenario === "failed") {
    assert.deepEqual([error.code, error.requestId, error.retryable], ["internal_error", "req_8kd02JwQ1z", false]);
  }
}
// The caller's own signal ends a request, a pause and a stream, and is not repeated.
for (const scenario of ["silent", "limited", "stream_stalled"]) {
  const { client, seen } = of(scenario);
  const before = (await seen()).length;
  const options = { signal: AbortSignal.timeout(200) };
  const call = scenario.startsWith("stream") ? all(client.streamMessage(message, options)) : client.createAgent({ name: "Guide" }, options);
  if (scenario === "limited") await call;
  else await assert.rejects(call, { name: "TimeoutError" });
  assert.equal((await seen()).length, before + 1, scenario);
}
assert.throws(() => new cicerone.Cicerone(), cicerone.CiceroneError);
console.log("the TypeScript client copes");
