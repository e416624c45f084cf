// Calls an agent with both generations of the TypeScript SDK, in both eras of the protocol.
//
// Usage: typescript_sdk.mjs URL PROGRAM SERVER AGENT FOLDER; the API key is in CICERONE_API_KEY.

import assert from "node:assert/strict";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";

const [url, program, server, agent, folder] = process.argv.slice(2);
const key = process.env.CICERONE_API_KEY;
const requestInit = { headers: { Authorization: `Bearer ${key}` } };
const info = { name: "tests", version: "1.0.0" };

async function use(client, question, word) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), ["ask", "fetch", "search"]);
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError, JSON.stringify(result));
    // The SDK has checked it against the tool's `outputSchema`.
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
    return result.structuredContent;
  };
  const { results } = await call("search", { query: question });
  assert.ok(results[0].text.includes(word), JSON.stringify(results));
  const document = await call("fetch", { id: results[0].id });
  assert.ok(document.text.includes(word));
  const reply = await call("ask", { question });
  assert.ok(reply.answer.includes(word) && reply.sources.length > 0, JSON.stringify(reply));
  const again = await call("ask", { question: "And who says so?", conversation_id: reply.conversation_id });
  assert.equal(again.conversation_id, reply.conversation_id);
  const refused = await client.callTool({ name: "fetch", arguments: { id: "doc_0000000000" } });
  assert.ok(refused.isError && JSON.parse(refused.content[0].text).code === "resource_not_found");
}

const museum = ["When does the museum open?", "nine"];
const runs = [
  ["v1 http", () => new ClientV1(info), () => new HttpV1(new URL(url), { requestInit }), museum],
  [
    "v1 forwarding",
    () => new ClientV1(info),
    () =>
      new StdioV1({
        command: program,
        args: ["mcp", "--agent", agent, "--server", server],
        env: { CICERONE_API_KEY: key },
      }),
    museum,
  ],
  [
    "v1 folder",
    () => new ClientV1(info),
    () => new StdioV1({ command: program, args: ["mcp", "--source", folder] }),
    ["What is the lifeboat called?", "Marie"],
  ],
  ["v2 http", () => new ClientV2(info), () => new HttpV2(new URL(url), { requestInit }), museum],
  [
    "v2 http, stateless",
    () => new ClientV2(info, { versionNegotiation: { mode: "auto" } }),
    () => new HttpV2(new URL(url), { requestInit }),
    museum,
  ],
];
for (const [what, makeClient, makeTransport, [question, word]] of runs) {
  const client = makeClient();
  await client.connect(makeTransport());
  assert.equal(client.getServerVersion()?.name, "cicerone");
  await use(client, question, word);
  const version = client.getNegotiatedProtocolVersion?.() ?? "";
  console.log(`typescript ${what}: connected ${version}`);
  await client.close();
}

// Without a key, the error of the server reaches the caller.
await assert.rejects(new ClientV1(info).connect(new HttpV1(new URL(url))), /401|unauthorized/i);
