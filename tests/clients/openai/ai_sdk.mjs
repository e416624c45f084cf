// The AI SDK, by both of its providers.
import assert from "node:assert/strict";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";

const { BASE_URL: baseURL, API_KEY: apiKey, AGENT: agent } = process.env;
const prompt = "When does the museum open?";
const collect = async (stream) => {
  let text = "";
  const sources = [];
  for await (const part of stream) {
    if (part.type === "error") throw part.error;
    if (part.type === "text-delta") text += part.text;
    if (part.type === "source") sources.push(part);
  }
  return { text, sources };
};

// Chat completions of a compatible server: the text only; this provider drops annotations.
const compatible = createOpenAICompatible({ name: "cicerone", baseURL, apiKey })(agent);
const plain = await generateText({ model: compatible, prompt, system: "Be brief." });
assert.match(plain.text, /nine o'clock/);
const streamed = await collect(streamText({ model: compatible, prompt }).fullStream);
assert.equal(streamed.text, plain.text);

// Chat completions of OpenAI: with sources.
const openai = createOpenAI({ baseURL, apiKey });
const chat = await generateText({ model: openai.chat(agent), prompt });
assert.equal(chat.text, plain.text);
assert.match(chat.sources[0].url, /^https:/);
const chatted = await collect(streamText({ model: openai.chat(agent), prompt }).fullStream);
assert.equal(chatted.text, plain.text);
assert.equal(chatted.sources[0].url, chat.sources[0].url);

// Responses: with sources.
const model = openai.responses(agent);
const response = await generateText({ model, prompt });
assert.equal(response.text, plain.text);
assert.equal(response.sources[0].url, chat.sources[0].url);
const events = await collect(streamText({ model, prompt }).fullStream);
assert.equal(events.text, plain.text);
assert.equal(events.sources[0].url, chat.sources[0].url);

// The next turn: by default the provider sends references to replies instead of their texts, with `store: false` the
// texts.
for (const store of [undefined, false]) {
  const providerOptions = store === undefined ? {} : { openai: { store } };
  const first = await generateText({ model, prompt, providerOptions });
  const messages = [
    { role: "user", content: prompt },
    ...first.response.messages,
    { role: "user", content: "And on Mondays?" },
  ];
  const next = await generateText({ model, messages, providerOptions });
  assert.match(next.text, /closed/);
}
