// The official `openai` package for Node.js.
import assert from "node:assert/strict";
import OpenAI from "openai";

const { BASE_URL: baseURL, API_KEY: apiKey, AGENT: model, PAUSED: paused } = process.env;
const client = new OpenAI({ baseURL, apiKey, timeout: 20_000 });
const question = "When does the museum open?";
const messages = [{ role: "developer", content: "Be brief." }, { role: "user", content: question }];

// Models.
const models = [];
for await (const listed of client.models.list()) models.push(listed.id);
assert(models.includes(model));
assert.equal((await client.models.retrieve(model)).owned_by, "cicerone");

// Chat completions.
const completion = await client.chat.completions.create({ model, messages });
const { content, annotations } = completion.choices[0].message;
assert.match(content, /nine o'clock/);
const { url } = annotations[0].url_citation;
assert.match(url, /^https:/);

let text = "";
const noted = [];
let usage;
const options = { model, messages, stream: true, stream_options: { include_usage: true } };
for await (const chunk of await client.chat.completions.create(options)) {
  usage = chunk.usage ?? usage;
  for (const { delta } of chunk.choices) {
    text += delta.content ?? "";
    noted.push(...(delta.annotations ?? []));
  }
}
assert.equal(text, content);
assert.equal(noted[0].url_citation.url, url);
assert.equal(usage.total_tokens, 0);
const helper = client.chat.completions.stream({ model, messages });
assert.equal(await helper.finalContent(), content);

// Responses.
const response = await client.responses.create({ model, input: question });
assert.equal(response.output_text, content);
assert.equal(response.output[0].content[0].annotations[0].url, url);

let said = "";
let last;
for await (const event of await client.responses.create({ model, input: messages, stream: true })) {
  if (event.type === "response.output_text.delta") said += event.delta;
  last = event;
}
assert.equal(said, content);
assert.equal(last.type, "response.completed");
const final = await client.responses.stream({ model, input: question }).finalResponse();
assert.equal(final.output_text, content);

const first = await client.responses.create({ model, input: question, store: true });
const second = await client.responses.create({ model, input: "And on Mondays?", previous_response_id: first.id });
assert.match(second.output_text, /closed/);

// Refusals are thrown as their classes, and the lasting ones are not repeated.
const ask = (fields) => client.chat.completions.create({ model, messages, ...fields });
const refused = async (kind, promise) => {
  const error = await promise.then(() => assert.fail("a refusal was expected"), (error) => error);
  assert(error instanceof kind, error);
  assert.match(error.requestID, /^req_/);
  return error;
};
assert.equal((await refused(OpenAI.NotFoundError, ask({ model: "gpt-4o" }))).code, "resource_not_found");
assert.equal((await refused(OpenAI.BadRequestError, ask({ n: 2 }))).param, "n");
await refused(OpenAI.ConflictError, ask({ model: paused }));
const stranger = client.withOptions({ apiKey: "ck_unknown" });
await refused(OpenAI.AuthenticationError, stranger.models.retrieve(model));
