// Written by `cargo xtask openapi` from docs/openapi.json; not edited by hand.

import { Client, type Options } from "./client.js";
import type { Listing } from "./listing.js";
import { segment } from "./requests.js";
import type {
  AddPairs,
  Agent,
  AgentChecks,
  AnswerGap,
  ApiKey,
  AuditRecord,
  CheckRun,
  Conversation,
  CreateAgent,
  CreateApiKey,
  CreateSource,
  CreateWebhookEndpoint,
  CreateWidget,
  Delivery,
  Document,
  GapList,
  GapState,
  IssuedApiKey,
  IssuedWebhookEndpoint,
  IssuedWidget,
  Me,
  Message,
  Page,
  Passage,
  Rate,
  Rating,
  Receipt,
  ReplaceChecks,
  Reply,
  RotateSecret,
  RotateToken,
  Search,
  SearchResult,
  SendMessage,
  SitePreview,
  SitePreviewRequest,
  Source,
  Statistics,
  UpdateAgent,
  UpdateApiKey,
  UpdateGap,
  UpdateSource,
  UpdateWebhookEndpoint,
  UpdateWidget,
  UploadedFile,
  Usage,
  WebhookEndpoint,
  Widget,
} from "./types.js";

/** A client with methods for the operations of the API. */
export class Cicerone extends Client {
  /** List agents. Newest first. Permission: `agents:read`. */
  listAgents(
    query: { page_size?: number; status?: "active" | "paused"; set?: string; cursor?: string } = {},
    options?: Options,
  ): Listing<Agent> {
    return this.list("/v1/agents", query, options);
  }

  /** Create an agent. Permission: `agents:write`. */
  createAgent(body: CreateAgent, options?: Options): Promise<Agent> {
    return this.call("POST", "/v1/agents", { body, isKeyed: true }, options);
  }

  /**
   * Delete an agent. Permanently deletes the agent, its sources and its conversations.
   * Permission: `agents:write`.
   */
  deleteAgent(agent_id: string, options?: Options): Promise<void> {
    return this.call("DELETE", `/v1/agents/${segment(agent_id)}`, { isKeyed: true }, options);
  }

  /** Retrieve an agent. Permission: `agents:read`. */
  getAgent(agent_id: string, options?: Options): Promise<Agent> {
    return this.call("GET", `/v1/agents/${segment(agent_id)}`, {}, options);
  }

  /**
   * Update an agent. Changes only the fields that are given; null resets a field to its default.
   * A `paused` agent accepts no new conversations until it is `active` again. Permission:
   * `agents:write`.
   */
  updateAgent(agent_id: string, body: UpdateAgent, options?: Options): Promise<Agent> {
    return this.call("PATCH", `/v1/agents/${segment(agent_id)}`, { body, isKeyed: true }, options);
  }

  /** Get an agent's checks. Permission: `agents:read`. */
  getChecks(agent_id: string, options?: Options): Promise<AgentChecks> {
    return this.call("GET", `/v1/agents/${segment(agent_id)}/checks`, {}, options);
  }

  /**
   * Replace an agent's checks. Checks are questions whose replies you know. They are asked on
   * request and after each training of a source, and they count toward the quotas. Sending the
   * same checks again changes nothing, so the request can be repeated and takes no idempotency
   * key. Permission: `agents:write`.
   */
  replaceChecks(agent_id: string, body: ReplaceChecks, options?: Options): Promise<AgentChecks> {
    return this.call("PUT", `/v1/agents/${segment(agent_id)}/checks`, { body }, options);
  }

  /**
   * Run an agent's checks. The checks are asked in the background; the run shows the results so
   * far. Permission: `agents:write`.
   */
  runChecks(agent_id: string, options?: Options): Promise<CheckRun> {
    return this.call("POST", `/v1/agents/${segment(agent_id)}/checks/run`, { isKeyed: true }, options);
  }

  /**
   * List the runs of an agent's checks. Newest first. The last 20 are kept. Permission:
   * `agents:read`.
   */
  listCheckRuns(
    agent_id: string,
    query: { page_size?: number; cursor?: string } = {},
    options?: Options,
  ): Listing<CheckRun> {
    return this.list(`/v1/agents/${segment(agent_id)}/checks/runs`, query, options);
  }

  /** List conversations. Newest first, without their messages. Permission: `conversations:read`. */
  listConversations(
    agent_id: string,
    query: { page_size?: number; created_after?: string; created_before?: string; metadata?: Array<string>; rating?: "up" | "down"; unanswered?: "true"; channel?: "api" | "openai" | "mcp" | "widget"; visitor_id?: string; text?: string; cursor?: string } = {},
    options?: Options,
  ): Listing<Conversation> {
    return this.list(`/v1/agents/${segment(agent_id)}/conversations`, query, options);
  }

  /**
   * List an agent's gaps. Groups of similar questions that were not answered, or whose reply was
   * rated down, most frequent first; ties are ordered by the latest question. The newest 10,000
   * questions of an agent are kept, except those of the OpenAI interface. A request groups up to
   * 500 new questions; `ungrouped` counts the rest. An open gap becomes `answered` as soon as
   * the sources answer its first question. A later similar question opens it again. There are no
   * pages, since the order changes with each question. Permission: `conversations:read`.
   */
  listGaps(
    agent_id: string,
    query: { status?: "open" | "answered" | "dismissed"; limit?: number } = {},
    options?: Options,
  ): Promise<GapList> {
    return this.call("GET", `/v1/agents/${segment(agent_id)}/gaps`, { query }, options);
  }

  /**
   * Dismiss or reopen a gap. A dismissed gap stays dismissed when similar questions are asked. A
   * gap that is opened again stays open until the content of the agent changes. Permission:
   * `conversations:write`.
   */
  updateGap(agent_id: string, gap_id: string, body: UpdateGap, options?: Options): Promise<GapState> {
    return this.call("PATCH", `/v1/agents/${segment(agent_id)}/gaps/${segment(gap_id)}`, { body, isKeyed: true }, options);
  }

  /**
   * Answer a gap. Adds a question/answer pair to a `qa` source, which is processed in the
   * background, and closes the gap. Without `source_id`, the pair goes to the agent's own source
   * for gaps, which is created if it is missing or full. Permission: `sources:write`.
   */
  answerGap(agent_id: string, gap_id: string, body: AnswerGap, options?: Options): Promise<Source> {
    return this.call("POST", `/v1/agents/${segment(agent_id)}/gaps/${segment(gap_id)}/answer`, { body, isKeyed: true }, options);
  }

  /**
   * Search an agent's sources. Returns the best passages first, from the same index and with the
   * same ranking that replies use. A message with this text is answered from the sources if
   * `confidence` reaches `floor`. The operation changes nothing and takes no idempotency key.
   * Permission: `sources:read`.
   */
  search(agent_id: string, body: Search, options?: Options): Promise<SearchResult> {
    return this.call("POST", `/v1/agents/${segment(agent_id)}/search`, { body }, options);
  }

  /** List sources. Newest first. Permission: `sources:read`. */
  listSources(
    agent_id: string,
    query: { page_size?: number; status?: "pending" | "processing" | "trained" | "failed"; type?: "website" | "text" | "file" | "qa"; set?: string; cursor?: string } = {},
    options?: Options,
  ): Listing<Source> {
    return this.list(`/v1/agents/${segment(agent_id)}/sources`, query, options);
  }

  /**
   * Add a source. Processing starts at once and runs in the background. Permission:
   * `sources:write`.
   */
  addSource(agent_id: string, body: CreateSource, options?: Options): Promise<Source> {
    return this.call("POST", `/v1/agents/${segment(agent_id)}/sources`, { body, isKeyed: true }, options);
  }

  /**
   * Preview the crawl of a website. Shows what the site's `robots.txt` allows and what its
   * sitemaps list, before the website is added. The server requests at most three sitemaps,
   * reads at most 2 MiB of each, and requests no page of the site; this takes up to 20 s. The
   * operation changes nothing and takes no idempotency key. Permission: `sources:write`.
   */
  previewWebsite(agent_id: string, body: SitePreviewRequest, options?: Options): Promise<SitePreview> {
    return this.call("POST", `/v1/agents/${segment(agent_id)}/sources/preview`, { body }, options);
  }

  /**
   * List an agent's statistics by day. One item for each day (UTC) with messages, latest day
   * first. Statistics are kept for 400 days. Deleting conversations does not change the
   * statistics. For days before the server was updated to a version with statistics, all counts
   * except `messages` are 0. Permission: `agents:read`.
   */
  listStatistics(
    agent_id: string,
    query: { page_size?: number; from?: string; to?: string; cursor?: string } = {},
    options?: Options,
  ): Listing<Statistics> {
    return this.list(`/v1/agents/${segment(agent_id)}/statistics`, query, options);
  }

  /** List widgets. Newest first. Permission: `agents:read`. */
  listWidgets(
    agent_id: string,
    query: { page_size?: number; set?: string; cursor?: string } = {},
    options?: Options,
  ): Listing<Widget> {
    return this.list(`/v1/agents/${segment(agent_id)}/widgets`, query, options);
  }

  /**
   * Create a widget. The response contains the `identity_secret` with which the owner's site
   * signs the identities of its users. Permission: `agents:write`.
   */
  createWidget(agent_id: string, body: CreateWidget, options?: Options): Promise<IssuedWidget> {
    return this.call("POST", `/v1/agents/${segment(agent_id)}/widgets`, { body, isKeyed: true }, options);
  }

  /**
   * List API keys. Newest first. A key that is restricted to agents sees only keys that are
   * restricted to a subset of those agents. Permission: `keys:read`.
   */
  listApiKeys(
    query: { page_size?: number; set?: string; cursor?: string } = {},
    options?: Options,
  ): Listing<ApiKey> {
    return this.list("/v1/api_keys", query, options);
  }

  /**
   * Create an API key. Only this response contains `key`; the response to a repeated request
   * with the same idempotency key does not. A key cannot create a key with more permissions,
   * more agents or a later expiry than its own. An account has at most 1,000 keys; expired keys
   * are removed to make room for new ones. Permission: `keys:write`.
   */
  createApiKey(body: CreateApiKey, options?: Options): Promise<IssuedApiKey> {
    return this.call("POST", "/v1/api_keys", { body, isKeyed: true }, options);
  }

  /**
   * Delete an API key. The key stops working at once on the server that deletes it, and within a
   * second on the others. A key can delete only keys with no more permissions, no more agents
   * and no later expiry than its own. Permission: `keys:write`.
   */
  deleteApiKey(key_id: string, options?: Options): Promise<void> {
    return this.call("DELETE", `/v1/api_keys/${segment(key_id)}`, { isKeyed: true }, options);
  }

  /** Retrieve an API key. Permission: `keys:read`. */
  getApiKey(key_id: string, options?: Options): Promise<ApiKey> {
    return this.call("GET", `/v1/api_keys/${segment(key_id)}`, {}, options);
  }

  /**
   * Update an API key. Changes only the fields that are given. Both before and after the change,
   * the key must have no more permissions, no more agents and no later expiry than the key that
   * makes the request. The change takes effect at once on the server that makes it, and within a
   * second on the others. Permission: `keys:write`.
   */
  updateApiKey(key_id: string, body: UpdateApiKey, options?: Options): Promise<ApiKey> {
    return this.call("PATCH", `/v1/api_keys/${segment(key_id)}`, { body, isKeyed: true }, options);
  }

  /**
   * List the audit log. Records of changes to API keys and webhook endpoints, of deletions and
   * of failed authentications, newest first. A key that is restricted to agents sees no records.
   * Permission: `keys:read`.
   */
  listAuditLog(
    query: { page_size?: number; action?: "api_key.created" | "api_key.updated" | "api_key.deleted" | "webhook_endpoint.created" | "webhook_endpoint.updated" | "webhook_endpoint.deleted" | "webhook_endpoint.secret_rotated" | "widget.created" | "widget.updated" | "widget.deleted" | "widget.token_rotated" | "widget.secret_rotated" | "agent.deleted" | "source.deleted" | "conversation.deleted" | "conversations.exported" | "file.deleted" | "authentication.failed"; created_after?: string; created_before?: string; cursor?: string } = {},
    options?: Options,
  ): Listing<AuditRecord> {
    return this.list("/v1/audit_log", query, options);
  }

  /**
   * Send a message. Without `conversation_id`, a new conversation begins. With `stream: true`,
   * the reply is sent as Server-Sent Events: `token` events, whose `content` values together are
   * the reply, then `done`. If the reply fails after the stream has begun, an `error` event ends
   * the stream. A comment line is sent every 10 s if there is nothing else to send. Permission:
   * `conversations:write`.
   */
  sendMessage(body: SendMessage, options?: Options): Promise<Reply> {
    return this.call("POST", "/v1/conversations", { body, isKeyed: true }, options);
  }

  /** Delete a conversation. Permission: `conversations:write`. */
  deleteConversation(conversation_id: string, options?: Options): Promise<void> {
    return this.call("DELETE", `/v1/conversations/${segment(conversation_id)}`, { isKeyed: true }, options);
  }

  /**
   * Retrieve a conversation. Includes the messages, oldest first, up to 4 MiB of JSON. If the
   * conversation is longer, the newest messages that fit are included, and `messages_cursor` is
   * the cursor of the older ones. Permission: `conversations:read`.
   */
  getConversation(conversation_id: string, options?: Options): Promise<Conversation> {
    return this.call("GET", `/v1/conversations/${segment(conversation_id)}`, {}, options);
  }

  /**
   * List messages. Newest first. If the cursor is the `messages_cursor` of a conversation, the
   * list continues with the older messages that were not included there. Permission:
   * `conversations:read`.
   */
  listMessages(
    conversation_id: string,
    query: { page_size?: number; cursor?: string } = {},
    options?: Options,
  ): Listing<Message> {
    return this.list(`/v1/conversations/${segment(conversation_id)}/messages`, query, options);
  }

  /** Remove the rating of a reply. Permission: `conversations:write`. */
  unrateMessage(conversation_id: string, n: number, options?: Options): Promise<void> {
    return this.call("DELETE", `/v1/conversations/${segment(conversation_id)}/messages/${segment(n)}/rating`, { isKeyed: true }, options);
  }

  /**
   * Rate a reply. Replaces an earlier rating. Sending the same rating again changes nothing, so
   * the request can be repeated and takes no idempotency key. Permission: `conversations:write`.
   */
  rateMessage(conversation_id: string, n: number, body: Rate, options?: Options): Promise<Rating> {
    return this.call("PUT", `/v1/conversations/${segment(conversation_id)}/messages/${segment(n)}/rating`, { body }, options);
  }

  /**
   * Explain a reply. Shows how a reply was produced: what was searched for, what was found and
   * how well it matched, what the model received, what the reply cites, and how long each stage
   * took. Receipts are kept as long as their conversation. Replies of agents without `receipts`
   * have no receipts. Passages that have changed since then are shown without their texts.
   * Permission: `conversations:read`.
   */
  getReceipt(conversation_id: string, n: number, options?: Options): Promise<Receipt> {
    return this.call("GET", `/v1/conversations/${segment(conversation_id)}/messages/${segment(n)}/receipt`, {}, options);
  }

  /**
   * Retrieve an extracted document. A document of the most recently trained content of a source.
   * A page of a website has the same id after a refresh, so citations in earlier replies stay
   * valid; a page that no longer exists gets 404. Permission: `sources:read`.
   */
  getDocument(document_id: string, options?: Options): Promise<Document> {
    return this.call("GET", `/v1/documents/${segment(document_id)}`, {}, options);
  }

  /**
   * Upload a file. A PDF, DOCX, ODT, RTF, PPTX, XLSX, XLS, ODS, CSV, EPUB, EML, HTML or text
   * file of at most 10 MiB, for a source of type `file`; a PNG, JPEG, TIFF or WebP file if the
   * server recognises text in pictures (`ocr.command`). A file that no source uses is removed
   * after 24 hours. Permission: `sources:write`.
   */
  uploadFile(file: Blob, filename?: string, options?: Options): Promise<UploadedFile> {
    return this.call("POST", "/v1/files", { file: { file, filename }, isKeyed: true }, options);
  }

  /** Delete a file. Permission: `sources:write`. */
  deleteFile(file_id: string, options?: Options): Promise<void> {
    return this.call("DELETE", `/v1/files/${segment(file_id)}`, { isKeyed: true }, options);
  }

  /** Retrieve a file's description. Permission: `sources:read`. */
  getFile(file_id: string, options?: Options): Promise<UploadedFile> {
    return this.call("GET", `/v1/files/${segment(file_id)}`, {}, options);
  }

  /**
   * Retrieve the account and key that make the request. Includes the quotas of the account and
   * the capabilities of this server. Permission: none; any valid key is accepted.
   */
  getMe(options?: Options): Promise<Me> {
    return this.call("GET", "/v1/me", {}, options);
  }

  /** Delete a source. The next reply no longer uses its content. Permission: `sources:write`. */
  deleteSource(source_id: string, options?: Options): Promise<void> {
    return this.call("DELETE", `/v1/sources/${segment(source_id)}`, { isKeyed: true }, options);
  }

  /** Retrieve a source. Permission: `sources:read`. */
  getSource(source_id: string, options?: Options): Promise<Source> {
    return this.call("GET", `/v1/sources/${segment(source_id)}`, {}, options);
  }

  /**
   * Update a source. Changes only the fields that are given. The content of a source cannot be
   * changed: add another source, and delete this one when the other is `trained`. Permission:
   * `sources:write`.
   */
  updateSource(source_id: string, body: UpdateSource, options?: Options): Promise<Source> {
    return this.call("PATCH", `/v1/sources/${segment(source_id)}`, { body, isKeyed: true }, options);
  }

  /**
   * List extracted documents. The documents of the most recently trained content, in order.
   * `warnings` shows what is missing from the text of a document. Permission: `sources:read`.
   */
  listDocuments(
    source_id: string,
    query: { page_size?: number; cursor?: string } = {},
    options?: Options,
  ): Listing<Document> {
    return this.list(`/v1/sources/${segment(source_id)}/documents`, query, options);
  }

  /**
   * List crawled pages. The pages that the latest crawl of the website visited, in order. They
   * are available while the crawl is running and also if it failed. Permission: `sources:read`.
   */
  listPages(
    source_id: string,
    query: { page_size?: number; cursor?: string } = {},
    options?: Options,
  ): Listing<Page> {
    return this.list(`/v1/sources/${segment(source_id)}/pages`, query, options);
  }

  /**
   * Add pairs to a source. Adds question/answer pairs at the end of a `qa` source, which is
   * processed again in the background. Replies use the previous content until it is trained.
   * Permission: `sources:write`.
   */
  addPairs(source_id: string, body: AddPairs, options?: Options): Promise<Source> {
    return this.call("POST", `/v1/sources/${segment(source_id)}/pairs`, { body, isKeyed: true }, options);
  }

  /**
   * List passages. The passages of the most recently trained content, in order. Permission:
   * `sources:read`.
   */
  listPassages(
    source_id: string,
    query: { page_size?: number; document_id?: string; cursor?: string } = {},
    options?: Options,
  ): Listing<Passage> {
    return this.list(`/v1/sources/${segment(source_id)}/passages`, query, options);
  }

  /**
   * Refresh a source. Crawls a website again. Replies use the previous content until the crawl
   * is done. Permission: `sources:write`.
   */
  refreshSource(source_id: string, options?: Options): Promise<Source> {
    return this.call("POST", `/v1/sources/${segment(source_id)}/refresh`, { isKeyed: true }, options);
  }

  /**
   * List usage. One item for each day and agent, latest day first. Usage is kept for 400 days.
   * Permission: `agents:read`.
   */
  listUsage(
    query: { page_size?: number; from?: string; to?: string; agent_id?: string; cursor?: string } = {},
    options?: Options,
  ): Listing<Usage> {
    return this.list("/v1/usage", query, options);
  }

  /** List webhook endpoints. Newest first. Permission: `webhooks:read`. */
  listWebhookEndpoints(
    query: { page_size?: number; set?: string; cursor?: string } = {},
    options?: Options,
  ): Listing<WebhookEndpoint> {
    return this.list("/v1/webhook_endpoints", query, options);
  }

  /**
   * Create a webhook endpoint. The endpoint receives the events of all agents of the account.
   * Requests follow Standard Webhooks: they have `webhook-id`, `webhook-timestamp` and a
   * `webhook-signature` over `id.timestamp.body`. The response contains the `secret` for
   * verifying signatures. Permission: `webhooks:write`.
   */
  createWebhookEndpoint(body: CreateWebhookEndpoint, options?: Options): Promise<IssuedWebhookEndpoint> {
    return this.call("POST", "/v1/webhook_endpoints", { body, isKeyed: true }, options);
  }

  /**
   * Delete a webhook endpoint. Deletes the endpoint and its deliveries. Permission:
   * `webhooks:write`.
   */
  deleteWebhookEndpoint(endpoint_id: string, options?: Options): Promise<void> {
    return this.call("DELETE", `/v1/webhook_endpoints/${segment(endpoint_id)}`, { isKeyed: true }, options);
  }

  /** Retrieve a webhook endpoint. Permission: `webhooks:read`. */
  getWebhookEndpoint(endpoint_id: string, options?: Options): Promise<WebhookEndpoint> {
    return this.call("GET", `/v1/webhook_endpoints/${segment(endpoint_id)}`, {}, options);
  }

  /**
   * Update a webhook endpoint. Changes only the fields that are given. Nothing is sent to a
   * disabled endpoint; its pending deliveries continue when it is enabled again. Permission:
   * `webhooks:write`.
   */
  updateWebhookEndpoint(
    endpoint_id: string,
    body: UpdateWebhookEndpoint,
    options?: Options,
  ): Promise<WebhookEndpoint> {
    return this.call("PATCH", `/v1/webhook_endpoints/${segment(endpoint_id)}`, { body, isKeyed: true }, options);
  }

  /** List deliveries. Newest first. Deliveries are kept for 7 days. Permission: `webhooks:read`. */
  listDeliveries(
    endpoint_id: string,
    query: { page_size?: number; status?: "pending" | "succeeded" | "failed"; cursor?: string } = {},
    options?: Options,
  ): Listing<Delivery> {
    return this.list(`/v1/webhook_endpoints/${segment(endpoint_id)}/deliveries`, query, options);
  }

  /**
   * Send a delivery again. Sends the event again immediately, with the same `webhook-id`. If
   * this fails, it is retried as often as a new event. Permission: `webhooks:write`.
   */
  redeliver(endpoint_id: string, delivery_id: string, options?: Options): Promise<Delivery> {
    return this.call("POST", `/v1/webhook_endpoints/${segment(endpoint_id)}/deliveries/${segment(delivery_id)}/redeliver`, { isKeyed: true }, options);
  }

  /**
   * Replace the secret. The response contains the new `secret`. For 24 hours, requests are also
   * signed with the previous secret. Permission: `webhooks:write`.
   */
  rotateWebhookSecret(endpoint_id: string, options?: Options): Promise<IssuedWebhookEndpoint> {
    return this.call("POST", `/v1/webhook_endpoints/${segment(endpoint_id)}/rotate_secret`, { isKeyed: true }, options);
  }

  /**
   * Test a webhook endpoint. Queues a `ping` event for the endpoint, regardless of the events
   * that it receives. Permission: `webhooks:write`.
   */
  testWebhookEndpoint(endpoint_id: string, options?: Options): Promise<Delivery> {
    return this.call("POST", `/v1/webhook_endpoints/${segment(endpoint_id)}/test`, { isKeyed: true }, options);
  }

  /**
   * Delete a widget. The widget's token stops working. Its conversations are kept. Permission:
   * `agents:write`.
   */
  deleteWidget(widget_id: string, options?: Options): Promise<void> {
    return this.call("DELETE", `/v1/widgets/${segment(widget_id)}`, { isKeyed: true }, options);
  }

  /** Retrieve a widget. Permission: `agents:read`. */
  getWidget(widget_id: string, options?: Options): Promise<Widget> {
    return this.call("GET", `/v1/widgets/${segment(widget_id)}`, {}, options);
  }

  /**
   * Update a widget. Changes only the fields that are given. The same applies to the fields
   * within `appearance` and `limits`. Permission: `agents:write`.
   */
  updateWidget(widget_id: string, body: UpdateWidget, options?: Options): Promise<Widget> {
    return this.call("PATCH", `/v1/widgets/${segment(widget_id)}`, { body, isKeyed: true }, options);
  }

  /**
   * Replace the identity secret. The response contains the new `identity_secret`. For
   * `keep_seconds`, identities signed with the previous secret are also accepted. Secrets that
   * were replaced earlier expire no later than that: 0 ends all of them. Permission:
   * `agents:write`.
   */
  rotateWidgetSecret(widget_id: string, body: RotateSecret = {}, options?: Options): Promise<IssuedWidget> {
    return this.call("POST", `/v1/widgets/${segment(widget_id)}/rotate_secret`, { body, isKeyed: true }, options);
  }

  /**
   * Replace the token. A token that was replaced earlier stops working, even if it was to be
   * kept for longer. Permission: `agents:write`.
   */
  rotateWidgetToken(widget_id: string, body: RotateToken = {}, options?: Options): Promise<Widget> {
    return this.call("POST", `/v1/widgets/${segment(widget_id)}/rotate_token`, { body, isKeyed: true }, options);
  }
}
