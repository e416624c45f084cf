//! Every limit of the service, with its unit in its name.
//!
//! Lengths in `_CHARS` count Unicode scalar values.

/// Milliseconds of a day.
pub const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;
/// Longest agent name.
pub const AGENT_NAME_CHARS: usize = 100;
/// Longest name of a set of managed objects.
pub const MANAGED_SET_CHARS: usize = 40;
/// Longest key of a managed object in its set.
pub const MANAGED_KEY_CHARS: usize = 100;
/// Hexadecimal digits of the hash of a managed object's content.
pub const MANAGED_HASH_CHARS: usize = 64;
/// Longest system prompt of an agent.
pub const SYSTEM_PROMPT_CHARS: usize = 4_000;
/// Lowest and highest sampling temperature.
pub const TEMPERATURE_RANGE: (f64, f64) = (0.0, 2.0);
/// Temperature of an agent that sets none.
pub const TEMPERATURE_DEFAULT: f64 = 0.7;
/// Fewest and most tokens in a reply.
pub const REPLY_TOKENS_RANGE: (u32, u32) = (1, 4_096);
/// Most tokens in a reply of an agent that sets no bound.
pub const REPLY_TOKENS_DEFAULT: u32 = 1_024;
/// Fewest and most days that an agent keeps conversations.
pub const RETENTION_DAYS_RANGE: (u32, u32) = (1, 3_650);
/// Longest message of a user, and longest search query.
pub const MESSAGE_CHARS: usize = 4_000;
/// Most metadata keys of a conversation.
pub const METADATA_KEYS: usize = 20;
/// Longest metadata key.
pub const METADATA_KEY_CHARS: usize = 40;
/// Longest metadata value.
pub const METADATA_VALUE_CHARS: usize = 500;
/// Longest text of a `text` source.
pub const TEXT_SOURCE_CHARS: usize = 100_000;
/// Most question/answer pairs of a `qa` source.
pub const QA_PAIRS: usize = 500;
/// The maximum number of bad fields that an error names.
pub const FIELD_ERRORS: usize = 20;
/// Largest content of a `qa` source to which pairs were added, in bytes (8 MiB): as much as a request that adds a source
/// can hold.
pub const PAIRS_BYTES: usize = BODY_BYTES;
/// Longest question of a pair.
pub const QUESTION_CHARS: usize = 2_000;
/// Longest address of a website.
pub const WEBSITE_URL_CHARS: usize = 2_048;
/// Longest title or heading that is kept; a longer one is cut at a word.
pub const HEADING_CHARS: usize = 200;
/// Longest reason for which a source failed, in characters; a longer one is cut at a word. Parts of it come from the
/// document.
pub const REASON_CHARS: usize = 500;
/// Longest path of headings of a passage; outer headings are omitted from a longer one.
pub const HEADING_PATH_CHARS: usize = 400;
/// Most text of one page or file, in bytes of UTF-8 (10 MiB): as much as the largest text file in UTF-8 has. A
/// compressed file, or one of an older encoding, can contain far more text than it has bytes.
pub const DOCUMENT_TEXT_BYTES: usize = FILE_BYTES;
/// Most passages of one document. Passages of a long text are larger instead of more.
pub const DOCUMENT_PASSAGES: usize = 20_000;
/// Most bytes that the headings of one document's passages take together (4 MiB). Further passages have none.
pub const DOCUMENT_HEADING_BYTES: usize = 4 * 1_024 * 1_024;
/// Most warnings that are kept of a document, each with two details of [`HEADING_CHARS`] at most.
pub const DOCUMENT_WARNINGS: usize = 20;
/// Most pages that the warnings of a document name together.
pub const WARNING_PAGES: usize = 1_000;
/// Most pages that a source lists as not read completely.
pub const PARTIAL_PAGES: usize = 100;
/// Most reasons that a source lists for not being read completely.
pub const PARTIAL_REASONS: usize = 5;
/// Most agents whose versions an index asks for at a time.
pub const FEED_AGENTS: usize = 500;
/// Most passages that an index receives at a time.
pub const FEED_PASSAGES: usize = 500;
/// Most links of a page that are followed.
pub const PAGE_LINKS: usize = 10_000;
/// Most bytes that the links of a page take together (1 MiB).
pub const PAGE_LINK_BYTES: usize = 1_024 * 1_024;
/// Largest uploaded file, in bytes (10 MiB).
pub const FILE_BYTES: usize = 10 * 1_024 * 1_024;
/// Longest name of an uploaded file; a longer one is cut.
pub const FILENAME_CHARS: usize = 255;
/// Smallest and largest page of a list.
pub const PAGE_SIZE_RANGE: (u32, u32) = (1, 100);
/// Page size of a list request that gives none.
pub const PAGE_SIZE_DEFAULT: u32 = 20;
/// Largest answer with a list, in bytes of JSON (4 MiB): a page ends before the item that would exceed it. A single
/// larger item is the only one on its page. The store reads no more than this of texts.
pub const LIST_BYTES: usize = 4 * 1_024 * 1_024;
/// Longest query string, in bytes as it is sent.
pub const QUERY_BYTES: usize = 16 * 1_024;
/// Most `metadata` filters of a list.
pub const METADATA_FILTERS: usize = 20;
/// Fewest and most hits of a search.
pub const SEARCH_LIMIT_RANGE: (u32, u32) = (1, 50);
/// Hits of a search that gives no limit.
pub const SEARCH_LIMIT_DEFAULT: u32 = 10;
/// Longest title made from the first line of a text.
pub const TITLE_CHARS: usize = 80;
/// Longest `Idempotency-Key`, in visible ASCII characters.
pub const IDEMPOTENCY_KEY_CHARS: usize = 255;
/// Life of an idempotency record, from its first use.
pub const IDEMPOTENCY_LIFE_MILLIS: i64 = DAY_MILLIS;
/// Life of the claim of a request that is being carried out. A request that takes longer than this
/// may be repeated; its own completion is then refused, so that the effect happens once.
pub const IDEMPOTENCY_LEASE_MILLIS: i64 = 10 * 60 * 1_000;
/// Life of an uploaded file that no source uses.
pub const UNUSED_UPLOAD_LIFE_MILLIS: i64 = DAY_MILLIS;
/// Largest JSON body of any request, in bytes. A text of 100,000 four-byte characters, each
/// written as an escaped surrogate pair, is 1.2 MB; 500 long pairs are more.
pub const BODY_BYTES: usize = 8 * 1_024 * 1_024;
/// Most earlier messages of a conversation that a reply takes into account.
pub const HISTORY_MESSAGES: usize = 40;
/// Most bytes of the earlier messages that a client sends itself and that a reply takes into account (64 KiB).
pub const HISTORY_BYTES: usize = 64 * 1_024;
/// Most messages that a client sends itself. OpenAI's API, for which such clients are made, allows as many.
pub const CLIENT_MESSAGES: usize = 2_048;
/// Most passages that a reply is based on.
pub const REPLY_PASSAGES: usize = 8;
/// Longest text that is searched for in conversations.
pub const CONVERSATION_SEARCH_CHARS: usize = 200;
/// Most words that are searched for in conversations at once.
pub const CONVERSATION_SEARCH_WORDS: usize = 8;
/// Longest text of a message that is shown around a word that was found.
pub const MATCH_CHARS: usize = 200;
/// Most conversations that a search request examines.
pub const SEARCHED_CONVERSATIONS: usize = 2_000;
/// Most bytes of texts that a search request examines (16 MiB), except for the rest of a batch.
pub const SEARCHED_BYTES: usize = 16 * 1_024 * 1_024;
/// The time after which a search request returns what it has found.
pub const SEARCH_MILLIS: i64 = 2_000;
/// Most conversations that are read at a time with their messages.
pub const BATCH_CONVERSATIONS: u32 = 64;
/// Most messages that are read at a time with their conversations.
pub const BATCH_MESSAGES: u64 = 1_000;
/// Most bytes of texts and citations that are read at a time (1 MiB), unless a single message is larger.
pub const BATCH_BYTES: usize = 1_024 * 1_024;
/// Exports in progress at once, and as many in reserve for accounts that have fewer than their share.
pub const EXPORTS: u64 = 8;
/// Most exports of an account at once.
pub const ACCOUNT_EXPORTS: u64 = 2;
/// Most bytes of a stored receipt of a reply (4 KiB).
pub const RECEIPT_BYTES: usize = 4 * 1_024;
/// Most words of the question in a receipt.
pub const RECEIPT_TERMS: usize = 16;
/// Longest word of the question in a receipt, in bytes; a longer one is omitted.
pub const RECEIPT_TERM_BYTES: usize = 128;
/// Longest comment of a rating.
pub const RATING_COMMENT_CHARS: usize = 1_000;
/// Questions in gaps that are kept of an agent: the newest.
pub const GAP_QUESTIONS: usize = 10_000;
/// Most questions that one request puts into gaps.
pub const GAP_GROUPED: usize = 500;
/// Most gaps that a question is compared with: those with the latest questions.
pub const GAP_COMPARED: usize = 2_000;
/// Most questions that represent a gap: its first ones.
pub const GAP_MEMBERS: usize = 3;
/// Most characters of a question that are compared.
pub const GAP_COMPARED_CHARS: usize = 400;
/// Most questions of a gap that are shown.
pub const GAP_EXAMPLES: usize = 5;
/// Longest text of a question of a gap that is shown; a longer one is cut at a word.
pub const GAP_EXAMPLE_CHARS: usize = 300;
/// The maximum number of searches of a request that determines which gaps can now be answered.
pub const GAP_SEARCHES: usize = 100;
/// How long a request that looks for answers to gaps starts new searches.
pub const GAP_SEARCH_MILLIS: i64 = 2_000;
/// Longest answer with which a gap is closed.
pub const GAP_ANSWER_CHARS: usize = TEXT_SOURCE_CHARS;
/// Most checks of an agent.
pub const CHECKS: usize = 100;
/// Most bytes of JSON of an agent's checks together (256 KiB).
pub const CHECKS_BYTES: usize = 256 * 1_024;
/// Largest body with an agent's checks (2 MiB): every character may be escaped, which takes six bytes for one.
pub const CHECKS_BODY_BYTES: usize = 2 * 1_024 * 1_024;
/// Most texts, and most sources, that a check expects.
pub const CHECK_EXPECTATIONS: usize = 5;
/// Longest text that a check expects.
pub const CHECK_TEXT_CHARS: usize = 200;
/// Longest reply in the result of a check; a longer one is cut at a word.
pub const CHECK_REPLY_CHARS: usize = 1_000;
/// Runs of checks that are kept of an agent.
pub const CHECK_RUNS: usize = 20;
/// Checks of a run that are asked in one turn. Then it is another run's turn.
pub const CHECKS_AT_ONCE: usize = 4;
/// Attempts at the same checks of a run after which the run fails.
pub const CHECK_ATTEMPTS: u32 = 3;
/// How long the next attempt at a check waits if the server was overloaded.
pub const CHECK_OVERLOADED_MILLIS: u64 = 1_000;
/// How long the next attempt at a check waits after the first one failed; twice as long after the second.
pub const CHECK_FAILED_MILLIS: u64 = 2_000;
/// Life of the lease of a run of checks without a heartbeat.
pub const CHECK_LEASE_MILLIS: i64 = 30_000;
/// How long a run waits after a source was trained, so that several sources trained together lead to one run.
pub const CHECK_DELAY_MILLIS: i64 = 1_000;
/// The longest time that a run after a training waits for sources of the agent that are still being processed (5
/// minutes).
pub const CHECK_WAIT_MILLIS: i64 = 5 * 60 * 1_000;
/// Most stored bytes of an agent's sources whose checks are compared for a guarded source (16 MiB). They are indexed in memory,
/// which takes several times as much.
pub const GUARD_BYTES: u64 = 16 * 1_024 * 1_024;
/// Longest comparison of checks for a guarded source.
pub const GUARD_SECONDS: u64 = 300;
/// Most questions in the event of a run.
pub const EVENT_QUESTIONS: usize = 20;
/// Longest question in the event of a run; a longer one is cut at a word.
pub const EVENT_QUESTION_CHARS: usize = 200;
/// Longest text of a passage in a citation; a longer one is cut at a word.
pub const CITED_CHARS: usize = 300;
/// Most bytes of a document's text that its public page shows (1 MiB).
pub const PUBLIC_TEXT_BYTES: usize = 1_024 * 1_024;
/// Longest rewritten question.
pub const REWRITTEN_CHARS: usize = 500;
/// Most pages of a site that the preview of its crawl shows.
pub const PREVIEW_PAGES: usize = 20;
/// How long the preview of a crawl may take.
pub const PREVIEW_SECONDS: u64 = 20;
/// Previews of crawls in progress at once; as many again are kept for accounts that have fewer than their share.
pub const PREVIEWS_AT_ONCE: u64 = 8;
/// Longest public address of a server.
pub const PUBLIC_URL_CHARS: usize = 2_048;
/// Fewest characters of a root key given by the operator.
pub const ROOT_KEY_CHARS: usize = 32;
/// Crashes of a job's worker without progress between them after which its source fails.
pub const JOB_CRASHES: u32 = 3;
/// Crashes of a job's worker after which its source fails, even if there was progress between them.
pub const JOB_CRASHES_IN_ALL: u32 = 100;
/// Attempts at a job with transient failures, after which its source fails.
pub const JOB_ATTEMPTS: u32 = 5;
/// The pause after the first transient failure of a job, ±20 %; each further one is twice as long.
pub const JOB_PAUSE_MILLIS: u64 = 1_000;
/// Small jobs of one agent that are carried out together…
pub const JOBS_TOGETHER: usize = 16;
/// …and the stored bytes of a source that count as small.
pub const SMALL_SOURCE_BYTES: i64 = 16 * 1_024;
/// Life of a job's lease without a heartbeat.
pub const JOB_LEASE_MILLIS: i64 = 30_000;
/// Longest account or API key name.
pub const KEY_NAME_CHARS: usize = 100;
/// Most API keys of an account, including expired ones. Expired keys are removed to make room for a new one.
pub const ACCOUNT_KEYS: usize = 1_000;
/// Most agents that a key can be restricted to.
pub const KEY_AGENTS: usize = 100;
/// Most webhook endpoints of an account.
pub const WEBHOOK_ENDPOINTS: usize = 10;
/// Longest address of a webhook endpoint.
pub const WEBHOOK_URL_CHARS: usize = 2_048;
/// Longest description of a webhook endpoint.
pub const DESCRIPTION_CHARS: usize = 500;
/// Secrets of a webhook endpoint that sign at once: the current one and those of the last 24 hours.
pub const LIVE_SECRETS: usize = 10;
/// How long a secret signs after it was replaced.
pub const RETIRED_SECRET_MILLIS: i64 = DAY_MILLIS;
/// How long an endpoint must have failed before it is disabled.
pub const ENDPOINT_FAILING_MILLIS: i64 = 5 * DAY_MILLIS;
/// How many attempts at an endpoint must have failed in a row before it is disabled.
pub const ENDPOINT_FAILURES: u64 = 10;
/// The number of pending deliveries from which an endpoint gets no more test events.
pub const TESTED_BACKLOG: u64 = 100;
/// Latest attempts at a delivery that are kept.
pub const ATTEMPTS_SHOWN: usize = 100;
/// Life of the record of a delivery, and of an event without deliveries.
pub const DELIVERY_LIFE_MILLIS: i64 = 7 * DAY_MILLIS;
/// How long the usage of a day can be read: thirteen months, so that every month can be compared with
/// the same month of the year before.
pub const USAGE_LIFE_DAYS: i64 = 400;
/// Life of the lease of an attempt at a delivery, which is not renewed. An attempt waits at most 5 s for memory and takes at
/// most 15.5 s; the rest is for the database. If a server is killed, the endpoint of its attempts waits that long.
pub const DELIVERY_LEASE_MILLIS: i64 = 25_000;
/// Most dimensions of a vector.
pub const VECTOR_DIMENSIONS: usize = 4_096;
/// Most bytes of text that an embedding model receives at once (256 KiB), unless a single passage is larger.
pub const EMBEDDED_BYTES: usize = 256 * 1_024;
/// The shortest length in characters to which a passage is cut if the embedding model fails on it.
pub const EMBEDDED_FEWEST_CHARS: usize = 200;
/// How often a passage that is sent alone to an embedding model is tried, at least, before it is left without a vector.
pub const EMBEDDING_TRIES: u32 = 3;
/// How often the batches of all sources are halved, at most, if an embedding model refuses requests because of their
/// number or size.
pub const EMBEDDING_REDUCTIONS: u32 = 6;
/// After a failed embedding request, its source waits for this multiple of the request's duration.
pub const EMBEDDING_FAILURE_FACTOR: u32 = 10;
/// The longest wait of a source after a failed embedding request: ten minutes.
pub const EMBEDDING_FAILURE_WAIT_MILLIS: u64 = 10 * 60 * 1_000;
/// How long the sources of an account wait for their vectors if it may not store more bytes: an hour.
pub const VECTOR_OVER_QUOTA_MILLIS: i64 = 60 * 60 * 1_000;
/// How long a source is claimed for a batch of vectors.
pub const VECTOR_LEASE_MILLIS: i64 = 5 * 60 * 1_000;
/// Most agents that are listed as models.
pub const LISTED_MODELS: usize = 1_000;
/// Most values in a message to the MCP interface: its objects, arrays, texts, numbers and so on. Each takes up to some
/// hundred bytes of memory in a parser, even if its text is short.
pub const MCP_VALUES: usize = 4_096;
/// Longest text of a result of the MCP tool `search`; a longer passage is cut at a word.
pub const MCP_RESULT_CHARS: usize = 1_000;
/// Longest text of a document from the MCP tool `fetch`; the rest of a longer one is omitted.
pub const MCP_DOCUMENT_CHARS: usize = 200_000;
/// By default, all keys of an account together may send this many times the requests per minute of one key.
pub const ACCOUNT_RATE_FACTOR: u32 = 10;
/// Most widgets of an agent.
pub const AGENT_WIDGETS: usize = 20;
/// Longest name of a widget.
pub const WIDGET_NAME_CHARS: usize = 100;
/// Most bytes of a widget's name, origins and look as JSON (32 KiB).
pub const WIDGET_BYTES: usize = 32 * 1_024;
/// Most origins of a widget.
pub const WIDGET_ORIGINS: usize = 20;
/// Longest origin as it is given, in bytes: a name of 255 characters with scheme and port.
pub const WIDGET_ORIGIN_BYTES: usize = 300;
/// Longest title of a widget.
pub const WIDGET_TITLE_CHARS: usize = 60;
/// Longest greeting of a widget.
pub const WIDGET_GREETING_CHARS: usize = 500;
/// Most starters of a widget.
pub const WIDGET_STARTERS: usize = 5;
/// Longest starter.
pub const WIDGET_STARTER_CHARS: usize = 100;
/// Longest language tag of a widget.
pub const WIDGET_LANGUAGE_CHARS: usize = 35;
/// Longest text that replaces one of a widget's own.
pub const WIDGET_TEXT_CHARS: usize = 300;
/// Largest daily limit of messages of a widget.
pub const WIDGET_DAY_MESSAGES: u64 = 1_000_000;
/// Largest limit of messages of a visitor per hour, and of an address per minute.
pub const WIDGET_RATE: u64 = 10_000;
/// Largest limit of replies in progress of a widget.
pub const WIDGET_REPLIES: u64 = 1_000;
/// Longest time that the old token of a widget can stay valid: a week.
pub const WIDGET_TOKEN_KEPT_SECONDS: i64 = 7 * 24 * 60 * 60;
/// How long the numbers of a widget's messages on a day are kept.
pub const WIDGET_LIFE_DAYS: i64 = 7;
/// Longest title in a visitor's list of conversations; a longer question is cut.
pub const VISITOR_TITLE_CHARS: usize = 80;
/// Largest body of a visitor's request (32 KiB).
pub const VISITOR_BODY_BYTES: usize = 32 * 1_024;
/// Most conversations in a visitor's list.
pub const VISITOR_CONVERSATIONS: usize = 20;
/// Most messages of a conversation that are shown to its visitor.
pub const VISITOR_MESSAGES: usize = 100;
/// Most bytes of the texts and citations of the messages that are shown to a visitor, together (256 KiB).
pub const VISITOR_MESSAGES_BYTES: usize = 256 * 1_024;
/// Longest signed identity of a visitor, in bytes.
pub const IDENTITY_BYTES: usize = 4_096;
/// Longest user id in a signed identity.
pub const IDENTITY_SUBJECT_CHARS: usize = 200;
/// Longest name in a signed identity.
pub const IDENTITY_NAME_CHARS: usize = 100;
/// Longest email address in a signed identity.
pub const IDENTITY_EMAIL_CHARS: usize = 254;
/// How far ahead a signed identity may expire: a day.
pub const IDENTITY_LIFE_SECONDS: u32 = 24 * 60 * 60;
/// The maximum difference between the clocks of the server and of the signing site.
pub const IDENTITY_LEEWAY_SECONDS: u32 = 60;
/// Longest message with which a visitor asks for a person.
pub const HANDOFF_MESSAGE_CHARS: usize = 1_000;
/// Longest address that a visitor leaves.
pub const LEAD_EMAIL_CHARS: usize = 254;
/// Longest name that a visitor leaves.
pub const LEAD_NAME_CHARS: usize = 100;
/// Longest number that a visitor leaves.
pub const LEAD_PHONE_CHARS: usize = 40;
/// Longest message that a visitor leaves with an address.
pub const LEAD_MESSAGE_CHARS: usize = 1_000;
/// Longest text of a conversation in the event of a rating; a longer one is cut.
pub const EVENT_TEXT_CHARS: usize = 1_000;
