//! Widgets.

use diesel::table;

table! {
    widgets (id) {
        id -> Text,
        account_id -> Text,
        agent_id -> Text,
        name -> Text,
        token -> Text,
        old_token -> Nullable<Text>,
        old_token_until -> Nullable<BigInt>,
        is_active -> Bool,
        settings -> Text,
        secret -> Text,
        retired_secrets -> Text,
        managed_set -> Nullable<Text>,
        managed_key -> Nullable<Text>,
        managed_hash -> Nullable<Text>,
        created_at -> BigInt,
        updated_at -> BigInt,
    }
}

table! {
    widget_days (widget_id, day) {
        widget_id -> Text,
        day -> BigInt,
        messages -> BigInt,
    }
}
