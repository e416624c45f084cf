//! What calls leave behind in memory.

use futures_util::stream::{self, StreamExt as _};
use serde_json::json;

use super::caller::{Caller, ERAS};
use crate::world::own_server;

/// Calls before the first look, and between the two.
const CALLS: usize = 5_000;
/// Calls at once.
const AT_ONCE: usize = 8;
/// The growth that is allowed: a kilobyte for each call would be more.
const BYTES: usize = 4 * 1_024 * 1_024;

#[tokio::test]
async fn ten_thousand_calls_leave_nothing_behind() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, "Museum\n\nThe museum opens at nine.").await;
    let callers = ERAS.map(|era| Caller::new(&client, &agent, era));
    let call = async || {
        let calls = (0..CALLS).map(|number| {
            let caller = &callers[number % callers.len()];
            async move {
                match number % 5 {
                    0 => drop(caller.tools().await),
                    2 => drop(caller.tool("search", json!({ "query": "museum" })).await),
                    1 => drop(caller.error("prompts/list", json!({})).await),
                    // Refused before anything is stored.
                    _ => drop(caller.tool_error("ask", json!({ "question": " " })).await),
                }
            }
        });
        stream::iter(calls).buffer_unordered(AT_ONCE).collect::<()>().await;
    };
    call().await;
    let before = server.anonymous_bytes();
    call().await;
    let after = server.anonymous_bytes();
    assert!(after < before + BYTES, "{before} bytes, then {after}");
}
