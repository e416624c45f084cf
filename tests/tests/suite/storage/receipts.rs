//! Receipts of replies.

use cicerone_domain::conversation::{Asked, Receipt};
use cicerone_domain::ports::{ConversationStore as _, SourceStore as _};
use cicerone_domain::retrieval::{Found, Hit};
use cicerone_domain::{Agent, Conversation, Error, Source};
use cicerone_storage::migrations;

use super::fixture::{World, assert_not_found, first, on_each, text};

/// A receipt of a search that found the first two passages of a source.
async fn receipt(world: &World, agent: &Agent, source: &Source) -> Receipt {
    let scope = world.scope();
    let passages = world.storage.list_passages(&scope, source.id, None, first(9)).await.unwrap();
    let hits = passages.items.into_iter().map(|stored| Hit {
        source_id: source.id,
        document_id: stored.document_id,
        position: stored.passage.position,
        title: None,
        heading: None,
        url: None,
        page: None,
        text: "".into(),
        is_pair: false,
        language: None,
        score: 1.5,
        coverage: 0.5,
        confidence: 1.0,
        is_relevant: true,
    });
    let asked = Asked {
        request_id: None,
        generation: world.stored_agent(agent).await.index_generation,
        history_messages: 0,
        context_messages: 0,
        rewritten: None,
        by_meaning: false,
    };
    Receipt::of_search(asked, &Found { hits: hits.collect(), ..Found::default() })
}

/// A conversation whose only reply has this receipt.
async fn conversation(world: &World, agent: &Agent, receipt: Receipt) -> Conversation {
    let mut turn = world.first_turn(agent, &[]);
    turn.receipt = receipt.encode().unwrap();
    world.storage.append_turn(turn, None).await.unwrap().conversation
}

/// The texts that the hits of the receipt still have.
async fn texts(world: &World, conversation: &Conversation) -> Vec<Option<String>> {
    let found = world.storage.find_receipt(&world.scope(), conversation.id, 2).await.unwrap();
    found.passages.into_iter().map(|passage| passage.map(|passage| passage.text)).collect()
}

#[tokio::test]
async fn a_receipt_comes_back_with_its_question_and_passages() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, text("Rome"), "Seven hills").await;
        let receipt = receipt(world, &agent, &source).await;
        let conversation = conversation(world, &agent, receipt.clone()).await;
        let (scope, id) = (world.scope(), conversation.id);
        let found = world.storage.find_receipt(&scope, id, 2).await.unwrap();
        assert_eq!((found.number, found.query.as_str()), (2, "How many hills?"));
        assert_eq!(found.receipt, receipt);
        let passage = found.passages[0].as_ref().unwrap();
        assert_eq!((passage.text.as_str(), passage.page), ("Seven hills", Some(2)));
        assert_eq!(passage.heading.as_deref(), Some("Italy › Rome"));
        assert_eq!((found.passages.len(), receipt.hits.len()), (2, 2));
        for outside in world.outside().await {
            let refused = world.storage.find_receipt(&outside, id, 2).await;
            assert_not_found(refused, "conversation");
        }
        let of_user = world.storage.find_receipt(&scope, id, 1).await;
        assert!(matches!(of_user, Err(Error::InvalidOperation(_))), "{of_user:?}");
        for number in [0, 3, u64::MAX] {
            let refused = world.storage.find_receipt(&scope, id, number).await;
            assert_not_found(refused, "message");
        }
        let turn = world.next_turn(&conversation, "And now?");
        world.storage.append_turn(turn, None).await.unwrap();
        let without = world.storage.find_receipt(&scope, id, 4).await;
        assert!(matches!(without, Err(Error::NoReceipt)), "{without:?}");
    })
    .await;
}

#[tokio::test]
async fn passages_are_current_until_their_document_changes() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, text("Rome"), "Seven hills").await;
        let receipt = receipt(world, &agent, &source).await;
        let conversation = conversation(world, &agent, receipt).await;
        let current = vec![Some("Seven hills".to_owned()); 2];
        let gone = vec![None, None];
        assert_eq!(texts(world, &conversation).await, current);
        // Another source raises the generation of the agent, but not the version of this document.
        world.trained(&agent, text("Oslo"), "A fjord").await;
        assert_eq!(texts(world, &conversation).await, current);
        // Passages at the same positions, of a later version.
        let version = world.stored_agent(&agent).await.index_generation + 1;
        world.execute(&format!(
            "UPDATE documents SET version = {version} WHERE source_id = '{}'",
            source.id
        ));
        assert_eq!(texts(world, &conversation).await, gone);
        world.execute(&format!(
            "UPDATE documents SET version = NULL WHERE source_id = '{}'",
            source.id
        ));
        assert_eq!(texts(world, &conversation).await, gone);
    })
    .await;
}

#[tokio::test]
async fn a_source_that_is_hidden_or_of_another_agent_shows_nothing() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, text("Rome"), "Seven hills").await;
        let of_source = receipt(world, &agent, &source).await;
        let ours = conversation(world, &agent, of_source.clone()).await;
        let theirs = conversation(world, &world.agent().await, of_source).await;
        assert_eq!(texts(world, &theirs).await, [None, None]);
        world.execute(&format!("UPDATE sources SET removed_at = 1 WHERE id = '{}'", source.id));
        assert_eq!(texts(world, &ours).await, [None, None]);
    })
    .await;
}

#[tokio::test]
async fn receipts_are_deleted_with_their_conversation_in_parts() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = world.conversation(&agent, &[]).await;
        for _ in 0..400 {
            let turn = world.next_turn(&conversation, "And?");
            world.storage.append_turn(turn, None).await.unwrap();
        }
        // 1.6 MB of receipts are more than one part.
        let large = "x".repeat(4_000);
        world.execute(&format!("UPDATE messages SET receipt = '{large}' WHERE role = 'assistant'"));
        let (scope, now) = (world.scope(), world.now());
        world.storage.delete_conversation(&scope, conversation.id, now, None).await.unwrap();
        assert_eq!((world.count("messages"), world.count("conversations")), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn replies_of_earlier_versions_have_no_receipt() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = world.conversation(&agent, &[]).await;
        while migrations::revert(&world.url).unwrap().is_some_and(|last| !last.contains("receipts"))
        {
        }
        migrations::run(&world.url).unwrap();
        let found = world.storage.find_receipt(&world.scope(), conversation.id, 2).await;
        assert!(matches!(found, Err(Error::NoReceipt)), "{found:?}");
        assert!(world.stored_agent(&agent).await.profile.receipts, "it is switched on");
    })
    .await;
}
