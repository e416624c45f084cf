//! `GET /v1/agents/{agent_id}/conversations?text=…`. The tests of the storage compare it with a plain scan.

use cicerone_tests::Client;
use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use crate::world::client;

async fn found(client: &Client, agent: &str, query: &str) -> Vec<Value> {
    client.list_all(&format!("/v1/agents/{agent}/conversations?{query}"), 1).await
}

#[tokio::test]
async fn a_conversation_is_found_by_the_words_of_its_messages() {
    let client = client();
    let agent = client.agent().await;
    let one = id(&client.ask(&agent, "Is the Straße open at NINE?").await);
    let two = id(&client.ask(&agent, "How much is a ticket?").await);
    let list = found(&client, &agent, "text=nin+STRA%C3%9F").await;
    assert_eq!((list.len(), id(&list[0])), (1, one.clone()));
    let expected = json!({ "n": 1, "text": "Is the Straße open at NINE?" });
    assert_eq!(list[0]["match"], expected);
    assert_eq!(list[0].get("messages"), None);
    let list = found(&client, &agent, "text=ticket&channel=api&unanswered=true").await;
    assert_eq!((list.len(), id(&list[0])), (1, two));
    for query in ["text=ticket+nine", "text=ticket&channel=mcp", "text=ticket&rating=up"] {
        assert_eq!(found(&client, &agent, query).await, Vec::<Value>::new(), "{query}");
    }
    let list = found(&client, &agent, "channel=api").await;
    assert!(list.iter().all(|item| item.get("match").is_none()), "{list:?}");
    // Words may be in different messages, and deleted conversations are not found.
    let path = format!("/v1/conversations/{one}");
    let body = json!({ "agent_id": agent, "conversation_id": one, "message": "And on Mondays?" });
    client.post("/v1/conversations", body).await.expect(200);
    assert_eq!(found(&client, &agent, "text=mondays+nine").await[0]["match"]["n"], 3);
    client.delete(&path).await.expect_nothing();
    assert_eq!(found(&client, &agent, "text=nine").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_text_that_cannot_be_searched_for_is_refused() {
    let client = client();
    let agent = client.agent().await;
    let list = format!("/v1/agents/{agent}/conversations");
    let longest = "%F0%9F%A6%80".repeat(200);
    client.get(&format!("{list}?text={longest}")).await.expect(200);
    client.get(&format!("{list}?text=a+b+c+d+e+f+g+h")).await.expect(200);
    for text in ["", "+", "a+b+c+d+e+f+g+h+i", "a%00b", &format!("{longest}x"), "a&text=b"] {
        let answer = client.get(&format!("{list}?text={text}")).await;
        answer.refuses(400, "invalid_parameter", "text");
    }
}
