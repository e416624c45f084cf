// Written by `cargo xtask openapi` from docs/openapi.json; not edited by hand.

/** The account that the key belongs to. */
export interface Account {
  id: string;
  name: string;
}

export interface AnswerGap {
  answer: string;
  /** The question of the pair: the gap's own question, or a better wording of it. */
  question: string;
  /**
   * The source that receives the pair; null for the agent's own source for gaps. An unknown id
   * is refused with 400.
   */
  source_id?: string | null;
}

/** Who performed the action. */
export interface AuditActor {
  /** The API key, which may have been deleted since. */
  id: string | null;
  /** The name that the API key had at the time. */
  name: string | null;
  /** `api_key`, `command_line`, or `unknown` if authentication failed. */
  type: string;
}

/** Who did what, when and from where. */
export interface AuditRecord {
  /** What was done, such as `api_key.created`. */
  action: string;
  actor: AuditActor;
  /** How many times it happened; repetitions within a few seconds share one record. */
  count: number;
  created_at: string;
  id: string;
  /** The IP address of the client; null on the command line. */
  ip_address: string | null;
  /** The id of the request; null on the command line. */
  request_id: string | null;
  /** The id of the object that the action changed. */
  target_id: string | null;
}

/** The capabilities of this server. */
export interface Capabilities {
  /**
   * Whether any model is served by an upstream. If not, the embedded answerer replies for all of
   * them.
   */
  has_upstream: boolean;
  /** The size of the largest file that can be uploaded. */
  max_upload_bytes: number;
  /** The models that agents can use. */
  models: Array<string>;
  /**
   * The server's public address, under which the texts of agents with `public_sources` are
   * published; null if it has none.
   */
  public_url: string | null;
}

/** A question and the expectations that its reply must meet. */
export interface Check {
  /**
   * Whether the reply must be based on a source (true) or must not be (false); null if this is
   * not checked.
   */
  answered: boolean | null;
  /** Texts that the reply must contain; case is ignored. */
  contains: Array<string>;
  question: string;
  /** Ids of sources, or addresses of pages, each of which the reply must cite. */
  sources: Array<string>;
}

/** What a check found. */
export interface CheckResult {
  passed: boolean;
  question: string;
  /** The first expectation that the reply does not meet; null if it passed. */
  reason: string | null;
  /** The reply, or its beginning; empty after a source of the agent was deleted. */
  reply: string;
}

/** One run of the checks of an agent, as they were when it began. */
export interface CheckRun {
  created_at: string;
  /** Why it was abandoned; null unless it is `failed`. */
  error_message: string | null;
  /** How many checks failed so far. */
  failed: number;
  /** When it ended; null until then. */
  finished_at: string | null;
  id: string;
  /** How many checks passed so far. */
  passed: number;
  /** The results of the checks that were asked so far, in order. */
  results: Array<CheckResult>;
  /** The source whose training started the run; null if it was requested. */
  source_id: string | null;
  status: string;
  /**
   * Why it started: it was requested, a source was trained, or a guarded source was crawled. A
   * run of the last kind used the content that the crawl found.
   */
  trigger: string;
}

/** An agent's checks, with the run that began last. */
export interface AgentChecks {
  checks: Array<Check>;
  /** The latest run; null if there was none. */
  last_run: CheckRun | null;
}

/** A passage that a reply is based on. */
export interface CitedPassage {
  document_id: string;
  /** The headings above it, outermost first, joined by ` › `. */
  heading: string | null;
  /** The page that it is on, from 1, if the format has pages. */
  page: number | null;
  /** The position of the passage in the source, from 0. */
  position: number;
  /** The beginning of its text. */
  text: string;
  title: string | null;
  url: string | null;
}

/** A source that a reply is based on. */
export interface Citation {
  /**
   * The document of the first of the passages; null if an earlier version of the server stored
   * the reply.
   */
  document_id: string | null;
  id: string;
  /**
   * The passages of the source that the reply is based on, best first, as they were at that
   * time. All citations of a reply together have at most 8. Empty if an earlier version of the
   * server stored the reply.
   */
  passages: Array<CitedPassage>;
  title: string;
  /**
   * The address of the first of the passages: that of its page, or of its public text on this
   * server. Null if there is none.
   */
  url: string | null;
}

/** One attempt at a delivery. */
export interface DeliveryAttempt {
  at: string;
  duration_ms: number;
  /** What went wrong; null if the attempt succeeded. */
  error: string | null;
  /** The HTTP status of the endpoint's response; null if there was none. */
  http_status: number | null;
}

/** The delivery of one event to one endpoint. */
export interface Delivery {
  /** The latest attempts, oldest first. */
  attempts: Array<DeliveryAttempt>;
  created_at: string;
  /** The name of the event. */
  event: string;
  /** The `webhook-id` of every attempt. */
  event_id: string;
  id: string;
  /** When the next attempt is due; null if there is none, or if it is in progress. */
  next_attempt_at: string | null;
  /** `pending`, `succeeded` or `failed`. */
  status: string;
}

/** The data of the `done` event: the reply is complete and stored. */
export interface DoneEvent {
  conversation_id: string;
  /**
   * The number of the reply in the conversation, from 1; null for a repeated request whose reply
   * an earlier version of the server stored.
   */
  n: number | null;
  sources_used: Array<Citation>;
}

/** The data of an `error` event, which is sent if a reply fails after its stream has begun. */
export interface ErrorEvent {
  code: string;
  message: string;
  request_id: string;
  /** Whether sending the same message later can succeed. */
  retryable: boolean;
  type: string;
}

/** One problem with a request. */
export interface Finding {
  /** What the field must satisfy, such as `must not be empty`. */
  message: string;
  /** The path of the field, such as `content[3].answer`. */
  param: string;
}

/** What went wrong. */
export interface ErrorDetail {
  /** The error code, for programs to branch on. */
  code: string;
  /** A human-readable explanation. */
  message: string;
  /** The request's id, as in `X-Request-Id`. */
  request_id: string;
  /** The class of the error. */
  type: string;
  /**
   * All bad fields that were found, at most 20; present on every 422, and on a 400 that names a
   * field or parameter.
   */
  errors?: Array<Finding>;
  /** The field or parameter that caused the error. */
  param?: string;
  /** Seconds to wait before trying again; present on every 429. */
  retry_after?: number;
}

/** A question of a gap. */
export interface GapExample {
  asked_at: string;
  conversation_id: string;
  /** The number of the message in the conversation, from 1. */
  n: number;
  /** The question, cut at 300 characters. */
  text: string;
}

/** A group of similar questions without a good answer. */
export interface Gap {
  /** The number of questions. */
  count: number;
  /** The latest questions, newest first. */
  examples: Array<GapExample>;
  first_asked_at: string;
  id: string;
  last_asked_at: string;
  /** The first question. */
  question: string;
  /** Answered questions whose reply is rated down. */
  rated_down: number;
  /**
   * The source that received the pair that answers it; null if there is none or it has been
   * deleted.
   */
  source_id: string | null;
  status: string;
  /** Questions whose reply is based on no source. */
  unanswered: number;
}

/** The gaps of an agent. */
export interface GapList {
  data: Array<Gap>;
  /**
   * The number of questions that are not in a group yet. The next request groups up to 500 of
   * them.
   */
  ungrouped: number;
}

/** A gap without its questions, which the API key may not be allowed to read. */
export interface GapState {
  id: string;
  /**
   * The source that received the pair that answers it; null if there is none or it has been
   * deleted.
   */
  source_id: string | null;
  status: string;
}

/** Colours and position. Only the fields that are given change; null means the default. */
export interface GivenWidgetAppearance {
  /**
   * The colour of buttons and links, with a contrast of at least 3:1 to `#ffffff` and to
   * `#131516`; null for `#2f5bd7`.
   */
  accent?: string | null;
  /** The side of the page that the widget is on; null for `right`. */
  position?: "right" | "left" | null;
  /** Whether it is light or dark; null for `auto`, which follows the visitor's preference. */
  scheme?: "auto" | "light" | "dark" | null;
}

/** Limits. Only those that are given change; null means the default. */
export interface GivenWidgetLimits {
  /** Null for 20. */
  messages_per_address_per_minute?: number | null;
  /** Messages of the widget per UTC day; null for 2,000. */
  messages_per_day?: number | null;
  /** Null for 60. */
  messages_per_visitor_per_hour?: number | null;
  /** Replies in progress; null for 20. */
  replies_at_once?: number | null;
}

/** A passage that was found. */
export interface Hit {
  /** The document that the passage is a part of. */
  document_id: string;
  /** The headings above the passage, outermost first, joined by ` › `. */
  heading: string | null;
  page: number | null;
  /** The position of the passage in the source, from 0. */
  position: number;
  /** How well the passage matches the query. Scores are comparable only within one search. */
  score: number;
  source_id: string;
  text: string;
  title: string | null;
  url: string | null;
}

/**
 * How long replies took in milliseconds, from the arrival of the message to the end of the
 * reply.
 */
export interface Latency {
  mean_ms: number;
  /** The median, interpolated within a range. */
  p50_ms: number;
  /** The 95th percentile, interpolated within a range. */
  p95_ms: number;
}

/** A visitor's contact details. */
export interface Lead {
  email: string;
  message: string | null;
  name: string | null;
  phone: string | null;
}

/**
 * Identifies the entry of a declaration file that manages an object. `cicerone apply` sets it.
 * The set and key are unique among objects of a kind; for widgets and sources, within their
 * agent. Two sources may share them if their hashes differ.
 */
export interface Managed {
  /** SHA-256 of the entry's content. The server only stores it. */
  hash: string;
  /** The key of the entry in its set. */
  key: string;
  /** The set that the entry belongs to. */
  set: string;
}

/** A configured chatbot. */
export interface Agent {
  /**
   * How certain the search must be before a question is answered from the sources. `cautious`
   * leaves more questions unanswered and gives fewer wrong answers; `eager` does the opposite.
   */
  answer_floor: string;
  created_at: string;
  id: string;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed: Managed | null;
  /** The maximum number of tokens in a reply. */
  max_tokens: number;
  /** The model that writes the replies. */
  model: string;
  /** A human-readable name. */
  name: string;
  /**
   * Whether anyone who knows the address of a document may read its text without a key. Ids of
   * documents are not secret: this publishes all texts of the agent. It has an effect only if
   * the server has a public address.
   */
  public_sources: boolean;
  /** Whether replies are stored with receipts, which show how they were produced. */
  receipts: boolean;
  /** Days after which a conversation without a new message is removed; null for never. */
  retention_days: number | null;
  /**
   * Whether chat completions end with a list of their sources, for clients that drop other
   * citations. The list is not stored.
   */
  source_list: boolean;
  /** A `paused` agent accepts no new conversations. */
  status: string;
  /** Behaviour, tone and constraints. */
  system_prompt: string;
  /** Lower is more deterministic. */
  temperature: number;
  /** When it was last changed. */
  updated_at: string;
}

/** An API key, without its secret. */
export interface ApiKey {
  /** The agents that the key is restricted to; null for all agents of the account. */
  agent_ids: Array<string> | null;
  created_at: string;
  /** When it expires; null for never. */
  expires_at: string | null;
  /** The first and last characters of its secret. */
  hint: string;
  id: string;
  /** When the key was last used, accurate to a few seconds; null if it was never used. */
  last_used_at: string | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed: Managed | null;
  /** A human-readable name. */
  name: string;
  /** The permissions of the key; `*` grants all of them. */
  permissions: Array<string>;
}

export interface CreateAgent {
  /** A human-readable name. */
  name: string;
  /**
   * How certain the search must be before a question is answered from the sources. `cautious`
   * leaves more questions unanswered and gives fewer wrong answers; `eager` does the opposite;
   * null for the default, `balanced`.
   */
  answer_floor?: "cautious" | "balanced" | "eager" | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed?: Managed | null;
  /** The maximum number of tokens in a reply; null for the default, 1024. */
  max_tokens?: number | null;
  /** The model that writes the replies; null for the default, `gpt-4o`. */
  model?: "gpt-4-turbo" | "gpt-4o" | "gpt-3.5-turbo" | null;
  /**
   * Whether anyone who knows the address of a document may read its text without a key. Ids of
   * documents are not secret: this publishes all texts of the agent. It has an effect only if
   * the server has a public address. Null for false.
   */
  public_sources?: boolean | null;
  /** Whether replies are stored with receipts, which show how they were produced; null for true. */
  receipts?: boolean | null;
  /** Days after which a conversation without a new message is removed; null for never. */
  retention_days?: number | null;
  /**
   * Whether chat completions end with a list of their sources, for clients that drop other
   * citations. The list is not stored; null for false.
   */
  source_list?: boolean | null;
  /** Behaviour, tone and constraints; null for none. */
  system_prompt?: string | null;
  /** Lower is more deterministic; null for the default, 0.7. */
  temperature?: number | null;
}

export interface CreateApiKey {
  /** A human-readable name. */
  name: string;
  /** The permissions of the key; `*` grants all of them. */
  permissions: Array<"agents:read" | "agents:write" | "sources:read" | "sources:write" | "conversations:read" | "conversations:write" | "conversations:export" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "*">;
  /** The agents that the key is restricted to; null for all agents of the account. */
  agent_ids?: Array<string> | null;
  /** When it expires, in the future; null for never. */
  expires_at?: string | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed?: Managed | null;
}

export interface CreateSource {
  /**
   * A full http or https URL with a host and without credentials. The text itself. The id of an
   * uploaded file. An unknown id is refused with 400. A string that contains a JSON array of 1
   * to 500 objects, each with the non-empty strings `question`, of at most 2000 characters, and
   * `answer`.
   */
  content: string;
  type: "website" | "text" | "file" | "qa";
  /** Whether links within the host are followed; null for false. */
  crawl_subpages?: boolean | null;
  /**
   * Whether a crawl replaces the content only if every check of the agent that passes now would
   * still pass; null for false.
   */
  guarded?: boolean | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed?: null | Managed;
}

export interface CreateWebhookEndpoint {
  /**
   * A public https URL without credentials. An http URL or a private address is accepted only if
   * the server allows it.
   */
  url: string;
  /** A human-readable description. */
  description?: string | null;
  /** The events that it receives; null for all. */
  events?: Array<"source.trained" | "source.failed" | "checks.failed" | "conversation.handoff_requested" | "message.rated" | "lead.captured"> | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed?: Managed | null;
  /** `thin` omits `data.content`; null for the default, `full`. */
  payload?: "full" | "thin" | null;
  /** Whether events are sent to the endpoint; null for the default, `enabled`. */
  status?: "enabled" | "disabled" | null;
}

export interface CreateWidget {
  /** A name that only the owner sees. */
  name: string;
  /** Colours and position; null for the defaults. */
  appearance?: GivenWidgetAppearance | null;
  /** The text that is shown before the first question. */
  greeting?: string | null;
  /** Whether visitors may ask for a person; null for false. */
  handoff?: boolean | null;
  /** Whether it has a page at `/chat/{token}`; null for true. */
  hosted_page?: boolean | null;
  /** Whether visitors are users of the owner's site, whose identity it signs; null for `none`. */
  identity?: "none" | "optional" | "required" | null;
  /** Whether visitors can use it; null for true. */
  is_active?: boolean | null;
  /** A BCP 47 tag; null for `en`. */
  language?: string | null;
  /** Whether visitors may leave contact details; null for false. */
  lead?: boolean | null;
  /** Limits; null for the defaults. */
  limits?: GivenWidgetLimits | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed?: Managed | null;
  /**
   * The sites that may embed it: `https://site.example`, `https://*.site.example` for every
   * subdomain, or `*` for any; null for none except its own page.
   */
  origins?: Array<string> | null;
  /** Whether replies show their sources; null for true. */
  show_sources?: boolean | null;
  /** Suggested questions that a visitor can ask with a click; null for none. */
  starters?: Array<string> | null;
  /**
   * Texts that replace the widget's own, by key. They replace all texts that were set before;
   * null for none.
   */
  texts?: Record<string, unknown> | null;
  /** Null for the agent's name. */
  title?: string | null;
}

/** A newly created API key. */
export interface IssuedApiKey {
  /** The agents that the key is restricted to; null for all agents of the account. */
  agent_ids: Array<string> | null;
  created_at: string;
  /** When it expires; null for never. */
  expires_at: string | null;
  /** The first and last characters of its secret. */
  hint: string;
  id: string;
  /** When the key was last used, accurate to a few seconds; null if it was never used. */
  last_used_at: string | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed: Managed | null;
  /** A human-readable name. */
  name: string;
  /** The permissions of the key; `*` grants all of them. */
  permissions: Array<string>;
  /**
   * The secret, to be sent as `Authorization: Bearer`. Only the first response contains it; the
   * response to a repeated request does not.
   */
  key?: string;
}

/** A webhook endpoint with its new secret. */
export interface IssuedWebhookEndpoint {
  created_at: string;
  /** A human-readable description. */
  description: string | null;
  /** Why the endpoint is disabled; null while it is enabled. */
  disabled_reason: string | null;
  /** The events that it receives. */
  events: Array<string>;
  id: string;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed: Managed | null;
  /** `full`, or `thin`: without `data.content`. */
  payload: string;
  /** `enabled` or `disabled`. */
  status: string;
  updated_at: string;
  /** The URL that events are sent to, as it was given. */
  url: string;
  /** The secret for verifying signatures: `whsec_` followed by the key in base64. */
  secret: string;
}

/** Where a search found its first word. */
export interface Match {
  /** The number of the message in the conversation, from 1. */
  n: number;
  /** The text of the message around the word. */
  text: string;
}

/**
 * A question and the expectations that its reply must meet. At least one of `contains`,
 * `sources` and `answered` is required.
 */
export interface NewCheck {
  question: string;
  /**
   * Whether the reply must be based on a source (true) or must not be (false); null if this is
   * not checked.
   */
  answered?: boolean | null;
  /** Texts of at most 200 characters that the reply must contain; case is ignored. */
  contains?: Array<string> | null;
  /** Ids of sources, or addresses of pages, each of which the reply must cite. */
  sources?: Array<string> | null;
}

/** The result of crawling one page of a website. */
export interface Page {
  character_count: number | null;
  fetched_at: string | null;
  /** The HTTP status of the page; null if there was no response. */
  http_status: number | null;
  /** Why it was skipped or failed; otherwise null. */
  reason: string | null;
  status: string;
  title: string | null;
  url: string;
}

/** A question and its answer. */
export interface Pair {
  answer: string;
  question: string;
}

export interface AddPairs {
  /** The pairs, in order. */
  pairs: Array<Pair>;
}

/** A source was not read completely. */
export interface PartialReading {
  /** How many documents have warnings. */
  documents: number;
  /**
   * For a file, the pages that were not read completely, from 1, in order; at most the first
   * 100. Empty for other sources.
   */
  pages: Array<number>;
  /** The reasons, as a sentence. */
  reason: string;
}

/** A part of a document: the unit of search and citation. */
export interface Passage {
  /** The document that the passage is a part of. */
  document_id: string;
  /** The page that it is on, from 1, if the format has pages. */
  page: number | null;
  /** The position of the passage in the source, from 0. */
  position: number;
  text: string;
  title: string | null;
  url: string | null;
}

/** The progress of a crawl. */
export interface Progress {
  pages_done: number;
  pages_failed: number;
  pages_found: number;
}

/** A limit of the account, and how much of it is used. */
export interface Quota {
  /** The limit; null for none. */
  limit: number | null;
  /** What the account has used so far; null for a key that is restricted to agents. */
  used: number | null;
}

/** What the account may use, and what it has used. */
export interface Quotas {
  /** Bytes stored: sources, what was extracted from them, and files. */
  bytes: Quota;
  /** Messages answered in a calendar month (UTC). */
  messages: Quota;
  /** When the next month begins. */
  renewed_at: string;
  /** Model tokens in a calendar month (UTC). */
  tokens: Quota;
}

/** The account and the API key of the request, with quotas and capabilities. */
export interface Me {
  account: Account;
  api_key: ApiKey;
  capabilities: Capabilities;
  quotas: Quotas;
}

export interface Rate {
  /** Whether the reply was good. */
  value: "up" | "down";
  /** A comment of the user; null or blank for none. */
  comment?: string | null;
}

/** A rating of a reply. */
export interface Rating {
  /** A comment of the user, if there is one. */
  comment: string | null;
  /** When the rating was given or last changed. */
  rated_at: string;
  value: string;
}

/** A question of the user, or a reply of the agent with what it is based on. */
export interface Message {
  content: string;
  /** The number of the message in the conversation, from 1. */
  n: number;
  role: string;
  timestamp: string;
  /** Whether the message is based on a source; absent from user messages. */
  answered?: boolean;
  /** The user's rating of the message; null if it is not rated, absent from user messages. */
  rating?: Rating | null;
  /** The sources that the message is based on, best first; absent from user messages. */
  sources_used?: Array<Citation>;
}

/** The number of replies of a conversation that are rated up and down. */
export interface RatingCounts {
  down: number;
  up: number;
}

/** A passage that was found. */
export interface ReceiptHit {
  /** The share of the question's words that the passage contains, by their weights. */
  coverage: number;
  document_id: string;
  /** The headings above it, outermost first, joined by ` › `. */
  heading: string | null;
  /** Whether the reply cites it. */
  is_cited: boolean;
  /** Whether the passage is still the one that was found. If not, the following fields are null. */
  is_current: boolean;
  /** Whether it matched well enough for a reply to be based on it. */
  is_relevant: boolean;
  /** Whether the model received it. */
  is_sent: boolean;
  /** The page that it is on, from 1, if the format has pages. */
  page: number | null;
  /** The position of the passage in the source, from 0. */
  position: number;
  /** How well it matched. Scores are comparable only within one receipt. */
  score: number;
  source_id: string;
  /** Its text; null if the key lacks `sources:read`. */
  text: string | null;
  title: string | null;
  url: string | null;
}

/** A stage of a reply. */
export interface ReceiptStage {
  /** Its duration in milliseconds. */
  ms: number;
  /** Its name in metrics. More may be added. */
  name: string;
}

/** A word of a question. */
export interface ReceiptTerm {
  /** Whether it occurs only in earlier messages, not in the question. */
  is_context: boolean;
  /** Its stem. */
  text: string;
  /** How well it distinguishes passages. Rare words weigh more. */
  weight: number;
}

/** What was searched for. */
export interface ReceiptSearch {
  /** Whether the search also used meaning (embeddings). */
  by_meaning: boolean;
  /** How certain it is that the hits answer the question. */
  confidence: number;
  /** Earlier messages that were used to understand the question. */
  context_messages: number;
  /** The lowest confidence at which the question was answered from the sources. */
  floor: number;
  /** The user's message. */
  query: string;
  /**
   * The question that was searched for instead, if a model rewrote it to be understood without
   * the conversation.
   */
  rewritten: string | null;
  /** The words of the question, in the form in which they were compared. */
  terms: Array<ReceiptTerm>;
}

/** The tokens that a reply used, as the model counts them; 0 for the embedded answerer. */
export interface ReceiptTokens {
  completion: number;
  prompt: number;
}

/** How a reply was produced. */
export interface Receipt {
  /** The earlier messages that the model received, as many as fit into its prompt. */
  history_messages: number;
  /** What was found, best first, including passages that did not match well enough. */
  hits: Array<ReceiptHit>;
  /** The model requested from the upstream; null for the embedded answerer. */
  model: string | null;
  /** The number of the reply in the conversation, from 1. */
  n: number;
  /**
   * The id of the request that contained the question, as in its `X-Request-Id`; null if it did
   * not arrive over HTTP.
   */
  request_id: string | null;
  search: ReceiptSearch;
  /** The stages of the reply, in order, without storing it. */
  stages: Array<ReceiptStage>;
  tokens: ReceiptTokens;
}

/** The checks of an agent. */
export interface ReplaceChecks {
  /** The checks, in the order in which they are asked. All together take at most 256 KiB of JSON. */
  checks: Array<NewCheck>;
}

/** A complete reply. */
export interface Reply {
  agent_id: string;
  /** The same as `id`. A message with this id continues the conversation. */
  conversation_id: string;
  /** When the conversation began. */
  created_at: string;
  /** The conversation's id. */
  id: string;
  /** The number of the reply in the conversation, from 1. It names the message in other requests. */
  n: number;
  /** The agent's answer. */
  reply: string;
  /** The sources that the reply is based on, best first. */
  sources_used: Array<Citation>;
}

export interface RotateSecret {
  /** How long replaced secrets are accepted; null for 24 hours. */
  keep_seconds?: number | null;
}

export interface RotateToken {
  /** How long the old token works; null for 0. */
  keep_seconds?: number | null;
}

export interface Search {
  /** The text to search for. */
  query: string;
  /** The maximum number of hits; null for the default, 10. */
  limit?: number | null;
}

/** The passages that a search found, best first. */
export interface SearchResult {
  /** How certain it is that the hits answer the query. */
  confidence: number;
  data: Array<Hit>;
  /**
   * The lowest confidence at which a message is answered from the sources, according to the
   * agent's `answer_floor`.
   */
  floor: number;
}

export interface SendMessage {
  agent_id: string;
  /** The user's text. */
  message: string;
  /** The conversation to continue. Without it, a new one begins. */
  conversation_id?: string | null;
  /** Key/value pairs for a new conversation; ignored if a conversation is continued. */
  metadata?: Record<string, string> | null;
}

/** A page that a sitemap lists. */
export interface SitePreviewPage {
  /** Whether `robots.txt` allows it to be requested. */
  allowed: boolean;
  url: string;
}

/** What a site allows and lists for a crawl. */
export interface SitePreview {
  /** Whether the start page may be requested. */
  allowed: boolean;
  /**
   * The pause between requests that the site asks for, in seconds. Pauses longer than the
   * server's limit are shortened to it.
   */
  crawl_delay_seconds: number | null;
  /** Whether the sitemaps were read completely. A crawl reads more of them. */
  list_complete: boolean;
  /** The number of the site's pages in its sitemaps. */
  listed: number;
  /** The first of the listed pages. */
  pages: Array<SitePreviewPage>;
  /** Why a crawl would fail; null if the start page may be requested. */
  reason: string | null;
  /** The address of the site's `robots.txt`. */
  robots_url: string;
  /** The start page, in the form in which the crawl would record it. */
  url: string;
}

export interface SitePreviewRequest {
  /** The start page: a full http or https URL with a host and without credentials. */
  url: string;
}

/** Content that an agent answers from. */
export interface Source {
  agent_id: string;
  /**
   * The number of characters extracted; null until the source is trained. A refresh changes it
   * only when it succeeds.
   */
  character_count: number | null;
  /** The content as it was given: a URL, a text, the id of a file, or a JSON array of pairs. */
  content: string;
  /** Whether links within the host are followed; null for a source that is not a website. */
  crawl_subpages: boolean | null;
  created_at: string;
  /** Why processing failed; null in every other state. */
  error_message: string | null;
  /**
   * Whether a crawl replaces the content only if every check of the agent that passes now would
   * still pass; always false for a source that is not a website.
   */
  guarded: boolean;
  id: string;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed: Managed | null;
  /**
   * What is missing from the trained content; null if everything was read. The documents'
   * `warnings` have the details.
   */
  partially_read: PartialReading | null;
  /** The progress of the crawl while a website is processed; otherwise null. */
  progress: Progress | null;
  status: string;
  /** The title that citations show. Citations of a `qa` source show the matched question instead. */
  title: string | null;
  type: string;
}

/** The outcome of an agent's messages on one day. */
export interface Statistics {
  /** Stored replies that are based on a source. */
  answered: number;
  /** Conversations that began. */
  conversations: number;
  /** The day, in UTC. */
  day: string;
  /** How long the stored replies took; null if there are none. */
  latency: Latency | null;
  /** Messages that were answered, including those whose reply was not stored. */
  messages: number;
  /** Replies of this day that are rated down, regardless of when they were rated. */
  rated_down: number;
  /** Replies of this day that are rated up, regardless of when they were rated. */
  rated_up: number;
  /** Stored replies that are based on no source. */
  unanswered: number;
}

/** The data of a `token` event: the next fragment of the reply. */
export interface TokenEvent {
  content: string;
}

export interface UpdateAgent {
  /**
   * How certain the search must be before a question is answered from the sources. `cautious`
   * leaves more questions unanswered and gives fewer wrong answers; `eager` does the opposite;
   * null for the default, `balanced`.
   */
  answer_floor?: "cautious" | "balanced" | "eager" | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed?: Managed | null;
  /** The maximum number of tokens in a reply; null for the default, 1024. */
  max_tokens?: number | null;
  /** The model that writes the replies; null for the default, `gpt-4o`. */
  model?: "gpt-4-turbo" | "gpt-4o" | "gpt-3.5-turbo" | null;
  /** A human-readable name. */
  name?: string;
  /**
   * Whether anyone who knows the address of a document may read its text without a key. Ids of
   * documents are not secret: this publishes all texts of the agent. It has an effect only if
   * the server has a public address. Null for false.
   */
  public_sources?: boolean | null;
  /**
   * Whether replies are stored with receipts, which show how they were produced; null for true.
   * Existing receipts are kept.
   */
  receipts?: boolean | null;
  /** Days after which a conversation without a new message is removed; null for never. */
  retention_days?: number | null;
  /**
   * Whether chat completions end with a list of their sources, for clients that drop other
   * citations. The list is not stored; null for false.
   */
  source_list?: boolean | null;
  /** A `paused` agent accepts no new conversations. */
  status?: "active" | "paused";
  /** Behaviour, tone and constraints; null for none. */
  system_prompt?: string | null;
  /** Lower is more deterministic; null for the default, 0.7. */
  temperature?: number | null;
}

export interface UpdateApiKey {
  /** The agents that the key is restricted to; null for all agents of the account. */
  agent_ids?: Array<string> | null;
  /** When it expires, in the future; null for never. */
  expires_at?: string | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed?: Managed | null;
  /** A human-readable name. */
  name?: string;
  /** The permissions of the key; `*` grants all of them. */
  permissions?: Array<"agents:read" | "agents:write" | "sources:read" | "sources:write" | "conversations:read" | "conversations:write" | "conversations:export" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "*">;
}

export interface UpdateGap {
  /** The new status. */
  status: "open" | "dismissed";
}

export interface UpdateSource {
  /**
   * Whether a crawl replaces the content only if every check of the agent that passes now would
   * still pass. Only a website can be guarded; null for false.
   */
  guarded?: boolean | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed?: Managed | null;
}

export interface UpdateWebhookEndpoint {
  /** A human-readable description. */
  description?: string | null;
  /** The events that it receives; null for all. */
  events?: Array<"source.trained" | "source.failed" | "checks.failed" | "conversation.handoff_requested" | "message.rated" | "lead.captured"> | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed?: Managed | null;
  /** `thin` omits `data.content`; null for the default, `full`. */
  payload?: "full" | "thin" | null;
  /** Whether events are sent to the endpoint. */
  status?: "enabled" | "disabled";
  /**
   * A public https URL without credentials. An http URL or a private address is accepted only if
   * the server allows it.
   */
  url?: string;
}

export interface UpdateWidget {
  /** Colours and position; null for the defaults. */
  appearance?: GivenWidgetAppearance | null;
  /** The text that is shown before the first question. */
  greeting?: string | null;
  /** Whether visitors may ask for a person; null for false. */
  handoff?: boolean | null;
  /** Whether it has a page at `/chat/{token}`; null for true. */
  hosted_page?: boolean | null;
  /** Whether visitors are users of the owner's site, whose identity it signs; null for `none`. */
  identity?: "none" | "optional" | "required" | null;
  /** Whether visitors can use it; null for true. */
  is_active?: boolean | null;
  /** A BCP 47 tag; null for `en`. */
  language?: string | null;
  /** Whether visitors may leave contact details; null for false. */
  lead?: boolean | null;
  /** Limits; null for the defaults. */
  limits?: GivenWidgetLimits | null;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed?: Managed | null;
  /** A name that only the owner sees. */
  name?: string;
  /**
   * The sites that may embed it: `https://site.example`, `https://*.site.example` for every
   * subdomain, or `*` for any; null for none except its own page.
   */
  origins?: Array<string> | null;
  /** Whether replies show their sources; null for true. */
  show_sources?: boolean | null;
  /** Suggested questions that a visitor can ask with a click; null for none. */
  starters?: Array<string> | null;
  /**
   * Texts that replace the widget's own, by key. They replace all texts that were set before;
   * null for none.
   */
  texts?: Record<string, unknown> | null;
  /** Null for the agent's name. */
  title?: string | null;
}

/** An uploaded file. Its id is the `content` of a source of type `file`. */
export interface UploadedFile {
  /** The size of the file in bytes. */
  bytes: number;
  /** The media type, detected from the content. */
  content_type: string;
  created_at: string;
  filename: string;
  id: string;
}

/** The usage of one agent on one day. */
export interface Usage {
  /** The agent, which may have been deleted since. */
  agent_id: string;
  /** Tokens that models generated. */
  completion_tokens: number;
  /** The day, in UTC. */
  day: string;
  /** Messages that were answered. */
  messages: number;
  /** Tokens of the prompts that models received; the embedded answerer receives none. */
  prompt_tokens: number;
}

/** A visitor of a widget. */
export interface Visitor {
  email: string | null;
  id: string;
  name: string | null;
  /** The user's id on the owner's site; null for an anonymous visitor. */
  subject: string | null;
}

/** An ordered exchange between an end user and an agent. */
export interface Conversation {
  agent_id: string;
  /** The interface through which it began. More may be added. */
  channel: string;
  created_at: string;
  /** When the visitor first asked for a person. */
  handoff_requested_at: string | null;
  id: string;
  /** The contact details that the visitor left, if any. */
  lead: Lead | null;
  /** The number of its messages. */
  message_count: number;
  metadata: Record<string, string>;
  ratings: RatingCounts;
  /** The number of replies that are based on no source. */
  unanswered_count: number;
  /** The time of the last message. */
  updated_at: string;
  /** The visitor, if it began through a widget. */
  visitor: Visitor | null;
  /** The widget through which it began; null if there was none or it has been deleted. */
  widget_id: string | null;
  /** Where the first word of `text` was found; absent unless the request has `text`. */
  match?: Match;
  /**
   * Oldest first; absent from lists of conversations. At most 4 MiB of JSON: if the conversation
   * is longer, the newest messages that fit.
   */
  messages?: Array<Message>;
  /**
   * The `cursor` of the older messages, null if `messages` contains all of them; absent from
   * lists of conversations.
   */
  messages_cursor?: string | null;
}

/** Why a part of a document is missing from its text. */
export interface Warning {
  /** A stable name of the reason. More may be added. */
  code: string;
  /** The reason, as a sentence. */
  message: string;
  /** The number of affected pages. */
  page_count: number;
  /**
   * The affected pages, from 1, in order; empty if the reason is not about pages. All warnings
   * of a document together list at most 1,000.
   */
  pages: Array<number>;
}

/** One unit of extracted content: a text, a file, a page or a pair. */
export interface Document {
  agent_id: string;
  character_count: number;
  /** The id of the document. A page keeps it when its source is refreshed. */
  id: string;
  /** The number of pages, if the format has pages. */
  page_count: number | null;
  source_id: string;
  /**
   * The number of tables in the text; null if an earlier version of the server read the
   * document.
   */
  table_count: number | null;
  /** The extracted text; for a question/answer pair, the answer. */
  text: string;
  /** The title; for a question/answer pair, the question. */
  title: string | null;
  /** The URL of the page, if the source is a website; otherwise null. */
  url: string | null;
  /**
   * What is missing or uncertain in the text, one entry per reason; empty if the document was
   * read completely.
   */
  warnings: Array<Warning>;
}

/** A webhook endpoint, without its secret. */
export interface WebhookEndpoint {
  created_at: string;
  /** A human-readable description. */
  description: string | null;
  /** Why the endpoint is disabled; null while it is enabled. */
  disabled_reason: string | null;
  /** The events that it receives. */
  events: Array<string>;
  id: string;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed: Managed | null;
  /** `full`, or `thin`: without `data.content`. */
  payload: string;
  /** `enabled` or `disabled`. */
  status: string;
  updated_at: string;
  /** The URL that events are sent to, as it was given. */
  url: string;
}

/** How a widget looks. */
export interface WidgetAppearance {
  accent: string;
  position: string;
  scheme: string;
}

/** How many messages visitors may send. */
export interface WidgetLimits {
  messages_per_address_per_minute: number;
  /** Messages of the widget per UTC day. */
  messages_per_day: number;
  messages_per_visitor_per_hour: number;
  /** Replies in progress. */
  replies_at_once: number;
}

/** A widget with its new secret. */
export interface IssuedWidget {
  agent_id: string;
  appearance: WidgetAppearance;
  created_at: string;
  /** The text that is shown before the first question. */
  greeting: string | null;
  /** Whether visitors may ask for a person. */
  handoff: boolean;
  /** Whether it has a page at `/chat/{token}`. */
  hosted_page: boolean;
  id: string;
  /** Whether visitors are users of the owner's site: `none`, `optional` or `required`. */
  identity: string;
  /** Whether visitors can use it. */
  is_active: boolean;
  /** A BCP 47 tag. */
  language: string;
  /** Whether visitors may leave contact details. */
  lead: boolean;
  limits: WidgetLimits;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed: Managed | null;
  /** A name that only the owner sees. */
  name: string;
  /** The sites that may embed it, as browsers write them. */
  origins: Array<string>;
  /** Whether replies show their sources. */
  show_sources: boolean;
  /** Suggested questions that a visitor can ask with a click. */
  starters: Array<string>;
  /** Texts that replace the widget's own, by key. */
  texts: Record<string, string>;
  /** Null for the agent's name. */
  title: string | null;
  /** The public token that embedding pages contain. */
  token: string;
  updated_at: string;
  /** The secret whose bytes sign the identities of visitors (HS256). */
  identity_secret: string;
}

/** A widget, without its secret. */
export interface Widget {
  agent_id: string;
  appearance: WidgetAppearance;
  created_at: string;
  /** The text that is shown before the first question. */
  greeting: string | null;
  /** Whether visitors may ask for a person. */
  handoff: boolean;
  /** Whether it has a page at `/chat/{token}`. */
  hosted_page: boolean;
  id: string;
  /** Whether visitors are users of the owner's site: `none`, `optional` or `required`. */
  identity: string;
  /** Whether visitors can use it. */
  is_active: boolean;
  /** A BCP 47 tag. */
  language: string;
  /** Whether visitors may leave contact details. */
  lead: boolean;
  limits: WidgetLimits;
  /** The entry of a declaration file that manages this object; null if none does. */
  managed: Managed | null;
  /** A name that only the owner sees. */
  name: string;
  /** The sites that may embed it, as browsers write them. */
  origins: Array<string>;
  /** Whether replies show their sources. */
  show_sources: boolean;
  /** Suggested questions that a visitor can ask with a click. */
  starters: Array<string>;
  /** Texts that replace the widget's own, by key. */
  texts: Record<string, string>;
  /** Null for the agent's name. */
  title: string | null;
  /** The public token that embedding pages contain. */
  token: string;
  updated_at: string;
}
