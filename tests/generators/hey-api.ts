// A client of @hey-api/openapi-ts. It is type-checked, not run.
import { addSource, listSources, sendMessage, uploadFile } from "./hey-api/index";

export async function ask(agent_id: string, message: string): Promise<string> {
  const { data, error } = await sendMessage({ body: { agent_id, message } });
  if (!data) throw new Error(error?.error.code);
  return data.reply;
}

export async function learn(agent_id: string, file: File): Promise<string[]> {
  const path = { agent_id };
  const uploaded = await uploadFile({ body: { file } });
  const content = uploaded.data?.id ?? "";
  const added = await addSource({ path, body: { type: "file", content } });
  const listed = await listSources({ path, query: { status: "trained" } });
  const ids = listed.data?.data.map((source) => source.id) ?? [];
  return added.data ? [...ids, added.data.id] : ids;
}
