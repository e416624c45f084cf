//! Messages that ask for nothing get a reply, and neither sources nor a gap.

use cicerone_tests::Client;
use serde_json::{Value, json};

use crate::world::client;

async fn say(client: &Client, agent: &str, conversation: Option<&Value>, message: &str) -> Value {
    let body = json!({ "agent_id": agent, "conversation_id": conversation, "message": message });
    client.post("/v1/conversations", body).await.expect(200)
}

#[tokio::test]
async fn a_greeting_and_thanks_are_replied_to_and_are_no_gaps() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine. On Mondays it is closed.").await;
    let hello = say(&client, &agent, None, "Hello!").await;
    assert_eq!(hello["reply"], "Hello! What would you like to know?");
    let open = say(&client, &agent, Some(&hello["id"]), "When does the museum open?").await;
    assert!(open["reply"].as_str().unwrap().contains("nine"), "{open}");
    let thanks = say(&client, &agent, Some(&hello["id"]), "Great, thank you very much").await;
    assert_eq!(
        (&thanks["reply"], &thanks["sources_used"]),
        (&json!("You are welcome."), &json!([]))
    );
    let gaps = client.get(&format!("/v1/agents/{agent}/gaps")).await.expect(200);
    assert_eq!(gaps["data"], json!([]));
    let listed = client.get(&format!("/v1/agents/{agent}/conversations?unanswered=true")).await;
    assert_eq!(listed.expect(200)["data"], json!([]));
    say(&client, &agent, None, "Is there a restaurant?").await;
    let gaps = client.get(&format!("/v1/agents/{agent}/gaps")).await.expect(200);
    assert_eq!(gaps["data"].as_array().unwrap().len(), 1, "{gaps}");
}

#[tokio::test]
async fn an_own_pair_about_a_greeting_replies_to_it() {
    let client = client();
    let agent = client.agent().await;
    client.qa(&agent, &[("Hello", "Ahoy! Ask me about the harbour.")]).await;
    let hello = say(&client, &agent, None, "hello").await;
    assert_eq!(hello["reply"], "Ahoy! Ask me about the harbour.");
}

#[tokio::test]
async fn a_refusal_is_in_the_language_of_the_content_if_the_question_does_not_tell() {
    let client = client();
    let agent = client.agent().await;
    let text = "Das Museum öffnet um neun Uhr. Am Montag ist es geschlossen, und der Eintritt ist für Kinder frei.";
    client.text(&agent, text).await;
    let refused = say(&client, &agent, None, "Telefonnummer").await;
    assert!(refused["reply"].as_str().unwrap().starts_with("Meine Quellen"), "{refused}");
    let danke = say(&client, &agent, Some(&refused["id"]), "ok").await;
    assert_eq!(danke["reply"], "Was möchten Sie wissen?");
}

#[tokio::test]
async fn a_refusal_is_no_context_of_the_next_question() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "A cover for your boat costs ten euros. The harbour opens at nine.").await;
    let refused = say(&client, &agent, None, "Who designed the lighthouse?").await;
    assert_eq!(refused["sources_used"], json!([]), "{refused}");
    // The words of the refusal, "sources do not cover", would find the cover.
    let next = say(&client, &agent, Some(&refused["id"]), "and the bridge?").await;
    assert_eq!(next["sources_used"], json!([]), "{next}");
}
