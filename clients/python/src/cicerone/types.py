"""The objects of the API.

Written by `cargo xtask openapi` from docs/openapi.json; not edited by hand.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Account(TypedDict):
    """The account that the key belongs to."""

    id: str
    name: str


class AnswerGap(TypedDict):
    answer: str
    question: str
    """The question of the pair: the gap's own question, or a better wording of it."""
    source_id: NotRequired[str | None]
    """The source that receives the pair; null for the agent's own source for gaps. An unknown id
    is refused with 400.
    """


class AuditActor(TypedDict):
    """Who performed the action."""

    id: str | None
    """The API key, which may have been deleted since."""
    name: str | None
    """The name that the API key had at the time."""
    type: str
    """`api_key`, `command_line`, or `unknown` if authentication failed."""


class AuditRecord(TypedDict):
    """Who did what, when and from where."""

    action: str
    """What was done, such as `api_key.created`."""
    actor: AuditActor
    count: int
    """How many times it happened; repetitions within a few seconds share one record."""
    created_at: str
    id: str
    ip_address: str | None
    """The IP address of the client; null on the command line."""
    request_id: str | None
    """The id of the request; null on the command line."""
    target_id: str | None
    """The id of the object that the action changed."""


class Capabilities(TypedDict):
    """The capabilities of this server."""

    has_upstream: bool
    """Whether any model is served by an upstream. If not, the embedded answerer replies for all
    of them.
    """
    max_upload_bytes: int
    """The size of the largest file that can be uploaded."""
    models: list[str]
    """The models that agents can use."""
    public_url: str | None
    """The server's public address, under which the texts of agents with `public_sources` are
    published; null if it has none.
    """


class Check(TypedDict):
    """A question and the expectations that its reply must meet."""

    answered: bool | None
    """Whether the reply must be based on a source (true) or must not be (false); null if this is
    not checked.
    """
    contains: list[str]
    """Texts that the reply must contain; case is ignored."""
    question: str
    sources: list[str]
    """Ids of sources, or addresses of pages, each of which the reply must cite."""


class CheckResult(TypedDict):
    """What a check found."""

    passed: bool
    question: str
    reason: str | None
    """The first expectation that the reply does not meet; null if it passed."""
    reply: str
    """The reply, or its beginning; empty after a source of the agent was deleted."""


class CheckRun(TypedDict):
    """One run of the checks of an agent, as they were when it began."""

    created_at: str
    error_message: str | None
    """Why it was abandoned; null unless it is `failed`."""
    failed: int
    """How many checks failed so far."""
    finished_at: str | None
    """When it ended; null until then."""
    id: str
    passed: int
    """How many checks passed so far."""
    results: list[CheckResult]
    """The results of the checks that were asked so far, in order."""
    source_id: str | None
    """The source whose training started the run; null if it was requested."""
    status: str
    trigger: str
    """Why it started: it was requested, a source was trained, or a guarded source was crawled. A
    run of the last kind used the content that the crawl found.
    """


class AgentChecks(TypedDict):
    """An agent's checks, with the run that began last."""

    checks: list[Check]
    last_run: CheckRun | None
    """The latest run; null if there was none."""


class CitedPassage(TypedDict):
    """A passage that a reply is based on."""

    document_id: str
    heading: str | None
    """The headings above it, outermost first, joined by ` › `."""
    page: int | None
    """The page that it is on, from 1, if the format has pages."""
    position: int
    """The position of the passage in the source, from 0."""
    text: str
    """The beginning of its text."""
    title: str | None
    url: str | None


class Citation(TypedDict):
    """A source that a reply is based on."""

    document_id: str | None
    """The document of the first of the passages; null if an earlier version of the server stored
    the reply.
    """
    id: str
    passages: list[CitedPassage]
    """The passages of the source that the reply is based on, best first, as they were at that
    time. All citations of a reply together have at most 8. Empty if an earlier version of the
    server stored the reply.
    """
    title: str
    url: str | None
    """The address of the first of the passages: that of its page, or of its public text on this
    server. Null if there is none.
    """


class DeliveryAttempt(TypedDict):
    """One attempt at a delivery."""

    at: str
    duration_ms: int
    error: str | None
    """What went wrong; null if the attempt succeeded."""
    http_status: int | None
    """The HTTP status of the endpoint's response; null if there was none."""


class Delivery(TypedDict):
    """The delivery of one event to one endpoint."""

    attempts: list[DeliveryAttempt]
    """The latest attempts, oldest first."""
    created_at: str
    event: str
    """The name of the event."""
    event_id: str
    """The `webhook-id` of every attempt."""
    id: str
    next_attempt_at: str | None
    """When the next attempt is due; null if there is none, or if it is in progress."""
    status: str
    """`pending`, `succeeded` or `failed`."""


class DoneEvent(TypedDict):
    """The data of the `done` event: the reply is complete and stored."""

    conversation_id: str
    n: int | None
    """The number of the reply in the conversation, from 1; null for a repeated request whose
    reply an earlier version of the server stored.
    """
    sources_used: list[Citation]


class ErrorEvent(TypedDict):
    """The data of an `error` event, which is sent if a reply fails after its stream has begun."""

    code: str
    message: str
    request_id: str
    retryable: bool
    """Whether sending the same message later can succeed."""
    type: str


class Finding(TypedDict):
    """One problem with a request."""

    message: str
    """What the field must satisfy, such as `must not be empty`."""
    param: str
    """The path of the field, such as `content[3].answer`."""


class ErrorDetail(TypedDict):
    """What went wrong."""

    code: str
    """The error code, for programs to branch on."""
    message: str
    """A human-readable explanation."""
    request_id: str
    """The request's id, as in `X-Request-Id`."""
    type: str
    """The class of the error."""
    errors: NotRequired[list[Finding]]
    """All bad fields that were found, at most 20; present on every 422, and on a 400 that names
    a field or parameter.
    """
    param: NotRequired[str]
    """The field or parameter that caused the error."""
    retry_after: NotRequired[int]
    """Seconds to wait before trying again; present on every 429."""


class GapExample(TypedDict):
    """A question of a gap."""

    asked_at: str
    conversation_id: str
    n: int
    """The number of the message in the conversation, from 1."""
    text: str
    """The question, cut at 300 characters."""


class Gap(TypedDict):
    """A group of similar questions without a good answer."""

    count: int
    """The number of questions."""
    examples: list[GapExample]
    """The latest questions, newest first."""
    first_asked_at: str
    id: str
    last_asked_at: str
    question: str
    """The first question."""
    rated_down: int
    """Answered questions whose reply is rated down."""
    source_id: str | None
    """The source that received the pair that answers it; null if there is none or it has been
    deleted.
    """
    status: str
    unanswered: int
    """Questions whose reply is based on no source."""


class GapList(TypedDict):
    """The gaps of an agent."""

    data: list[Gap]
    ungrouped: int
    """The number of questions that are not in a group yet. The next request groups up to 500 of
    them.
    """


class GapState(TypedDict):
    """A gap without its questions, which the API key may not be allowed to read."""

    id: str
    source_id: str | None
    """The source that received the pair that answers it; null if there is none or it has been
    deleted.
    """
    status: str


class GivenWidgetAppearance(TypedDict):
    """Colours and position. Only the fields that are given change; null means the default."""

    accent: NotRequired[str | None]
    """The colour of buttons and links, with a contrast of at least 3:1 to `#ffffff` and to
    `#131516`; null for `#2f5bd7`.
    """
    position: NotRequired[Literal["right", "left"] | None]
    """The side of the page that the widget is on; null for `right`."""
    scheme: NotRequired[Literal["auto", "light", "dark"] | None]
    """Whether it is light or dark; null for `auto`, which follows the visitor's preference."""


class GivenWidgetLimits(TypedDict):
    """Limits. Only those that are given change; null means the default."""

    messages_per_address_per_minute: NotRequired[int | None]
    """Null for 20."""
    messages_per_day: NotRequired[int | None]
    """Messages of the widget per UTC day; null for 2,000."""
    messages_per_visitor_per_hour: NotRequired[int | None]
    """Null for 60."""
    replies_at_once: NotRequired[int | None]
    """Replies in progress; null for 20."""


class Hit(TypedDict):
    """A passage that was found."""

    document_id: str
    """The document that the passage is a part of."""
    heading: str | None
    """The headings above the passage, outermost first, joined by ` › `."""
    page: int | None
    position: int
    """The position of the passage in the source, from 0."""
    score: float
    """How well the passage matches the query. Scores are comparable only within one search."""
    source_id: str
    text: str
    title: str | None
    url: str | None


class Latency(TypedDict):
    """How long replies took in milliseconds, from the arrival of the message to the end of the
    reply.
    """

    mean_ms: int
    p50_ms: int
    """The median, interpolated within a range."""
    p95_ms: int
    """The 95th percentile, interpolated within a range."""


class Lead(TypedDict):
    """A visitor's contact details."""

    email: str
    message: str | None
    name: str | None
    phone: str | None


class Managed(TypedDict):
    """Identifies the entry of a declaration file that manages an object. `cicerone apply` sets
    it. The set and key are unique among objects of a kind; for widgets and sources, within
    their agent. Two sources may share them if their hashes differ.
    """

    hash: str
    """SHA-256 of the entry's content. The server only stores it."""
    key: str
    """The key of the entry in its set."""
    set: str
    """The set that the entry belongs to."""


class Agent(TypedDict):
    """A configured chatbot."""

    answer_floor: str
    """How certain the search must be before a question is answered from the sources. `cautious`
    leaves more questions unanswered and gives fewer wrong answers; `eager` does the opposite.
    """
    created_at: str
    id: str
    managed: Managed | None
    """The entry of a declaration file that manages this object; null if none does."""
    max_tokens: int
    """The maximum number of tokens in a reply."""
    model: str
    """The model that writes the replies."""
    name: str
    """A human-readable name."""
    public_sources: bool
    """Whether anyone who knows the address of a document may read its text without a key. Ids of
    documents are not secret: this publishes all texts of the agent. It has an effect only if
    the server has a public address.
    """
    receipts: bool
    """Whether replies are stored with receipts, which show how they were produced."""
    retention_days: int | None
    """Days after which a conversation without a new message is removed; null for never."""
    source_list: bool
    """Whether chat completions end with a list of their sources, for clients that drop other
    citations. The list is not stored.
    """
    status: str
    """A `paused` agent accepts no new conversations."""
    system_prompt: str
    """Behaviour, tone and constraints."""
    temperature: float
    """Lower is more deterministic."""
    updated_at: str
    """When it was last changed."""


class ApiKey(TypedDict):
    """An API key, without its secret."""

    agent_ids: list[str] | None
    """The agents that the key is restricted to; null for all agents of the account."""
    created_at: str
    expires_at: str | None
    """When it expires; null for never."""
    hint: str
    """The first and last characters of its secret."""
    id: str
    last_used_at: str | None
    """When the key was last used, accurate to a few seconds; null if it was never used."""
    managed: Managed | None
    """The entry of a declaration file that manages this object; null if none does."""
    name: str
    """A human-readable name."""
    permissions: list[str]
    """The permissions of the key; `*` grants all of them."""


class CreateAgent(TypedDict):
    name: str
    """A human-readable name."""
    answer_floor: NotRequired[Literal["cautious", "balanced", "eager"] | None]
    """How certain the search must be before a question is answered from the sources. `cautious`
    leaves more questions unanswered and gives fewer wrong answers; `eager` does the opposite;
    null for the default, `balanced`.
    """
    managed: NotRequired[Managed | None]
    """The entry of a declaration file that manages this object; null if none does."""
    max_tokens: NotRequired[int | None]
    """The maximum number of tokens in a reply; null for the default, 1024."""
    model: NotRequired[Literal["gpt-4-turbo", "gpt-4o", "gpt-3.5-turbo"] | None]
    """The model that writes the replies; null for the default, `gpt-4o`."""
    public_sources: NotRequired[bool | None]
    """Whether anyone who knows the address of a document may read its text without a key. Ids of
    documents are not secret: this publishes all texts of the agent. It has an effect only if
    the server has a public address. Null for false.
    """
    receipts: NotRequired[bool | None]
    """Whether replies are stored with receipts, which show how they were produced; null for
    true.
    """
    retention_days: NotRequired[int | None]
    """Days after which a conversation without a new message is removed; null for never."""
    source_list: NotRequired[bool | None]
    """Whether chat completions end with a list of their sources, for clients that drop other
    citations. The list is not stored; null for false.
    """
    system_prompt: NotRequired[str | None]
    """Behaviour, tone and constraints; null for none."""
    temperature: NotRequired[float | None]
    """Lower is more deterministic; null for the default, 0.7."""


class CreateApiKey(TypedDict):
    name: str
    """A human-readable name."""
    permissions: list[Literal["agents:read", "agents:write", "sources:read", "sources:write", "conversations:read", "conversations:write", "conversations:export", "webhooks:read", "webhooks:write", "keys:read", "keys:write", "*"]]
    """The permissions of the key; `*` grants all of them."""
    agent_ids: NotRequired[list[str] | None]
    """The agents that the key is restricted to; null for all agents of the account."""
    expires_at: NotRequired[str | None]
    """When it expires, in the future; null for never."""
    managed: NotRequired[Managed | None]
    """The entry of a declaration file that manages this object; null if none does."""


class CreateSource(TypedDict):
    content: str
    """A full http or https URL with a host and without credentials. The text itself. The id of
    an uploaded file. An unknown id is refused with 400. A string that contains a JSON array
    of 1 to 500 objects, each with the non-empty strings `question`, of at most 2000
    characters, and `answer`.
    """
    type: Literal["website", "text", "file", "qa"]
    crawl_subpages: NotRequired[bool | None]
    """Whether links within the host are followed; null for false."""
    guarded: NotRequired[bool | None]
    """Whether a crawl replaces the content only if every check of the agent that passes now
    would still pass; null for false.
    """
    managed: NotRequired[None | Managed]
    """The entry of a declaration file that manages this object; null if none does."""


class CreateWebhookEndpoint(TypedDict):
    url: str
    """A public https URL without credentials. An http URL or a private address is accepted only
    if the server allows it.
    """
    description: NotRequired[str | None]
    """A human-readable description."""
    events: NotRequired[list[Literal["source.trained", "source.failed", "checks.failed", "conversation.handoff_requested", "message.rated", "lead.captured"]] | None]
    """The events that it receives; null for all."""
    managed: NotRequired[Managed | None]
    """The entry of a declaration file that manages this object; null if none does."""
    payload: NotRequired[Literal["full", "thin"] | None]
    """`thin` omits `data.content`; null for the default, `full`."""
    status: NotRequired[Literal["enabled", "disabled"] | None]
    """Whether events are sent to the endpoint; null for the default, `enabled`."""


class CreateWidget(TypedDict):
    name: str
    """A name that only the owner sees."""
    appearance: NotRequired[GivenWidgetAppearance | None]
    """Colours and position; null for the defaults."""
    greeting: NotRequired[str | None]
    """The text that is shown before the first question."""
    handoff: NotRequired[bool | None]
    """Whether visitors may ask for a person; null for false."""
    hosted_page: NotRequired[bool | None]
    """Whether it has a page at `/chat/{token}`; null for true."""
    identity: NotRequired[Literal["none", "optional", "required"] | None]
    """Whether visitors are users of the owner's site, whose identity it signs; null for `none`."""
    is_active: NotRequired[bool | None]
    """Whether visitors can use it; null for true."""
    language: NotRequired[str | None]
    """A BCP 47 tag; null for `en`."""
    lead: NotRequired[bool | None]
    """Whether visitors may leave contact details; null for false."""
    limits: NotRequired[GivenWidgetLimits | None]
    """Limits; null for the defaults."""
    managed: NotRequired[Managed | None]
    """The entry of a declaration file that manages this object; null if none does."""
    origins: NotRequired[list[str] | None]
    """The sites that may embed it: `https://site.example`, `https://*.site.example` for every
    subdomain, or `*` for any; null for none except its own page.
    """
    show_sources: NotRequired[bool | None]
    """Whether replies show their sources; null for true."""
    starters: NotRequired[list[str] | None]
    """Suggested questions that a visitor can ask with a click; null for none."""
    texts: NotRequired[dict[str, Any] | None]
    """Texts that replace the widget's own, by key. They replace all texts that were set before;
    null for none.
    """
    title: NotRequired[str | None]
    """Null for the agent's name."""


class IssuedApiKey(TypedDict):
    """A newly created API key."""

    agent_ids: list[str] | None
    """The agents that the key is restricted to; null for all agents of the account."""
    created_at: str
    expires_at: str | None
    """When it expires; null for never."""
    hint: str
    """The first and last characters of its secret."""
    id: str
    last_used_at: str | None
    """When the key was last used, accurate to a few seconds; null if it was never used."""
    managed: Managed | None
    """The entry of a declaration file that manages this object; null if none does."""
    name: str
    """A human-readable name."""
    permissions: list[str]
    """The permissions of the key; `*` grants all of them."""
    key: NotRequired[str]
    """The secret, to be sent as `Authorization: Bearer`. Only the first response contains it;
    the response to a repeated request does not.
    """


class IssuedWebhookEndpoint(TypedDict):
    """A webhook endpoint with its new secret."""

    created_at: str
    description: str | None
    """A human-readable description."""
    disabled_reason: str | None
    """Why the endpoint is disabled; null while it is enabled."""
    events: list[str]
    """The events that it receives."""
    id: str
    managed: Managed | None
    """The entry of a declaration file that manages this object; null if none does."""
    payload: str
    """`full`, or `thin`: without `data.content`."""
    status: str
    """`enabled` or `disabled`."""
    updated_at: str
    url: str
    """The URL that events are sent to, as it was given."""
    secret: str
    """The secret for verifying signatures: `whsec_` followed by the key in base64."""


class Match(TypedDict):
    """Where a search found its first word."""

    n: int
    """The number of the message in the conversation, from 1."""
    text: str
    """The text of the message around the word."""


class NewCheck(TypedDict):
    """A question and the expectations that its reply must meet. At least one of `contains`,
    `sources` and `answered` is required.
    """

    question: str
    answered: NotRequired[bool | None]
    """Whether the reply must be based on a source (true) or must not be (false); null if this is
    not checked.
    """
    contains: NotRequired[list[str] | None]
    """Texts of at most 200 characters that the reply must contain; case is ignored."""
    sources: NotRequired[list[str] | None]
    """Ids of sources, or addresses of pages, each of which the reply must cite."""


class Page(TypedDict):
    """The result of crawling one page of a website."""

    character_count: int | None
    fetched_at: str | None
    http_status: int | None
    """The HTTP status of the page; null if there was no response."""
    reason: str | None
    """Why it was skipped or failed; otherwise null."""
    status: str
    title: str | None
    url: str


class Pair(TypedDict):
    """A question and its answer."""

    answer: str
    question: str


class AddPairs(TypedDict):
    pairs: list[Pair]
    """The pairs, in order."""


class PartialReading(TypedDict):
    """A source was not read completely."""

    documents: int
    """How many documents have warnings."""
    pages: list[int]
    """For a file, the pages that were not read completely, from 1, in order; at most the first
    100. Empty for other sources.
    """
    reason: str
    """The reasons, as a sentence."""


class Passage(TypedDict):
    """A part of a document: the unit of search and citation."""

    document_id: str
    """The document that the passage is a part of."""
    page: int | None
    """The page that it is on, from 1, if the format has pages."""
    position: int
    """The position of the passage in the source, from 0."""
    text: str
    title: str | None
    url: str | None


class Progress(TypedDict):
    """The progress of a crawl."""

    pages_done: int
    pages_failed: int
    pages_found: int


class Quota(TypedDict):
    """A limit of the account, and how much of it is used."""

    limit: int | None
    """The limit; null for none."""
    used: int | None
    """What the account has used so far; null for a key that is restricted to agents."""


class Quotas(TypedDict):
    """What the account may use, and what it has used."""

    bytes: Quota
    """Bytes stored: sources, what was extracted from them, and files."""
    messages: Quota
    """Messages answered in a calendar month (UTC)."""
    renewed_at: str
    """When the next month begins."""
    tokens: Quota
    """Model tokens in a calendar month (UTC)."""


class Me(TypedDict):
    """The account and the API key of the request, with quotas and capabilities."""

    account: Account
    api_key: ApiKey
    capabilities: Capabilities
    quotas: Quotas


class Rate(TypedDict):
    value: Literal["up", "down"]
    """Whether the reply was good."""
    comment: NotRequired[str | None]
    """A comment of the user; null or blank for none."""


class Rating(TypedDict):
    """A rating of a reply."""

    comment: str | None
    """A comment of the user, if there is one."""
    rated_at: str
    """When the rating was given or last changed."""
    value: str


class Message(TypedDict):
    """A question of the user, or a reply of the agent with what it is based on."""

    content: str
    n: int
    """The number of the message in the conversation, from 1."""
    role: str
    timestamp: str
    answered: NotRequired[bool]
    """Whether the message is based on a source; absent from user messages."""
    rating: NotRequired[Rating | None]
    """The user's rating of the message; null if it is not rated, absent from user messages."""
    sources_used: NotRequired[list[Citation]]
    """The sources that the message is based on, best first; absent from user messages."""


class RatingCounts(TypedDict):
    """The number of replies of a conversation that are rated up and down."""

    down: int
    up: int


class ReceiptHit(TypedDict):
    """A passage that was found."""

    coverage: float
    """The share of the question's words that the passage contains, by their weights."""
    document_id: str
    heading: str | None
    """The headings above it, outermost first, joined by ` › `."""
    is_cited: bool
    """Whether the reply cites it."""
    is_current: bool
    """Whether the passage is still the one that was found. If not, the following fields are
    null.
    """
    is_relevant: bool
    """Whether it matched well enough for a reply to be based on it."""
    is_sent: bool
    """Whether the model received it."""
    page: int | None
    """The page that it is on, from 1, if the format has pages."""
    position: int
    """The position of the passage in the source, from 0."""
    score: float
    """How well it matched. Scores are comparable only within one receipt."""
    source_id: str
    text: str | None
    """Its text; null if the key lacks `sources:read`."""
    title: str | None
    url: str | None


class ReceiptStage(TypedDict):
    """A stage of a reply."""

    ms: float
    """Its duration in milliseconds."""
    name: str
    """Its name in metrics. More may be added."""


class ReceiptTerm(TypedDict):
    """A word of a question."""

    is_context: bool
    """Whether it occurs only in earlier messages, not in the question."""
    text: str
    """Its stem."""
    weight: float
    """How well it distinguishes passages. Rare words weigh more."""


class ReceiptSearch(TypedDict):
    """What was searched for."""

    by_meaning: bool
    """Whether the search also used meaning (embeddings)."""
    confidence: float
    """How certain it is that the hits answer the question."""
    context_messages: int
    """Earlier messages that were used to understand the question."""
    floor: float
    """The lowest confidence at which the question was answered from the sources."""
    query: str
    """The user's message."""
    rewritten: str | None
    """The question that was searched for instead, if a model rewrote it to be understood without
    the conversation.
    """
    terms: list[ReceiptTerm]
    """The words of the question, in the form in which they were compared."""


class ReceiptTokens(TypedDict):
    """The tokens that a reply used, as the model counts them; 0 for the embedded answerer."""

    completion: int
    prompt: int


class Receipt(TypedDict):
    """How a reply was produced."""

    history_messages: int
    """The earlier messages that the model received, as many as fit into its prompt."""
    hits: list[ReceiptHit]
    """What was found, best first, including passages that did not match well enough."""
    model: str | None
    """The model requested from the upstream; null for the embedded answerer."""
    n: int
    """The number of the reply in the conversation, from 1."""
    request_id: str | None
    """The id of the request that contained the question, as in its `X-Request-Id`; null if it
    did not arrive over HTTP.
    """
    search: ReceiptSearch
    stages: list[ReceiptStage]
    """The stages of the reply, in order, without storing it."""
    tokens: ReceiptTokens


class ReplaceChecks(TypedDict):
    """The checks of an agent."""

    checks: list[NewCheck]
    """The checks, in the order in which they are asked. All together take at most 256 KiB of
    JSON.
    """


class Reply(TypedDict):
    """A complete reply."""

    agent_id: str
    conversation_id: str
    """The same as `id`. A message with this id continues the conversation."""
    created_at: str
    """When the conversation began."""
    id: str
    """The conversation's id."""
    n: int
    """The number of the reply in the conversation, from 1. It names the message in other
    requests.
    """
    reply: str
    """The agent's answer."""
    sources_used: list[Citation]
    """The sources that the reply is based on, best first."""


class RotateSecret(TypedDict):
    keep_seconds: NotRequired[int | None]
    """How long replaced secrets are accepted; null for 24 hours."""


class RotateToken(TypedDict):
    keep_seconds: NotRequired[int | None]
    """How long the old token works; null for 0."""


class Search(TypedDict):
    query: str
    """The text to search for."""
    limit: NotRequired[int | None]
    """The maximum number of hits; null for the default, 10."""


class SearchResult(TypedDict):
    """The passages that a search found, best first."""

    confidence: float
    """How certain it is that the hits answer the query."""
    data: list[Hit]
    floor: float
    """The lowest confidence at which a message is answered from the sources, according to the
    agent's `answer_floor`.
    """


class SendMessage(TypedDict):
    agent_id: str
    message: str
    """The user's text."""
    conversation_id: NotRequired[str | None]
    """The conversation to continue. Without it, a new one begins."""
    metadata: NotRequired[dict[str, str] | None]
    """Key/value pairs for a new conversation; ignored if a conversation is continued."""


class SitePreviewPage(TypedDict):
    """A page that a sitemap lists."""

    allowed: bool
    """Whether `robots.txt` allows it to be requested."""
    url: str


class SitePreview(TypedDict):
    """What a site allows and lists for a crawl."""

    allowed: bool
    """Whether the start page may be requested."""
    crawl_delay_seconds: float | None
    """The pause between requests that the site asks for, in seconds. Pauses longer than the
    server's limit are shortened to it.
    """
    list_complete: bool
    """Whether the sitemaps were read completely. A crawl reads more of them."""
    listed: int
    """The number of the site's pages in its sitemaps."""
    pages: list[SitePreviewPage]
    """The first of the listed pages."""
    reason: str | None
    """Why a crawl would fail; null if the start page may be requested."""
    robots_url: str
    """The address of the site's `robots.txt`."""
    url: str
    """The start page, in the form in which the crawl would record it."""


class SitePreviewRequest(TypedDict):
    url: str
    """The start page: a full http or https URL with a host and without credentials."""


class Source(TypedDict):
    """Content that an agent answers from."""

    agent_id: str
    character_count: int | None
    """The number of characters extracted; null until the source is trained. A refresh changes it
    only when it succeeds.
    """
    content: str
    """The content as it was given: a URL, a text, the id of a file, or a JSON array of pairs."""
    crawl_subpages: bool | None
    """Whether links within the host are followed; null for a source that is not a website."""
    created_at: str
    error_message: str | None
    """Why processing failed; null in every other state."""
    guarded: bool
    """Whether a crawl replaces the content only if every check of the agent that passes now
    would still pass; always false for a source that is not a website.
    """
    id: str
    managed: Managed | None
    """The entry of a declaration file that manages this object; null if none does."""
    partially_read: PartialReading | None
    """What is missing from the trained content; null if everything was read. The documents'
    `warnings` have the details.
    """
    progress: Progress | None
    """The progress of the crawl while a website is processed; otherwise null."""
    status: str
    title: str | None
    """The title that citations show. Citations of a `qa` source show the matched question
    instead.
    """
    type: str


class Statistics(TypedDict):
    """The outcome of an agent's messages on one day."""

    answered: int
    """Stored replies that are based on a source."""
    conversations: int
    """Conversations that began."""
    day: str
    """The day, in UTC."""
    latency: Latency | None
    """How long the stored replies took; null if there are none."""
    messages: int
    """Messages that were answered, including those whose reply was not stored."""
    rated_down: int
    """Replies of this day that are rated down, regardless of when they were rated."""
    rated_up: int
    """Replies of this day that are rated up, regardless of when they were rated."""
    unanswered: int
    """Stored replies that are based on no source."""


class TokenEvent(TypedDict):
    """The data of a `token` event: the next fragment of the reply."""

    content: str


class UpdateAgent(TypedDict):
    answer_floor: NotRequired[Literal["cautious", "balanced", "eager"] | None]
    """How certain the search must be before a question is answered from the sources. `cautious`
    leaves more questions unanswered and gives fewer wrong answers; `eager` does the opposite;
    null for the default, `balanced`.
    """
    managed: NotRequired[Managed | None]
    """The entry of a declaration file that manages this object; null if none does."""
    max_tokens: NotRequired[int | None]
    """The maximum number of tokens in a reply; null for the default, 1024."""
    model: NotRequired[Literal["gpt-4-turbo", "gpt-4o", "gpt-3.5-turbo"] | None]
    """The model that writes the replies; null for the default, `gpt-4o`."""
    name: NotRequired[str]
    """A human-readable name."""
    public_sources: NotRequired[bool | None]
    """Whether anyone who knows the address of a document may read its text without a key. Ids of
    documents are not secret: this publishes all texts of the agent. It has an effect only if
    the server has a public address. Null for false.
    """
    receipts: NotRequired[bool | None]
    """Whether replies are stored with receipts, which show how they were produced; null for
    true. Existing receipts are kept.
    """
    retention_days: NotRequired[int | None]
    """Days after which a conversation without a new message is removed; null for never."""
    source_list: NotRequired[bool | None]
    """Whether chat completions end with a list of their sources, for clients that drop other
    citations. The list is not stored; null for false.
    """
    status: NotRequired[Literal["active", "paused"]]
    """A `paused` agent accepts no new conversations."""
    system_prompt: NotRequired[str | None]
    """Behaviour, tone and constraints; null for none."""
    temperature: NotRequired[float | None]
    """Lower is more deterministic; null for the default, 0.7."""


class UpdateApiKey(TypedDict):
    agent_ids: NotRequired[list[str] | None]
    """The agents that the key is restricted to; null for all agents of the account."""
    expires_at: NotRequired[str | None]
    """When it expires, in the future; null for never."""
    managed: NotRequired[Managed | None]
    """The entry of a declaration file that manages this object; null if none does."""
    name: NotRequired[str]
    """A human-readable name."""
    permissions: NotRequired[list[Literal["agents:read", "agents:write", "sources:read", "sources:write", "conversations:read", "conversations:write", "conversations:export", "webhooks:read", "webhooks:write", "keys:read", "keys:write", "*"]]]
    """The permissions of the key; `*` grants all of them."""


class UpdateGap(TypedDict):
    status: Literal["open", "dismissed"]
    """The new status."""


class UpdateSource(TypedDict):
    guarded: NotRequired[bool | None]
    """Whether a crawl replaces the content only if every check of the agent that passes now
    would still pass. Only a website can be guarded; null for false.
    """
    managed: NotRequired[Managed | None]
    """The entry of a declaration file that manages this object; null if none does."""


class UpdateWebhookEndpoint(TypedDict):
    description: NotRequired[str | None]
    """A human-readable description."""
    events: NotRequired[list[Literal["source.trained", "source.failed", "checks.failed", "conversation.handoff_requested", "message.rated", "lead.captured"]] | None]
    """The events that it receives; null for all."""
    managed: NotRequired[Managed | None]
    """The entry of a declaration file that manages this object; null if none does."""
    payload: NotRequired[Literal["full", "thin"] | None]
    """`thin` omits `data.content`; null for the default, `full`."""
    status: NotRequired[Literal["enabled", "disabled"]]
    """Whether events are sent to the endpoint."""
    url: NotRequired[str]
    """A public https URL without credentials. An http URL or a private address is accepted only
    if the server allows it.
    """


class UpdateWidget(TypedDict):
    appearance: NotRequired[GivenWidgetAppearance | None]
    """Colours and position; null for the defaults."""
    greeting: NotRequired[str | None]
    """The text that is shown before the first question."""
    handoff: NotRequired[bool | None]
    """Whether visitors may ask for a person; null for false."""
    hosted_page: NotRequired[bool | None]
    """Whether it has a page at `/chat/{token}`; null for true."""
    identity: NotRequired[Literal["none", "optional", "required"] | None]
    """Whether visitors are users of the owner's site, whose identity it signs; null for `none`."""
    is_active: NotRequired[bool | None]
    """Whether visitors can use it; null for true."""
    language: NotRequired[str | None]
    """A BCP 47 tag; null for `en`."""
    lead: NotRequired[bool | None]
    """Whether visitors may leave contact details; null for false."""
    limits: NotRequired[GivenWidgetLimits | None]
    """Limits; null for the defaults."""
    managed: NotRequired[Managed | None]
    """The entry of a declaration file that manages this object; null if none does."""
    name: NotRequired[str]
    """A name that only the owner sees."""
    origins: NotRequired[list[str] | None]
    """The sites that may embed it: `https://site.example`, `https://*.site.example` for every
    subdomain, or `*` for any; null for none except its own page.
    """
    show_sources: NotRequired[bool | None]
    """Whether replies show their sources; null for true."""
    starters: NotRequired[list[str] | None]
    """Suggested questions that a visitor can ask with a click; null for none."""
    texts: NotRequired[dict[str, Any] | None]
    """Texts that replace the widget's own, by key. They replace all texts that were set before;
    null for none.
    """
    title: NotRequired[str | None]
    """Null for the agent's name."""


class UploadedFile(TypedDict):
    """An uploaded file. Its id is the `content` of a source of type `file`."""

    bytes: int
    """The size of the file in bytes."""
    content_type: str
    """The media type, detected from the content."""
    created_at: str
    filename: str
    id: str


class Usage(TypedDict):
    """The usage of one agent on one day."""

    agent_id: str
    """The agent, which may have been deleted since."""
    completion_tokens: int
    """Tokens that models generated."""
    day: str
    """The day, in UTC."""
    messages: int
    """Messages that were answered."""
    prompt_tokens: int
    """Tokens of the prompts that models received; the embedded answerer receives none."""


class Visitor(TypedDict):
    """A visitor of a widget."""

    email: str | None
    id: str
    name: str | None
    subject: str | None
    """The user's id on the owner's site; null for an anonymous visitor."""


class Conversation(TypedDict):
    """An ordered exchange between an end user and an agent."""

    agent_id: str
    channel: str
    """The interface through which it began. More may be added."""
    created_at: str
    handoff_requested_at: str | None
    """When the visitor first asked for a person."""
    id: str
    lead: Lead | None
    """The contact details that the visitor left, if any."""
    message_count: int
    """The number of its messages."""
    metadata: dict[str, str]
    ratings: RatingCounts
    unanswered_count: int
    """The number of replies that are based on no source."""
    updated_at: str
    """The time of the last message."""
    visitor: Visitor | None
    """The visitor, if it began through a widget."""
    widget_id: str | None
    """The widget through which it began; null if there was none or it has been deleted."""
    match: NotRequired[Match]
    """Where the first word of `text` was found; absent unless the request has `text`."""
    messages: NotRequired[list[Message]]
    """Oldest first; absent from lists of conversations. At most 4 MiB of JSON: if the
    conversation is longer, the newest messages that fit.
    """
    messages_cursor: NotRequired[str | None]
    """The `cursor` of the older messages, null if `messages` contains all of them; absent from
    lists of conversations.
    """


class Warning(TypedDict):
    """Why a part of a document is missing from its text."""

    code: str
    """A stable name of the reason. More may be added."""
    message: str
    """The reason, as a sentence."""
    page_count: int
    """The number of affected pages."""
    pages: list[int]
    """The affected pages, from 1, in order; empty if the reason is not about pages. All warnings
    of a document together list at most 1,000.
    """


class Document(TypedDict):
    """One unit of extracted content: a text, a file, a page or a pair."""

    agent_id: str
    character_count: int
    id: str
    """The id of the document. A page keeps it when its source is refreshed."""
    page_count: int | None
    """The number of pages, if the format has pages."""
    source_id: str
    table_count: int | None
    """The number of tables in the text; null if an earlier version of the server read the
    document.
    """
    text: str
    """The extracted text; for a question/answer pair, the answer."""
    title: str | None
    """The title; for a question/answer pair, the question."""
    url: str | None
    """The URL of the page, if the source is a website; otherwise null."""
    warnings: list[Warning]
    """What is missing or uncertain in the text, one entry per reason; empty if the document was
    read completely.
    """


class WebhookEndpoint(TypedDict):
    """A webhook endpoint, without its secret."""

    created_at: str
    description: str | None
    """A human-readable description."""
    disabled_reason: str | None
    """Why the endpoint is disabled; null while it is enabled."""
    events: list[str]
    """The events that it receives."""
    id: str
    managed: Managed | None
    """The entry of a declaration file that manages this object; null if none does."""
    payload: str
    """`full`, or `thin`: without `data.content`."""
    status: str
    """`enabled` or `disabled`."""
    updated_at: str
    url: str
    """The URL that events are sent to, as it was given."""


class WidgetAppearance(TypedDict):
    """How a widget looks."""

    accent: str
    position: str
    scheme: str


class WidgetLimits(TypedDict):
    """How many messages visitors may send."""

    messages_per_address_per_minute: int
    messages_per_day: int
    """Messages of the widget per UTC day."""
    messages_per_visitor_per_hour: int
    replies_at_once: int
    """Replies in progress."""


class IssuedWidget(TypedDict):
    """A widget with its new secret."""

    agent_id: str
    appearance: WidgetAppearance
    created_at: str
    greeting: str | None
    """The text that is shown before the first question."""
    handoff: bool
    """Whether visitors may ask for a person."""
    hosted_page: bool
    """Whether it has a page at `/chat/{token}`."""
    id: str
    identity: str
    """Whether visitors are users of the owner's site: `none`, `optional` or `required`."""
    is_active: bool
    """Whether visitors can use it."""
    language: str
    """A BCP 47 tag."""
    lead: bool
    """Whether visitors may leave contact details."""
    limits: WidgetLimits
    managed: Managed | None
    """The entry of a declaration file that manages this object; null if none does."""
    name: str
    """A name that only the owner sees."""
    origins: list[str]
    """The sites that may embed it, as browsers write them."""
    show_sources: bool
    """Whether replies show their sources."""
    starters: list[str]
    """Suggested questions that a visitor can ask with a click."""
    texts: dict[str, str]
    """Texts that replace the widget's own, by key."""
    title: str | None
    """Null for the agent's name."""
    token: str
    """The public token that embedding pages contain."""
    updated_at: str
    identity_secret: str
    """The secret whose bytes sign the identities of visitors (HS256)."""


class Widget(TypedDict):
    """A widget, without its secret."""

    agent_id: str
    appearance: WidgetAppearance
    created_at: str
    greeting: str | None
    """The text that is shown before the first question."""
    handoff: bool
    """Whether visitors may ask for a person."""
    hosted_page: bool
    """Whether it has a page at `/chat/{token}`."""
    id: str
    identity: str
    """Whether visitors are users of the owner's site: `none`, `optional` or `required`."""
    is_active: bool
    """Whether visitors can use it."""
    language: str
    """A BCP 47 tag."""
    lead: bool
    """Whether visitors may leave contact details."""
    limits: WidgetLimits
    managed: Managed | None
    """The entry of a declaration file that manages this object; null if none does."""
    name: str
    """A name that only the owner sees."""
    origins: list[str]
    """The sites that may embed it, as browsers write them."""
    show_sources: bool
    """Whether replies show their sources."""
    starters: list[str]
    """Suggested questions that a visitor can ask with a click."""
    texts: dict[str, str]
    """Texts that replace the widget's own, by key."""
    title: str | None
    """Null for the agent's name."""
    token: str
    """The public token that embedding pages contain."""
    updated_at: str
