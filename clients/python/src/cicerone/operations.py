"""The operations of the API.

Written by `cargo xtask openapi` from docs/openapi.json; not edited by hand.
"""

from __future__ import annotations

from typing import Literal, Unpack

from .client import AsyncClient, Client
from .listing import AsyncListing, Listing
from .requests import FileInput, new_key, segment
from .types import (
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
)


class Cicerone(Client):
    """A client with methods for the operations of the API."""

    def list_agents(
        self,
        *,
        page_size: int | None = None,
        status: Literal["active", "paused"] | None = None,
        set: str | None = None,
    ) -> Listing[Agent]:
        """List agents. Newest first. Permission: `agents:read`."""
        return self._list("/v1/agents", {"page_size": page_size, "status": status, "set": set})

    def create_agent(
        self,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[CreateAgent],
    ) -> Agent:
        """Create an agent. Permission: `agents:write`."""
        answer: Agent = self._call("POST", "/v1/agents", body=body, key=idempotency_key or new_key())
        return answer

    def delete_agent(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete an agent. Permanently deletes the agent, its sources and its conversations.
        Permission: `agents:write`.
        """
        self._call("DELETE", f"/v1/agents/{segment(agent_id)}", key=idempotency_key or new_key())

    def get_agent(
        self,
        agent_id: str,
    ) -> Agent:
        """Retrieve an agent. Permission: `agents:read`."""
        answer: Agent = self._call("GET", f"/v1/agents/{segment(agent_id)}")
        return answer

    def update_agent(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateAgent],
    ) -> Agent:
        """Update an agent. Changes only the fields that are given; null resets a field to its
        default. A `paused` agent accepts no new conversations until it is `active` again.
        Permission: `agents:write`.
        """
        answer: Agent = self._call("PATCH", f"/v1/agents/{segment(agent_id)}", body=body, key=idempotency_key or new_key())
        return answer

    def get_checks(
        self,
        agent_id: str,
    ) -> AgentChecks:
        """Get an agent's checks. Permission: `agents:read`."""
        answer: AgentChecks = self._call("GET", f"/v1/agents/{segment(agent_id)}/checks")
        return answer

    def replace_checks(
        self,
        agent_id: str,
        **body: Unpack[ReplaceChecks],
    ) -> AgentChecks:
        """Replace an agent's checks. Checks are questions whose replies you know. They are asked
        on request and after each training of a source, and they count toward the quotas.
        Sending the same checks again changes nothing, so the request can be repeated and
        takes no idempotency key. Permission: `agents:write`.
        """
        answer: AgentChecks = self._call("PUT", f"/v1/agents/{segment(agent_id)}/checks", body=body)
        return answer

    def run_checks(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> CheckRun:
        """Run an agent's checks. The checks are asked in the background; the run shows the
        results so far. Permission: `agents:write`.
        """
        answer: CheckRun = self._call("POST", f"/v1/agents/{segment(agent_id)}/checks/run", key=idempotency_key or new_key())
        return answer

    def list_check_runs(
        self,
        agent_id: str,
        *,
        page_size: int | None = None,
    ) -> Listing[CheckRun]:
        """List the runs of an agent's checks. Newest first. The last 20 are kept. Permission:
        `agents:read`.
        """
        return self._list(f"/v1/agents/{segment(agent_id)}/checks/runs", {"page_size": page_size})

    def list_conversations(
        self,
        agent_id: str,
        *,
        page_size: int | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
        metadata: list[str] | None = None,
        rating: Literal["up", "down"] | None = None,
        unanswered: Literal["true"] | None = None,
        channel: Literal["api", "openai", "mcp", "widget"] | None = None,
        visitor_id: str | None = None,
        text: str | None = None,
    ) -> Listing[Conversation]:
        """List conversations. Newest first, without their messages. Permission:
        `conversations:read`.
        """
        return self._list(f"/v1/agents/{segment(agent_id)}/conversations", {"page_size": page_size, "created_after": created_after, "created_before": created_before, "metadata": metadata, "rating": rating, "unanswered": unanswered, "channel": channel, "visitor_id": visitor_id, "text": text})

    def list_gaps(
        self,
        agent_id: str,
        *,
        status: Literal["open", "answered", "dismissed"] | None = None,
        limit: int | None = None,
    ) -> GapList:
        """List an agent's gaps. Groups of similar questions that were not answered, or whose
        reply was rated down, most frequent first; ties are ordered by the latest question.
        The newest 10,000 questions of an agent are kept, except those of the OpenAI
        interface. A request groups up to 500 new questions; `ungrouped` counts the rest. An
        open gap becomes `answered` as soon as the sources answer its first question. A later
        similar question opens it again. There are no pages, since the order changes with each
        question. Permission: `conversations:read`.
        """
        answer: GapList = self._call("GET", f"/v1/agents/{segment(agent_id)}/gaps", query={"status": status, "limit": limit})
        return answer

    def update_gap(
        self,
        agent_id: str,
        gap_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateGap],
    ) -> GapState:
        """Dismiss or reopen a gap. A dismissed gap stays dismissed when similar questions are
        asked. A gap that is opened again stays open until the content of the agent changes.
        Permission: `conversations:write`.
        """
        answer: GapState = self._call("PATCH", f"/v1/agents/{segment(agent_id)}/gaps/{segment(gap_id)}", body=body, key=idempotency_key or new_key())
        return answer

    def answer_gap(
        self,
        agent_id: str,
        gap_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[AnswerGap],
    ) -> Source:
        """Answer a gap. Adds a question/answer pair to a `qa` source, which is processed in the
        background, and closes the gap. Without `source_id`, the pair goes to the agent's own
        source for gaps, which is created if it is missing or full. Permission:
        `sources:write`.
        """
        answer: Source = self._call("POST", f"/v1/agents/{segment(agent_id)}/gaps/{segment(gap_id)}/answer", body=body, key=idempotency_key or new_key())
        return answer

    def search(
        self,
        agent_id: str,
        **body: Unpack[Search],
    ) -> SearchResult:
        """Search an agent's sources. Returns the best passages first, from the same index and
        with the same ranking that replies use. A message with this text is answered from the
        sources if `confidence` reaches `floor`. The operation changes nothing and takes no
        idempotency key. Permission: `sources:read`.
        """
        answer: SearchResult = self._call("POST", f"/v1/agents/{segment(agent_id)}/search", body=body)
        return answer

    def list_sources(
        self,
        agent_id: str,
        *,
        page_size: int | None = None,
        status: Literal["pending", "processing", "trained", "failed"] | None = None,
        type: Literal["website", "text", "file", "qa"] | None = None,
        set: str | None = None,
    ) -> Listing[Source]:
        """List sources. Newest first. Permission: `sources:read`."""
        return self._list(f"/v1/agents/{segment(agent_id)}/sources", {"page_size": page_size, "status": status, "type": type, "set": set})

    def add_source(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[CreateSource],
    ) -> Source:
        """Add a source. Processing starts at once and runs in the background. Permission:
        `sources:write`.
        """
        answer: Source = self._call("POST", f"/v1/agents/{segment(agent_id)}/sources", body=body, key=idempotency_key or new_key())
        return answer

    def preview_website(
        self,
        agent_id: str,
        **body: Unpack[SitePreviewRequest],
    ) -> SitePreview:
        """Preview the crawl of a website. Shows what the site's `robots.txt` allows and what its
        sitemaps list, before the website is added. The server requests at most three
        sitemaps, reads at most 2 MiB of each, and requests no page of the site; this takes up
        to 20 s. The operation changes nothing and takes no idempotency key. Permission:
        `sources:write`.
        """
        answer: SitePreview = self._call("POST", f"/v1/agents/{segment(agent_id)}/sources/preview", body=body)
        return answer

    def list_statistics(
        self,
        agent_id: str,
        *,
        page_size: int | None = None,
        from_: str | None = None,
        to: str | None = None,
    ) -> Listing[Statistics]:
        """List an agent's statistics by day. One item for each day (UTC) with messages, latest
        day first. Statistics are kept for 400 days. Deleting conversations does not change
        the statistics. For days before the server was updated to a version with statistics,
        all counts except `messages` are 0. Permission: `agents:read`.
        """
        return self._list(f"/v1/agents/{segment(agent_id)}/statistics", {"page_size": page_size, "from": from_, "to": to})

    def list_widgets(
        self,
        agent_id: str,
        *,
        page_size: int | None = None,
        set: str | None = None,
    ) -> Listing[Widget]:
        """List widgets. Newest first. Permission: `agents:read`."""
        return self._list(f"/v1/agents/{segment(agent_id)}/widgets", {"page_size": page_size, "set": set})

    def create_widget(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[CreateWidget],
    ) -> IssuedWidget:
        """Create a widget. The response contains the `identity_secret` with which the owner's
        site signs the identities of its users. Permission: `agents:write`.
        """
        answer: IssuedWidget = self._call("POST", f"/v1/agents/{segment(agent_id)}/widgets", body=body, key=idempotency_key or new_key())
        return answer

    def list_api_keys(
        self,
        *,
        page_size: int | None = None,
        set: str | None = None,
    ) -> Listing[ApiKey]:
        """List API keys. Newest first. A key that is restricted to agents sees only keys that
        are restricted to a subset of those agents. Permission: `keys:read`.
        """
        return self._list("/v1/api_keys", {"page_size": page_size, "set": set})

    def create_api_key(
        self,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[CreateApiKey],
    ) -> IssuedApiKey:
        """Create an API key. Only this response contains `key`; the response to a repeated
        request with the same idempotency key does not. A key cannot create a key with more
        permissions, more agents or a later expiry than its own. An account has at most 1,000
        keys; expired keys are removed to make room for new ones. Permission: `keys:write`.
        """
        answer: IssuedApiKey = self._call("POST", "/v1/api_keys", body=body, key=idempotency_key or new_key())
        return answer

    def delete_api_key(
        self,
        key_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete an API key. The key stops working at once on the server that deletes it, and
        within a second on the others. A key can delete only keys with no more permissions, no
        more agents and no later expiry than its own. Permission: `keys:write`.
        """
        self._call("DELETE", f"/v1/api_keys/{segment(key_id)}", key=idempotency_key or new_key())

    def get_api_key(
        self,
        key_id: str,
    ) -> ApiKey:
        """Retrieve an API key. Permission: `keys:read`."""
        answer: ApiKey = self._call("GET", f"/v1/api_keys/{segment(key_id)}")
        return answer

    def update_api_key(
        self,
        key_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateApiKey],
    ) -> ApiKey:
        """Update an API key. Changes only the fields that are given. Both before and after the
        change, the key must have no more permissions, no more agents and no later expiry than
        the key that makes the request. The change takes effect at once on the server that
        makes it, and within a second on the others. Permission: `keys:write`.
        """
        answer: ApiKey = self._call("PATCH", f"/v1/api_keys/{segment(key_id)}", body=body, key=idempotency_key or new_key())
        return answer

    def list_audit_log(
        self,
        *,
        page_size: int | None = None,
        action: Literal["api_key.created", "api_key.updated", "api_key.deleted", "webhook_endpoint.created", "webhook_endpoint.updated", "webhook_endpoint.deleted", "webhook_endpoint.secret_rotated", "widget.created", "widget.updated", "widget.deleted", "widget.token_rotated", "widget.secret_rotated", "agent.deleted", "source.deleted", "conversation.deleted", "conversations.exported", "file.deleted", "authentication.failed"] | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
    ) -> Listing[AuditRecord]:
        """List the audit log. Records of changes to API keys and webhook endpoints, of deletions
        and of failed authentications, newest first. A key that is restricted to agents sees
        no records. Permission: `keys:read`.
        """
        return self._list("/v1/audit_log", {"page_size": page_size, "action": action, "created_after": created_after, "created_before": created_before})

    def send_message(
        self,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[SendMessage],
    ) -> Reply:
        """Send a message. Without `conversation_id`, a new conversation begins. With `stream:
        true`, the reply is sent as Server-Sent Events: `token` events, whose `content` values
        together are the reply, then `done`. If the reply fails after the stream has begun, an
        `error` event ends the stream. A comment line is sent every 10 s if there is nothing
        else to send. Permission: `conversations:write`.
        """
        answer: Reply = self._call("POST", "/v1/conversations", body=body, key=idempotency_key or new_key())
        return answer

    def delete_conversation(
        self,
        conversation_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete a conversation. Permission: `conversations:write`."""
        self._call("DELETE", f"/v1/conversations/{segment(conversation_id)}", key=idempotency_key or new_key())

    def get_conversation(
        self,
        conversation_id: str,
    ) -> Conversation:
        """Retrieve a conversation. Includes the messages, oldest first, up to 4 MiB of JSON. If
        the conversation is longer, the newest messages that fit are included, and
        `messages_cursor` is the cursor of the older ones. Permission: `conversations:read`.
        """
        answer: Conversation = self._call("GET", f"/v1/conversations/{segment(conversation_id)}")
        return answer

    def list_messages(
        self,
        conversation_id: str,
        *,
        page_size: int | None = None,
    ) -> Listing[Message]:
        """List messages. Newest first. If the cursor is the `messages_cursor` of a conversation,
        the list continues with the older messages that were not included there. Permission:
        `conversations:read`.
        """
        return self._list(f"/v1/conversations/{segment(conversation_id)}/messages", {"page_size": page_size})

    def unrate_message(
        self,
        conversation_id: str,
        n: int,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Remove the rating of a reply. Permission: `conversations:write`."""
        self._call("DELETE", f"/v1/conversations/{segment(conversation_id)}/messages/{segment(n)}/rating", key=idempotency_key or new_key())

    def rate_message(
        self,
        conversation_id: str,
        n: int,
        **body: Unpack[Rate],
    ) -> Rating:
        """Rate a reply. Replaces an earlier rating. Sending the same rating again changes
        nothing, so the request can be repeated and takes no idempotency key. Permission:
        `conversations:write`.
        """
        answer: Rating = self._call("PUT", f"/v1/conversations/{segment(conversation_id)}/messages/{segment(n)}/rating", body=body)
        return answer

    def get_receipt(
        self,
        conversation_id: str,
        n: int,
    ) -> Receipt:
        """Explain a reply. Shows how a reply was produced: what was searched for, what was found
        and how well it matched, what the model received, what the reply cites, and how long
        each stage took. Receipts are kept as long as their conversation. Replies of agents
        without `receipts` have no receipts. Passages that have changed since then are shown
        without their texts. Permission: `conversations:read`.
        """
        answer: Receipt = self._call("GET", f"/v1/conversations/{segment(conversation_id)}/messages/{segment(n)}/receipt")
        return answer

    def get_document(
        self,
        document_id: str,
    ) -> Document:
        """Retrieve an extracted document. A document of the most recently trained content of a
        source. A page of a website has the same id after a refresh, so citations in earlier
        replies stay valid; a page that no longer exists gets 404. Permission: `sources:read`.
        """
        answer: Document = self._call("GET", f"/v1/documents/{segment(document_id)}")
        return answer

    def upload_file(
        self,
        file: FileInput,
        *,
        filename: str | None = None,
        idempotency_key: str | None = None,
    ) -> UploadedFile:
        """Upload a file. A PDF, DOCX, ODT, RTF, PPTX, XLSX, XLS, ODS, CSV, EPUB, EML, HTML or
        text file of at most 10 MiB, for a source of type `file`; a PNG, JPEG, TIFF or WebP
        file if the server recognises text in pictures (`ocr.command`). A file that no source
        uses is removed after 24 hours. Permission: `sources:write`.
        """
        answer: UploadedFile = self._upload("/v1/files", file, filename, key=idempotency_key or new_key())
        return answer

    def delete_file(
        self,
        file_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete a file. Permission: `sources:write`."""
        self._call("DELETE", f"/v1/files/{segment(file_id)}", key=idempotency_key or new_key())

    def get_file(
        self,
        file_id: str,
    ) -> UploadedFile:
        """Retrieve a file's description. Permission: `sources:read`."""
        answer: UploadedFile = self._call("GET", f"/v1/files/{segment(file_id)}")
        return answer

    def get_me(
        self,
    ) -> Me:
        """Retrieve the account and key that make the request. Includes the quotas of the account
        and the capabilities of this server. Permission: none; any valid key is accepted.
        """
        answer: Me = self._call("GET", "/v1/me")
        return answer

    def delete_source(
        self,
        source_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete a source. The next reply no longer uses its content. Permission:
        `sources:write`.
        """
        self._call("DELETE", f"/v1/sources/{segment(source_id)}", key=idempotency_key or new_key())

    def get_source(
        self,
        source_id: str,
    ) -> Source:
        """Retrieve a source. Permission: `sources:read`."""
        answer: Source = self._call("GET", f"/v1/sources/{segment(source_id)}")
        return answer

    def update_source(
        self,
        source_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateSource],
    ) -> Source:
        """Update a source. Changes only the fields that are given. The content of a source
        cannot be changed: add another source, and delete this one when the other is
        `trained`. Permission: `sources:write`.
        """
        answer: Source = self._call("PATCH", f"/v1/sources/{segment(source_id)}", body=body, key=idempotency_key or new_key())
        return answer

    def list_documents(
        self,
        source_id: str,
        *,
        page_size: int | None = None,
    ) -> Listing[Document]:
        """List extracted documents. The documents of the most recently trained content, in
        order. `warnings` shows what is missing from the text of a document. Permission:
        `sources:read`.
        """
        return self._list(f"/v1/sources/{segment(source_id)}/documents", {"page_size": page_size})

    def list_pages(
        self,
        source_id: str,
        *,
        page_size: int | None = None,
    ) -> Listing[Page]:
        """List crawled pages. The pages that the latest crawl of the website visited, in order.
        They are available while the crawl is running and also if it failed. Permission:
        `sources:read`.
        """
        return self._list(f"/v1/sources/{segment(source_id)}/pages", {"page_size": page_size})

    def add_pairs(
        self,
        source_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[AddPairs],
    ) -> Source:
        """Add pairs to a source. Adds question/answer pairs at the end of a `qa` source, which
        is processed again in the background. Replies use the previous content until it is
        trained. Permission: `sources:write`.
        """
        answer: Source = self._call("POST", f"/v1/sources/{segment(source_id)}/pairs", body=body, key=idempotency_key or new_key())
        return answer

    def list_passages(
        self,
        source_id: str,
        *,
        page_size: int | None = None,
        document_id: str | None = None,
    ) -> Listing[Passage]:
        """List passages. The passages of the most recently trained content, in order.
        Permission: `sources:read`.
        """
        return self._list(f"/v1/sources/{segment(source_id)}/passages", {"page_size": page_size, "document_id": document_id})

    def refresh_source(
        self,
        source_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> Source:
        """Refresh a source. Crawls a website again. Replies use the previous content until the
        crawl is done. Permission: `sources:write`.
        """
        answer: Source = self._call("POST", f"/v1/sources/{segment(source_id)}/refresh", key=idempotency_key or new_key())
        return answer

    def list_usage(
        self,
        *,
        page_size: int | None = None,
        from_: str | None = None,
        to: str | None = None,
        agent_id: str | None = None,
    ) -> Listing[Usage]:
        """List usage. One item for each day and agent, latest day first. Usage is kept for 400
        days. Permission: `agents:read`.
        """
        return self._list("/v1/usage", {"page_size": page_size, "from": from_, "to": to, "agent_id": agent_id})

    def list_webhook_endpoints(
        self,
        *,
        page_size: int | None = None,
        set: str | None = None,
    ) -> Listing[WebhookEndpoint]:
        """List webhook endpoints. Newest first. Permission: `webhooks:read`."""
        return self._list("/v1/webhook_endpoints", {"page_size": page_size, "set": set})

    def create_webhook_endpoint(
        self,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[CreateWebhookEndpoint],
    ) -> IssuedWebhookEndpoint:
        """Create a webhook endpoint. The endpoint receives the events of all agents of the
        account. Requests follow Standard Webhooks: they have `webhook-id`,
        `webhook-timestamp` and a `webhook-signature` over `id.timestamp.body`. The response
        contains the `secret` for verifying signatures. Permission: `webhooks:write`.
        """
        answer: IssuedWebhookEndpoint = self._call("POST", "/v1/webhook_endpoints", body=body, key=idempotency_key or new_key())
        return answer

    def delete_webhook_endpoint(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete a webhook endpoint. Deletes the endpoint and its deliveries. Permission:
        `webhooks:write`.
        """
        self._call("DELETE", f"/v1/webhook_endpoints/{segment(endpoint_id)}", key=idempotency_key or new_key())

    def get_webhook_endpoint(
        self,
        endpoint_id: str,
    ) -> WebhookEndpoint:
        """Retrieve a webhook endpoint. Permission: `webhooks:read`."""
        answer: WebhookEndpoint = self._call("GET", f"/v1/webhook_endpoints/{segment(endpoint_id)}")
        return answer

    def update_webhook_endpoint(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateWebhookEndpoint],
    ) -> WebhookEndpoint:
        """Update a webhook endpoint. Changes only the fields that are given. Nothing is sent to
        a disabled endpoint; its pending deliveries continue when it is enabled again.
        Permission: `webhooks:write`.
        """
        answer: WebhookEndpoint = self._call("PATCH", f"/v1/webhook_endpoints/{segment(endpoint_id)}", body=body, key=idempotency_key or new_key())
        return answer

    def list_deliveries(
        self,
        endpoint_id: str,
        *,
        page_size: int | None = None,
        status: Literal["pending", "succeeded", "failed"] | None = None,
    ) -> Listing[Delivery]:
        """List deliveries. Newest first. Deliveries are kept for 7 days. Permission:
        `webhooks:read`.
        """
        return self._list(f"/v1/webhook_endpoints/{segment(endpoint_id)}/deliveries", {"page_size": page_size, "status": status})

    def redeliver(
        self,
        endpoint_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> Delivery:
        """Send a delivery again. Sends the event again immediately, with the same `webhook-id`.
        If this fails, it is retried as often as a new event. Permission: `webhooks:write`.
        """
        answer: Delivery = self._call("POST", f"/v1/webhook_endpoints/{segment(endpoint_id)}/deliveries/{segment(delivery_id)}/redeliver", key=idempotency_key or new_key())
        return answer

    def rotate_webhook_secret(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> IssuedWebhookEndpoint:
        """Replace the secret. The response contains the new `secret`. For 24 hours, requests are
        also signed with the previous secret. Permission: `webhooks:write`.
        """
        answer: IssuedWebhookEndpoint = self._call("POST", f"/v1/webhook_endpoints/{segment(endpoint_id)}/rotate_secret", key=idempotency_key or new_key())
        return answer

    def test_webhook_endpoint(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> Delivery:
        """Test a webhook endpoint. Queues a `ping` event for the endpoint, regardless of the
        events that it receives. Permission: `webhooks:write`.
        """
        answer: Delivery = self._call("POST", f"/v1/webhook_endpoints/{segment(endpoint_id)}/test", key=idempotency_key or new_key())
        return answer

    def delete_widget(
        self,
        widget_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete a widget. The widget's token stops working. Its conversations are kept.
        Permission: `agents:write`.
        """
        self._call("DELETE", f"/v1/widgets/{segment(widget_id)}", key=idempotency_key or new_key())

    def get_widget(
        self,
        widget_id: str,
    ) -> Widget:
        """Retrieve a widget. Permission: `agents:read`."""
        answer: Widget = self._call("GET", f"/v1/widgets/{segment(widget_id)}")
        return answer

    def update_widget(
        self,
        widget_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateWidget],
    ) -> Widget:
        """Update a widget. Changes only the fields that are given. The same applies to the
        fields within `appearance` and `limits`. Permission: `agents:write`.
        """
        answer: Widget = self._call("PATCH", f"/v1/widgets/{segment(widget_id)}", body=body, key=idempotency_key or new_key())
        return answer

    def rotate_widget_secret(
        self,
        widget_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[RotateSecret],
    ) -> IssuedWidget:
        """Replace the identity secret. The response contains the new `identity_secret`. For
        `keep_seconds`, identities signed with the previous secret are also accepted. Secrets
        that were replaced earlier expire no later than that: 0 ends all of them. Permission:
        `agents:write`.
        """
        answer: IssuedWidget = self._call("POST", f"/v1/widgets/{segment(widget_id)}/rotate_secret", body=body, key=idempotency_key or new_key())
        return answer

    def rotate_widget_token(
        self,
        widget_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[RotateToken],
    ) -> Widget:
        """Replace the token. A token that was replaced earlier stops working, even if it was to
        be kept for longer. Permission: `agents:write`.
        """
        answer: Widget = self._call("POST", f"/v1/widgets/{segment(widget_id)}/rotate_token", body=body, key=idempotency_key or new_key())
        return answer


class AsyncCicerone(AsyncClient):
    """The same for programs that use asyncio."""

    def list_agents(
        self,
        *,
        page_size: int | None = None,
        status: Literal["active", "paused"] | None = None,
        set: str | None = None,
    ) -> AsyncListing[Agent]:
        """List agents. Newest first. Permission: `agents:read`."""
        return self._list("/v1/agents", {"page_size": page_size, "status": status, "set": set})

    async def create_agent(
        self,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[CreateAgent],
    ) -> Agent:
        """Create an agent. Permission: `agents:write`."""
        answer: Agent = await self._call("POST", "/v1/agents", body=body, key=idempotency_key or new_key())
        return answer

    async def delete_agent(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete an agent. Permanently deletes the agent, its sources and its conversations.
        Permission: `agents:write`.
        """
        await self._call("DELETE", f"/v1/agents/{segment(agent_id)}", key=idempotency_key or new_key())

    async def get_agent(
        self,
        agent_id: str,
    ) -> Agent:
        """Retrieve an agent. Permission: `agents:read`."""
        answer: Agent = await self._call("GET", f"/v1/agents/{segment(agent_id)}")
        return answer

    async def update_agent(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateAgent],
    ) -> Agent:
        """Update an agent. Changes only the fields that are given; null resets a field to its
        default. A `paused` agent accepts no new conversations until it is `active` again.
        Permission: `agents:write`.
        """
        answer: Agent = await self._call("PATCH", f"/v1/agents/{segment(agent_id)}", body=body, key=idempotency_key or new_key())
        return answer

    async def get_checks(
        self,
        agent_id: str,
    ) -> AgentChecks:
        """Get an agent's checks. Permission: `agents:read`."""
        answer: AgentChecks = await self._call("GET", f"/v1/agents/{segment(agent_id)}/checks")
        return answer

    async def replace_checks(
        self,
        agent_id: str,
        **body: Unpack[ReplaceChecks],
    ) -> AgentChecks:
        """Replace an agent's checks. Checks are questions whose replies you know. They are asked
        on request and after each training of a source, and they count toward the quotas.
        Sending the same checks again changes nothing, so the request can be repeated and
        takes no idempotency key. Permission: `agents:write`.
        """
        answer: AgentChecks = await self._call("PUT", f"/v1/agents/{segment(agent_id)}/checks", body=body)
        return answer

    async def run_checks(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> CheckRun:
        """Run an agent's checks. The checks are asked in the background; the run shows the
        results so far. Permission: `agents:write`.
        """
        answer: CheckRun = await self._call("POST", f"/v1/agents/{segment(agent_id)}/checks/run", key=idempotency_key or new_key())
        return answer

    def list_check_runs(
        self,
        agent_id: str,
        *,
        page_size: int | None = None,
    ) -> AsyncListing[CheckRun]:
        """List the runs of an agent's checks. Newest first. The last 20 are kept. Permission:
        `agents:read`.
        """
        return self._list(f"/v1/agents/{segment(agent_id)}/checks/runs", {"page_size": page_size})

    def list_conversations(
        self,
        agent_id: str,
        *,
        page_size: int | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
        metadata: list[str] | None = None,
        rating: Literal["up", "down"] | None = None,
        unanswered: Literal["true"] | None = None,
        channel: Literal["api", "openai", "mcp", "widget"] | None = None,
        visitor_id: str | None = None,
        text: str | None = None,
    ) -> AsyncListing[Conversation]:
        """List conversations. Newest first, without their messages. Permission:
        `conversations:read`.
        """
        return self._list(f"/v1/agents/{segment(agent_id)}/conversations", {"page_size": page_size, "created_after": created_after, "created_before": created_before, "metadata": metadata, "rating": rating, "unanswered": unanswered, "channel": channel, "visitor_id": visitor_id, "text": text})

    async def list_gaps(
        self,
        agent_id: str,
        *,
        status: Literal["open", "answered", "dismissed"] | None = None,
        limit: int | None = None,
    ) -> GapList:
        """List an agent's gaps. Groups of similar questions that were not answered, or whose
        reply was rated down, most frequent first; ties are ordered by the latest question.
        The newest 10,000 questions of an agent are kept, except those of the OpenAI
        interface. A request groups up to 500 new questions; `ungrouped` counts the rest. An
        open gap becomes `answered` as soon as the sources answer its first question. A later
        similar question opens it again. There are no pages, since the order changes with each
        question. Permission: `conversations:read`.
        """
        answer: GapList = await self._call("GET", f"/v1/agents/{segment(agent_id)}/gaps", query={"status": status, "limit": limit})
        return answer

    async def update_gap(
        self,
        agent_id: str,
        gap_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateGap],
    ) -> GapState:
        """Dismiss or reopen a gap. A dismissed gap stays dismissed when similar questions are
        asked. A gap that is opened again stays open until the content of the agent changes.
        Permission: `conversations:write`.
        """
        answer: GapState = await self._call("PATCH", f"/v1/agents/{segment(agent_id)}/gaps/{segment(gap_id)}", body=body, key=idempotency_key or new_key())
        return answer

    async def answer_gap(
        self,
        agent_id: str,
        gap_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[AnswerGap],
    ) -> Source:
        """Answer a gap. Adds a question/answer pair to a `qa` source, which is processed in the
        background, and closes the gap. Without `source_id`, the pair goes to the agent's own
        source for gaps, which is created if it is missing or full. Permission:
        `sources:write`.
        """
        answer: Source = await self._call("POST", f"/v1/agents/{segment(agent_id)}/gaps/{segment(gap_id)}/answer", body=body, key=idempotency_key or new_key())
        return answer

    async def search(
        self,
        agent_id: str,
        **body: Unpack[Search],
    ) -> SearchResult:
        """Search an agent's sources. Returns the best passages first, from the same index and
        with the same ranking that replies use. A message with this text is answered from the
        sources if `confidence` reaches `floor`. The operation changes nothing and takes no
        idempotency key. Permission: `sources:read`.
        """
        answer: SearchResult = await self._call("POST", f"/v1/agents/{segment(agent_id)}/search", body=body)
        return answer

    def list_sources(
        self,
        agent_id: str,
        *,
        page_size: int | None = None,
        status: Literal["pending", "processing", "trained", "failed"] | None = None,
        type: Literal["website", "text", "file", "qa"] | None = None,
        set: str | None = None,
    ) -> AsyncListing[Source]:
        """List sources. Newest first. Permission: `sources:read`."""
        return self._list(f"/v1/agents/{segment(agent_id)}/sources", {"page_size": page_size, "status": status, "type": type, "set": set})

    async def add_source(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[CreateSource],
    ) -> Source:
        """Add a source. Processing starts at once and runs in the background. Permission:
        `sources:write`.
        """
        answer: Source = await self._call("POST", f"/v1/agents/{segment(agent_id)}/sources", body=body, key=idempotency_key or new_key())
        return answer

    async def preview_website(
        self,
        agent_id: str,
        **body: Unpack[SitePreviewRequest],
    ) -> SitePreview:
        """Preview the crawl of a website. Shows what the site's `robots.txt` allows and what its
        sitemaps list, before the website is added. The server requests at most three
        sitemaps, reads at most 2 MiB of each, and requests no page of the site; this takes up
        to 20 s. The operation changes nothing and takes no idempotency key. Permission:
        `sources:write`.
        """
        answer: SitePreview = await self._call("POST", f"/v1/agents/{segment(agent_id)}/sources/preview", body=body)
        return answer

    def list_statistics(
        self,
        agent_id: str,
        *,
        page_size: int | None = None,
        from_: str | None = None,
        to: str | None = None,
    ) -> AsyncListing[Statistics]:
        """List an agent's statistics by day. One item for each day (UTC) with messages, latest
        day first. Statistics are kept for 400 days. Deleting conversations does not change
        the statistics. For days before the server was updated to a version with statistics,
        all counts except `messages` are 0. Permission: `agents:read`.
        """
        return self._list(f"/v1/agents/{segment(agent_id)}/statistics", {"page_size": page_size, "from": from_, "to": to})

    def list_widgets(
        self,
        agent_id: str,
        *,
        page_size: int | None = None,
        set: str | None = None,
    ) -> AsyncListing[Widget]:
        """List widgets. Newest first. Permission: `agents:read`."""
        return self._list(f"/v1/agents/{segment(agent_id)}/widgets", {"page_size": page_size, "set": set})

    async def create_widget(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[CreateWidget],
    ) -> IssuedWidget:
        """Create a widget. The response contains the `identity_secret` with which the owner's
        site signs the identities of its users. Permission: `agents:write`.
        """
        answer: IssuedWidget = await self._call("POST", f"/v1/agents/{segment(agent_id)}/widgets", body=body, key=idempotency_key or new_key())
        return answer

    def list_api_keys(
        self,
        *,
        page_size: int | None = None,
        set: str | None = None,
    ) -> AsyncListing[ApiKey]:
        """List API keys. Newest first. A key that is restricted to agents sees only keys that
        are restricted to a subset of those agents. Permission: `keys:read`.
        """
        return self._list("/v1/api_keys", {"page_size": page_size, "set": set})

    async def create_api_key(
        self,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[CreateApiKey],
    ) -> IssuedApiKey:
        """Create an API key. Only this response contains `key`; the response to a repeated
        request with the same idempotency key does not. A key cannot create a key with more
        permissions, more agents or a later expiry than its own. An account has at most 1,000
        keys; expired keys are removed to make room for new ones. Permission: `keys:write`.
        """
        answer: IssuedApiKey = await self._call("POST", "/v1/api_keys", body=body, key=idempotency_key or new_key())
        return answer

    async def delete_api_key(
        self,
        key_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete an API key. The key stops working at once on the server that deletes it, and
        within a second on the others. A key can delete only keys with no more permissions, no
        more agents and no later expiry than its own. Permission: `keys:write`.
        """
        await self._call("DELETE", f"/v1/api_keys/{segment(key_id)}", key=idempotency_key or new_key())

    async def get_api_key(
        self,
        key_id: str,
    ) -> ApiKey:
        """Retrieve an API key. Permission: `keys:read`."""
        answer: ApiKey = await self._call("GET", f"/v1/api_keys/{segment(key_id)}")
        return answer

    async def update_api_key(
        self,
        key_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateApiKey],
    ) -> ApiKey:
        """Update an API key. Changes only the fields that are given. Both before and after the
        change, the key must have no more permissions, no more agents and no later expiry than
        the key that makes the request. The change takes effect at once on the server that
        makes it, and within a second on the others. Permission: `keys:write`.
        """
        answer: ApiKey = await self._call("PATCH", f"/v1/api_keys/{segment(key_id)}", body=body, key=idempotency_key or new_key())
        return answer

    def list_audit_log(
        self,
        *,
        page_size: int | None = None,
        action: Literal["api_key.created", "api_key.updated", "api_key.deleted", "webhook_endpoint.created", "webhook_endpoint.updated", "webhook_endpoint.deleted", "webhook_endpoint.secret_rotated", "widget.created", "widget.updated", "widget.deleted", "widget.token_rotated", "widget.secret_rotated", "agent.deleted", "source.deleted", "conversation.deleted", "conversations.exported", "file.deleted", "authentication.failed"] | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
    ) -> AsyncListing[AuditRecord]:
        """List the audit log. Records of changes to API keys and webhook endpoints, of deletions
        and of failed authentications, newest first. A key that is restricted to agents sees
        no records. Permission: `keys:read`.
        """
        return self._list("/v1/audit_log", {"page_size": page_size, "action": action, "created_after": created_after, "created_before": created_before})

    async def send_message(
        self,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[SendMessage],
    ) -> Reply:
        """Send a message. Without `conversation_id`, a new conversation begins. With `stream:
        true`, the reply is sent as Server-Sent Events: `token` events, whose `content` values
        together are the reply, then `done`. If the reply fails after the stream has begun, an
        `error` event ends the stream. A comment line is sent every 10 s if there is nothing
        else to send. Permission: `conversations:write`.
        """
        answer: Reply = await self._call("POST", "/v1/conversations", body=body, key=idempotency_key or new_key())
        return answer

    async def delete_conversation(
        self,
        conversation_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete a conversation. Permission: `conversations:write`."""
        await self._call("DELETE", f"/v1/conversations/{segment(conversation_id)}", key=idempotency_key or new_key())

    async def get_conversation(
        self,
        conversation_id: str,
    ) -> Conversation:
        """Retrieve a conversation. Includes the messages, oldest first, up to 4 MiB of JSON. If
        the conversation is longer, the newest messages that fit are included, and
        `messages_cursor` is the cursor of the older ones. Permission: `conversations:read`.
        """
        answer: Conversation = await self._call("GET", f"/v1/conversations/{segment(conversation_id)}")
        return answer

    def list_messages(
        self,
        conversation_id: str,
        *,
        page_size: int | None = None,
    ) -> AsyncListing[Message]:
        """List messages. Newest first. If the cursor is the `messages_cursor` of a conversation,
        the list continues with the older messages that were not included there. Permission:
        `conversations:read`.
        """
        return self._list(f"/v1/conversations/{segment(conversation_id)}/messages", {"page_size": page_size})

    async def unrate_message(
        self,
        conversation_id: str,
        n: int,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Remove the rating of a reply. Permission: `conversations:write`."""
        await self._call("DELETE", f"/v1/conversations/{segment(conversation_id)}/messages/{segment(n)}/rating", key=idempotency_key or new_key())

    async def rate_message(
        self,
        conversation_id: str,
        n: int,
        **body: Unpack[Rate],
    ) -> Rating:
        """Rate a reply. Replaces an earlier rating. Sending the same rating again changes
        nothing, so the request can be repeated and takes no idempotency key. Permission:
        `conversations:write`.
        """
        answer: Rating = await self._call("PUT", f"/v1/conversations/{segment(conversation_id)}/messages/{segment(n)}/rating", body=body)
        return answer

    async def get_receipt(
        self,
        conversation_id: str,
        n: int,
    ) -> Receipt:
        """Explain a reply. Shows how a reply was produced: what was searched for, what was found
        and how well it matched, what the model received, what the reply cites, and how long
        each stage took. Receipts are kept as long as their conversation. Replies of agents
        without `receipts` have no receipts. Passages that have changed since then are shown
        without their texts. Permission: `conversations:read`.
        """
        answer: Receipt = await self._call("GET", f"/v1/conversations/{segment(conversation_id)}/messages/{segment(n)}/receipt")
        return answer

    async def get_document(
        self,
        document_id: str,
    ) -> Document:
        """Retrieve an extracted document. A document of the most recently trained content of a
        source. A page of a website has the same id after a refresh, so citations in earlier
        replies stay valid; a page that no longer exists gets 404. Permission: `sources:read`.
        """
        answer: Document = await self._call("GET", f"/v1/documents/{segment(document_id)}")
        return answer

    async def upload_file(
        self,
        file: FileInput,
        *,
        filename: str | None = None,
        idempotency_key: str | None = None,
    ) -> UploadedFile:
        """Upload a file. A PDF, DOCX, ODT, RTF, PPTX, XLSX, XLS, ODS, CSV, EPUB, EML, HTML or
        text file of at most 10 MiB, for a source of type `file`; a PNG, JPEG, TIFF or WebP
        file if the server recognises text in pictures (`ocr.command`). A file that no source
        uses is removed after 24 hours. Permission: `sources:write`.
        """
        answer: UploadedFile = await self._upload("/v1/files", file, filename, key=idempotency_key or new_key())
        return answer

    async def delete_file(
        self,
        file_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete a file. Permission: `sources:write`."""
        await self._call("DELETE", f"/v1/files/{segment(file_id)}", key=idempotency_key or new_key())

    async def get_file(
        self,
        file_id: str,
    ) -> UploadedFile:
        """Retrieve a file's description. Permission: `sources:read`."""
        answer: UploadedFile = await self._call("GET", f"/v1/files/{segment(file_id)}")
        return answer

    async def get_me(
        self,
    ) -> Me:
        """Retrieve the account and key that make the request. Includes the quotas of the account
        and the capabilities of this server. Permission: none; any valid key is accepted.
        """
        answer: Me = await self._call("GET", "/v1/me")
        return answer

    async def delete_source(
        self,
        source_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete a source. The next reply no longer uses its content. Permission:
        `sources:write`.
        """
        await self._call("DELETE", f"/v1/sources/{segment(source_id)}", key=idempotency_key or new_key())

    async def get_source(
        self,
        source_id: str,
    ) -> Source:
        """Retrieve a source. Permission: `sources:read`."""
        answer: Source = await self._call("GET", f"/v1/sources/{segment(source_id)}")
        return answer

    async def update_source(
        self,
        source_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateSource],
    ) -> Source:
        """Update a source. Changes only the fields that are given. The content of a source
        cannot be changed: add another source, and delete this one when the other is
        `trained`. Permission: `sources:write`.
        """
        answer: Source = await self._call("PATCH", f"/v1/sources/{segment(source_id)}", body=body, key=idempotency_key or new_key())
        return answer

    def list_documents(
        self,
        source_id: str,
        *,
        page_size: int | None = None,
    ) -> AsyncListing[Document]:
        """List extracted documents. The documents of the most recently trained content, in
        order. `warnings` shows what is missing from the text of a document. Permission:
        `sources:read`.
        """
        return self._list(f"/v1/sources/{segment(source_id)}/documents", {"page_size": page_size})

    def list_pages(
        self,
        source_id: str,
        *,
        page_size: int | None = None,
    ) -> AsyncListing[Page]:
        """List crawled pages. The pages that the latest crawl of the website visited, in order.
        They are available while the crawl is running and also if it failed. Permission:
        `sources:read`.
        """
        return self._list(f"/v1/sources/{segment(source_id)}/pages", {"page_size": page_size})

    async def add_pairs(
        self,
        source_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[AddPairs],
    ) -> Source:
        """Add pairs to a source. Adds question/answer pairs at the end of a `qa` source, which
        is processed again in the background. Replies use the previous content until it is
        trained. Permission: `sources:write`.
        """
        answer: Source = await self._call("POST", f"/v1/sources/{segment(source_id)}/pairs", body=body, key=idempotency_key or new_key())
        return answer

    def list_passages(
        self,
        source_id: str,
        *,
        page_size: int | None = None,
        document_id: str | None = None,
    ) -> AsyncListing[Passage]:
        """List passages. The passages of the most recently trained content, in order.
        Permission: `sources:read`.
        """
        return self._list(f"/v1/sources/{segment(source_id)}/passages", {"page_size": page_size, "document_id": document_id})

    async def refresh_source(
        self,
        source_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> Source:
        """Refresh a source. Crawls a website again. Replies use the previous content until the
        crawl is done. Permission: `sources:write`.
        """
        answer: Source = await self._call("POST", f"/v1/sources/{segment(source_id)}/refresh", key=idempotency_key or new_key())
        return answer

    def list_usage(
        self,
        *,
        page_size: int | None = None,
        from_: str | None = None,
        to: str | None = None,
        agent_id: str | None = None,
    ) -> AsyncListing[Usage]:
        """List usage. One item for each day and agent, latest day first. Usage is kept for 400
        days. Permission: `agents:read`.
        """
        return self._list("/v1/usage", {"page_size": page_size, "from": from_, "to": to, "agent_id": agent_id})

    def list_webhook_endpoints(
        self,
        *,
        page_size: int | None = None,
        set: str | None = None,
    ) -> AsyncListing[WebhookEndpoint]:
        """List webhook endpoints. Newest first. Permission: `webhooks:read`."""
        return self._list("/v1/webhook_endpoints", {"page_size": page_size, "set": set})

    async def create_webhook_endpoint(
        self,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[CreateWebhookEndpoint],
    ) -> IssuedWebhookEndpoint:
        """Create a webhook endpoint. The endpoint receives the events of all agents of the
        account. Requests follow Standard Webhooks: they have `webhook-id`,
        `webhook-timestamp` and a `webhook-signature` over `id.timestamp.body`. The response
        contains the `secret` for verifying signatures. Permission: `webhooks:write`.
        """
        answer: IssuedWebhookEndpoint = await self._call("POST", "/v1/webhook_endpoints", body=body, key=idempotency_key or new_key())
        return answer

    async def delete_webhook_endpoint(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete a webhook endpoint. Deletes the endpoint and its deliveries. Permission:
        `webhooks:write`.
        """
        await self._call("DELETE", f"/v1/webhook_endpoints/{segment(endpoint_id)}", key=idempotency_key or new_key())

    async def get_webhook_endpoint(
        self,
        endpoint_id: str,
    ) -> WebhookEndpoint:
        """Retrieve a webhook endpoint. Permission: `webhooks:read`."""
        answer: WebhookEndpoint = await self._call("GET", f"/v1/webhook_endpoints/{segment(endpoint_id)}")
        return answer

    async def update_webhook_endpoint(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateWebhookEndpoint],
    ) -> WebhookEndpoint:
        """Update a webhook endpoint. Changes only the fields that are given. Nothing is sent to
        a disabled endpoint; its pending deliveries continue when it is enabled again.
        Permission: `webhooks:write`.
        """
        answer: WebhookEndpoint = await self._call("PATCH", f"/v1/webhook_endpoints/{segment(endpoint_id)}", body=body, key=idempotency_key or new_key())
        return answer

    def list_deliveries(
        self,
        endpoint_id: str,
        *,
        page_size: int | None = None,
        status: Literal["pending", "succeeded", "failed"] | None = None,
    ) -> AsyncListing[Delivery]:
        """List deliveries. Newest first. Deliveries are kept for 7 days. Permission:
        `webhooks:read`.
        """
        return self._list(f"/v1/webhook_endpoints/{segment(endpoint_id)}/deliveries", {"page_size": page_size, "status": status})

    async def redeliver(
        self,
        endpoint_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> Delivery:
        """Send a delivery again. Sends the event again immediately, with the same `webhook-id`.
        If this fails, it is retried as often as a new event. Permission: `webhooks:write`.
        """
        answer: Delivery = await self._call("POST", f"/v1/webhook_endpoints/{segment(endpoint_id)}/deliveries/{segment(delivery_id)}/redeliver", key=idempotency_key or new_key())
        return answer

    async def rotate_webhook_secret(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> IssuedWebhookEndpoint:
        """Replace the secret. The response contains the new `secret`. For 24 hours, requests are
        also signed with the previous secret. Permission: `webhooks:write`.
        """
        answer: IssuedWebhookEndpoint = await self._call("POST", f"/v1/webhook_endpoints/{segment(endpoint_id)}/rotate_secret", key=idempotency_key or new_key())
        return answer

    async def test_webhook_endpoint(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> Delivery:
        """Test a webhook endpoint. Queues a `ping` event for the endpoint, regardless of the
        events that it receives. Permission: `webhooks:write`.
        """
        answer: Delivery = await self._call("POST", f"/v1/webhook_endpoints/{segment(endpoint_id)}/test", key=idempotency_key or new_key())
        return answer

    async def delete_widget(
        self,
        widget_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Delete a widget. The widget's token stops working. Its conversations are kept.
        Permission: `agents:write`.
        """
        await self._call("DELETE", f"/v1/widgets/{segment(widget_id)}", key=idempotency_key or new_key())

    async def get_widget(
        self,
        widget_id: str,
    ) -> Widget:
        """Retrieve a widget. Permission: `agents:read`."""
        answer: Widget = await self._call("GET", f"/v1/widgets/{segment(widget_id)}")
        return answer

    async def update_widget(
        self,
        widget_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[UpdateWidget],
    ) -> Widget:
        """Update a widget. Changes only the fields that are given. The same applies to the
        fields within `appearance` and `limits`. Permission: `agents:write`.
        """
        answer: Widget = await self._call("PATCH", f"/v1/widgets/{segment(widget_id)}", body=body, key=idempotency_key or new_key())
        return answer

    async def rotate_widget_secret(
        self,
        widget_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[RotateSecret],
    ) -> IssuedWidget:
        """Replace the identity secret. The response contains the new `identity_secret`. For
        `keep_seconds`, identities signed with the previous secret are also accepted. Secrets
        that were replaced earlier expire no later than that: 0 ends all of them. Permission:
        `agents:write`.
        """
        answer: IssuedWidget = await self._call("POST", f"/v1/widgets/{segment(widget_id)}/rotate_secret", body=body, key=idempotency_key or new_key())
        return answer

    async def rotate_widget_token(
        self,
        widget_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[RotateToken],
    ) -> Widget:
        """Replace the token. A token that was replaced earlier stops working, even if it was to
        be kept for longer. Permission: `agents:write`.
        """
        answer: Widget = await self._call("POST", f"/v1/widgets/{segment(widget_id)}/rotate_token", body=body, key=idempotency_key or new_key())
        return answer
