//! The tables as diesel sees them. The migrations are authoritative; the contract suite reads and
//! writes every column named here on both databases.

mod of_conversations;
mod of_widgets;

use diesel::{allow_tables_to_appear_in_same_query, joinable, table};

pub(crate) use of_conversations::{conversation_metadata, conversations, ratings};
pub(crate) use of_widgets::{widget_days, widgets};

table! {
    __diesel_schema_migrations (version) {
        version -> Text,
    }
}

table! {
    installation (name) {
        name -> Text,
        value -> Binary,
    }
}

table! {
    accounts (id) {
        id -> Text,
        name -> Text,
        created_at -> BigInt,
        messages_per_month -> Nullable<BigInt>,
        tokens_per_month -> Nullable<BigInt>,
        bytes_kept -> Nullable<BigInt>,
        stored_bytes -> BigInt,
    }
}

table! {
    api_keys (id) {
        id -> Text,
        account_id -> Text,
        hash -> Binary,
        name -> Text,
        permissions -> Text,
        agent_ids -> Nullable<Text>,
        is_root -> Bool,
        hint -> Text,
        expires_at -> Nullable<BigInt>,
        last_used_at -> Nullable<BigInt>,
        created_at -> BigInt,
        managed_set -> Nullable<Text>,
        managed_key -> Nullable<Text>,
        managed_hash -> Nullable<Text>,
    }
}

table! {
    agents (id) {
        id -> Text,
        account_id -> Text,
        name -> Text,
        model -> Text,
        system_prompt -> Text,
        temperature -> Double,
        max_tokens -> BigInt,
        status -> Text,
        index_generation -> BigInt,
        created_at -> BigInt,
        updated_at -> BigInt,
        retention_days -> Nullable<BigInt>,
        removed_at -> Nullable<BigInt>,
        answer_floor -> Text,
        public_sources -> Bool,
        receipts -> Bool,
        source_list -> Bool,
        gap_source_id -> Nullable<Text>,
        managed_set -> Nullable<Text>,
        managed_key -> Nullable<Text>,
        managed_hash -> Nullable<Text>,
    }
}

table! {
    uploads (id) {
        id -> Text,
        account_id -> Text,
        filename -> Text,
        content_type -> Text,
        bytes -> BigInt,
        created_at -> BigInt,
    }
}

table! {
    discarded_objects (object_key) {
        object_key -> Text,
        due_at -> BigInt,
    }
}

table! {
    sources (id) {
        id -> Text,
        account_id -> Text,
        agent_id -> Text,
        source_type -> Text,
        content -> Text,
        crawl_subpages -> Bool,
        upload_id -> Nullable<Text>,
        status -> Text,
        error_message -> Nullable<Text>,
        character_count -> Nullable<BigInt>,
        title -> Nullable<Text>,
        version -> Nullable<BigInt>,
        progress -> Nullable<Text>,
        created_at -> BigInt,
        stored_bytes -> BigInt,
        removed_at -> Nullable<BigInt>,
        partially_read -> Nullable<Text>,
        vector_bytes -> BigInt,
        managed_set -> Nullable<Text>,
        managed_key -> Nullable<Text>,
        managed_hash -> Nullable<Text>,
        guarded -> Bool,
    }
}

table! {
    documents (source_id, position) {
        source_id -> Text,
        position -> BigInt,
        account_id -> Text,
        version -> Nullable<BigInt>,
        url -> Nullable<Text>,
        title -> Nullable<Text>,
        page_count -> Nullable<BigInt>,
        character_count -> BigInt,
        is_pair -> Bool,
        stored_bytes -> BigInt,
        table_count -> Nullable<BigInt>,
        warnings -> Nullable<Text>,
        id -> Text,
        vector_bytes -> BigInt,
    }
}

table! {
    document_texts (source_id, position) {
        source_id -> Text,
        position -> BigInt,
        account_id -> Text,
        text -> Text,
    }
}

table! {
    passages (source_id, position) {
        source_id -> Text,
        position -> BigInt,
        account_id -> Text,
        document -> BigInt,
        title -> Nullable<Text>,
        heading -> Nullable<Text>,
        url -> Nullable<Text>,
        page -> Nullable<BigInt>,
        text -> Text,
        is_pair -> Bool,
        language -> Nullable<Text>,
    }
}

table! {
    vector_spaces (id) {
        id -> BigInt,
        model -> Text,
        dimension -> BigInt,
        probe -> Binary,
        chance -> Double,
        created_at -> BigInt,
        settings -> Text,
        reach -> Double,
    }
}

table! {
    source_vectors (source_id) {
        source_id -> Text,
        account_id -> Text,
        version -> BigInt,
        space -> BigInt,
        is_complete -> Bool,
        embedded_to -> BigInt,
        due_at -> BigInt,
        halvings -> BigInt,
    }
}

table! {
    passage_vectors (source_id, position) {
        source_id -> Text,
        position -> BigInt,
        account_id -> Text,
        space -> BigInt,
        vector -> Binary,
    }
}

table! {
    crawls (source_id, number) {
        source_id -> Text,
        number -> BigInt,
        account_id -> Text,
        job_id -> Text,
        state -> Text,
        began_at -> BigInt,
    }
}

table! {
    crawl_pages (source_id, crawl, position) {
        source_id -> Text,
        crawl -> BigInt,
        position -> BigInt,
        account_id -> Text,
        url -> Text,
        depth -> BigInt,
        status -> Nullable<Text>,
        title -> Nullable<Text>,
        character_count -> Nullable<BigInt>,
        http_status -> Nullable<BigInt>,
        reason_detail -> Nullable<Text>,
        fetched_at -> Nullable<BigInt>,
        etag -> Nullable<Text>,
        last_modified -> Nullable<Text>,
        content_hash -> Nullable<Binary>,
        links -> Nullable<Text>,
        document -> Nullable<BigInt>,
        reason_code -> Nullable<Text>,
    }
}

table! {
    jobs (id) {
        id -> Text,
        account_id -> Text,
        source_id -> Text,
        state -> Text,
        due_at -> BigInt,
        lease_token -> Nullable<Text>,
        lease_until -> Nullable<BigInt>,
        attempts -> BigInt,
        crashes -> BigInt,
        crashes_in_all -> BigInt,
        queued_at -> BigInt,
        request_id -> Nullable<Text>,
        lane -> Text,
    }
}

table! {
    gaps (id) {
        id -> Text,
        account_id -> Text,
        agent_id -> Text,
        status -> Text,
        source_id -> Nullable<Text>,
        checked_generation -> Nullable<BigInt>,
        created_at -> BigInt,
        changed_at -> Nullable<BigInt>,
    }
}

table! {
    gap_questions (conversation_id, position) {
        conversation_id -> Text,
        position -> BigInt,
        account_id -> Text,
        agent_id -> Text,
        reason -> Text,
        gap_id -> Nullable<Text>,
        asked_at -> BigInt,
    }
}

table! {
    events (id) {
        id -> Text,
        account_id -> Text,
        source_id -> Nullable<Text>,
        name -> Text,
        payload -> Text,
        created_at -> BigInt,
        request_id -> Nullable<Text>,
        conversation_id -> Nullable<Text>,
    }
}

table! {
    messages (conversation_id, position) {
        conversation_id -> Text,
        position -> BigInt,
        account_id -> Text,
        role -> Text,
        content -> Text,
        sources_used -> Nullable<Text>,
        created_at -> BigInt,
        receipt -> Nullable<Text>,
    }
}

table! {
    webhook_endpoints (id) {
        id -> Text,
        account_id -> Text,
        url -> Text,
        events -> Text,
        description -> Nullable<Text>,
        payload -> Text,
        disabled_reason -> Nullable<Text>,
        secret -> Text,
        retired_secrets -> Text,
        failures -> BigInt,
        failing_since -> Nullable<BigInt>,
        succeeded_at -> Nullable<BigInt>,
        created_at -> BigInt,
        updated_at -> BigInt,
        managed_set -> Nullable<Text>,
        managed_key -> Nullable<Text>,
        managed_hash -> Nullable<Text>,
    }
}

table! {
    deliveries (id) {
        id -> Text,
        account_id -> Text,
        endpoint_id -> Text,
        event_id -> Text,
        event -> Text,
        status -> Text,
        attempts -> Text,
        tries -> BigInt,
        next_attempt_at -> Nullable<BigInt>,
        lease_token -> Nullable<Text>,
        lease_until -> Nullable<BigInt>,
        created_at -> BigInt,
    }
}

table! {
    usage_days (account_id, day, agent_id) {
        account_id -> Text,
        day -> BigInt,
        agent_id -> Text,
        messages -> BigInt,
        prompt_tokens -> BigInt,
        completion_tokens -> BigInt,
        conversations -> BigInt,
        answered -> BigInt,
        unanswered -> BigInt,
        rated_up -> BigInt,
        rated_down -> BigInt,
        latency_ms -> BigInt,
        latency_1 -> BigInt,
        latency_2 -> BigInt,
        latency_3 -> BigInt,
        latency_4 -> BigInt,
        latency_5 -> BigInt,
        latency_6 -> BigInt,
        latency_7 -> BigInt,
        latency_8 -> BigInt,
        latency_9 -> BigInt,
        latency_10 -> BigInt,
    }
}

table! {
    usage_months (account_id, month) {
        account_id -> Text,
        month -> BigInt,
        messages -> BigInt,
        tokens -> BigInt,
    }
}

table! {
    audit_log (id) {
        id -> Text,
        account_id -> Text,
        actor -> Text,
        key_id -> Nullable<Text>,
        key_name -> Nullable<Text>,
        action -> Text,
        target_id -> Nullable<Text>,
        address -> Nullable<Text>,
        request_id -> Nullable<Text>,
        occurrences -> BigInt,
        created_at -> BigInt,
    }
}

table! {
    idempotency (account_id, idempotency_key) {
        account_id -> Text,
        idempotency_key -> Text,
        fingerprint -> Binary,
        state -> Text,
        token -> Text,
        lease_until -> BigInt,
        expires_at -> BigInt,
        body -> Nullable<Binary>,
        subject_id -> Nullable<Text>,
        subject_agent_id -> Nullable<Text>,
        maker_agents -> Nullable<Text>,
        answer_agents -> Nullable<Text>,
        holds_secret -> Bool,
        is_refusal -> Bool,
    }
}

table! {
    agent_checks (agent_id) {
        agent_id -> Text,
        account_id -> Text,
        checks -> Text,
        updated_at -> BigInt,
    }
}

table! {
    check_runs (id) {
        id -> Text,
        account_id -> Text,
        agent_id -> Text,
        source_id -> Nullable<Text>,
        cause -> Text,
        state -> Text,
        lease_token -> Nullable<Text>,
        due_at -> BigInt,
        attempts -> BigInt,
        passed -> BigInt,
        failed -> BigInt,
        checks -> Nullable<Text>,
        results -> Text,
        error_message -> Nullable<Text>,
        created_at -> BigInt,
        finished_at -> Nullable<BigInt>,
    }
}

joinable!(jobs -> sources (source_id));
joinable!(source_vectors -> sources (source_id));
joinable!(deliveries -> events (event_id));
joinable!(deliveries -> webhook_endpoints (endpoint_id));
allow_tables_to_appear_in_same_query!(deliveries, events, webhook_endpoints);
allow_tables_to_appear_in_same_query!(check_runs, sources);
allow_tables_to_appear_in_same_query!(jobs, sources);
allow_tables_to_appear_in_same_query!(
    agents,
    sources,
    documents,
    document_texts,
    passages,
    crawl_pages,
    passage_vectors
);
allow_tables_to_appear_in_same_query!(source_vectors, sources);
allow_tables_to_appear_in_same_query!(uploads, sources);
allow_tables_to_appear_in_same_query!(gap_questions, gaps, messages);
allow_tables_to_appear_in_same_query!(agents, widgets);
