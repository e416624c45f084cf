//! Replies that the token limit ended.

use cicerone_tests::Server;
use cicerone_tests::sse;
use cicerone_tests::upstream::{Script, Upstream, completion};
use serde_json::{Value, json};

use super::{chat, guide, response};
use crate::world::program;

/// The replies of an upstream that reached its bound, or not, in one piece and streamed.
fn scripts(is_cut: bool) -> [Script; 2] {
    let reason = if is_cut { "length" } else { "stop" };
    let mut whole = completion("At nine, and");
    whole["choices"][0]["finish_reason"] = json!(reason);
    let whole = Script::answer("200 OK", "application/json", "", &whole.to_string());
    [whole, Script::stream().token("At nine, and").finish(reason).done()]
}

#[tokio::test]
async fn a_reply_that_the_bound_on_tokens_ended_says_so() {
    let upstream = Upstream::start([Script::hang_up()]).await;
    let server = Server::of(&program()).env("OPENAI_BASE_URL", upstream.url()).start();
    let client = server.client();
    let (agent, _) = guide(&client).await;
    for is_cut in [false, true] {
        let [whole, streamed] = scripts(is_cut);
        upstream.follow([whole.clone(), streamed.clone(), whole, streamed]);
        let (reason, status) =
            if is_cut { ("length", "incomplete") } else { ("stop", "completed") };
        let details = if is_cut { json!({ "reason": "max_output_tokens" }) } else { Value::Null };

        let path = "/v1/chat/completions";
        let reply = client.post(path, chat(&agent, json!({ "max_tokens": 3 }))).await.expect(200);
        assert_eq!(reply["choices"][0]["finish_reason"], reason);
        let answer = client.post(path, chat(&agent, json!({ "stream": true }))).await;
        let finish = format!("\"finish_reason\":\"{reason}\"");
        assert!(answer.text().contains(&finish), "{}", answer.text());

        let reply = client.post("/v1/responses", response(&agent, json!({}))).await.expect(200);
        assert_eq!((&reply["status"], &reply["incomplete_details"]), (&json!(status), &details));
        assert_eq!(reply["output"][0]["status"], status);
        let streamed = response(&agent, json!({ "stream": true }));
        let send = async || {
            let request = client.request("POST", "/v1/responses");
            request.idempotent(reason).json(&streamed).send().await
        };
        for answer in [send().await, send().await] {
            let last = sse::parse(answer.text()).pop().unwrap();
            assert_eq!(last.name, format!("response.{status}"));
            let reply = &last.data["response"];
            assert_eq!(
                (&reply["status"], &reply["incomplete_details"]),
                (&json!(status), &details)
            );
        }
    }
}
