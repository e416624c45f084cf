// A client of openapi-typescript and openapi-fetch. It is type-checked, not run.
import createClient from "openapi-fetch";
import type { paths } from "./types";

// `POST /v1/conversations` answers with JSON or with events; the second argument says which.
const client = createClient<paths, "application/json">({ baseUrl: "http://127.0.0.1:8080" });

export async function ask(agent_id: string, message: string): Promise<string> {
  // No optional field of a body is required by its type.
  const { data, error } = await client.POST("/v1/conversations", { body: { agent_id, message } });
  if (error) throw new Error(`${error.error.code} ${error.error.request_id}`);
  return data.reply;
}

export async function learn(agent_id: string): Promise<string[]> {
  const path = { agent_id };
  const body = { type: "text" as const, content: "We are open from nine to five." };
  const added = await client.POST("/v1/agents/{agent_id}/sources", { params: { path }, body });
  const listed = await client.GET("/v1/agents/{agent_id}/sources", {
    params: { path, query: { status: "trained" } },
  });
  const ids = listed.data?.data.map((source) => source.id) ?? [];
  return added.data ? [...ids, added.data.id] : ids;
}
