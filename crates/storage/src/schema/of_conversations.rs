//! Conversations; their messages are in the parent module.

use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    conversations (id) {
        id -> Text,
        account_id -> Text,
        agent_id -> Text,
        metadata -> Text,
        message_count -> BigInt,
        created_at -> BigInt,
        updated_at -> BigInt,
        removed_at -> Nullable<BigInt>,
        channel -> Text,
        unanswered -> BigInt,
        rated_up -> BigInt,
        rated_down -> BigInt,
        widget_id -> Nullable<Text>,
        visitor_id -> Nullable<Text>,
        visitor -> Nullable<Text>,
        handoff_requested_at -> Nullable<BigInt>,
        lead -> Nullable<Text>,
    }
}

table! {
    ratings (conversation_id, position) {
        conversation_id -> Text,
        position -> BigInt,
        account_id -> Text,
        value -> Text,
        comment -> Nullable<Text>,
        rated_at -> BigInt,
    }
}

table! {
    conversation_metadata (conversation_id, name) {
        conversation_id -> Text,
        name -> Text,
        value -> Text,
        agent_id -> Text,
        account_id -> Text,
    }
}

allow_tables_to_appear_in_same_query!(conversations, conversation_metadata);
