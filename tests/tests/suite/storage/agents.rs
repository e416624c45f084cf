//! Agents.

use cicerone_domain::agent::{AgentFilter, AgentName, ModelName, SystemPrompt, Temperature};
use cicerone_domain::ports::AgentStore as _;
use cicerone_domain::{Agent, AgentPatch, AgentStatus, Error, Position};

use super::fixture::{
    after, all_pages, assert_not_found, completion, extracted, first, new_id, on_each, website,
};

#[tokio::test]
async fn an_agent_reads_back_as_it_was_written() {
    on_each(async |world| {
        let agent = world.new_agent();
        assert_eq!(world.storage.insert_agent(agent.clone(), None).await.unwrap(), agent);
        assert_eq!(world.stored_agent(&agent).await, agent);
        let found = world.storage.find_agent(&world.only(&agent), agent.id).await.unwrap();
        assert_eq!(found, Some(agent));
        assert_eq!(world.storage.find_agent(&world.scope(), new_id()).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn what_lies_outside_the_scope_does_not_exist() {
    on_each(async |world| {
        let agent = world.agent().await;
        for scope in world.outside().await {
            let now = world.now();
            assert_eq!(world.storage.find_agent(&scope, agent.id).await.unwrap(), None);
            let list =
                world.storage.list_agents(&scope, AgentFilter::default(), first(10)).await.unwrap();
            assert_eq!(list.items, []);
            let patch = AgentPatch {
                name: Some(AgentName::parse("stolen").unwrap()),
                ..AgentPatch::default()
            };
            let update = world.storage.update_agent(&scope, agent.id, patch, now, None).await;
            assert_not_found(update, "agent");
            let delete = world.storage.delete_agent(&scope, agent.id, now, None).await;
            assert_not_found(delete, "agent");
        }
        assert_eq!(world.stored_agent(&agent).await, agent);
    })
    .await;
}

#[tokio::test]
async fn an_update_changes_what_it_names_only() {
    on_each(async |world| {
        let agent = world.agent().await;
        let patch = AgentPatch {
            temperature: Some(Temperature::parse(2.0).unwrap()),
            status: Some(AgentStatus::Paused),
            ..AgentPatch::default()
        };
        let now = world.now();
        let mut expected = agent.clone();
        expected.apply(patch.clone(), now);
        let updated =
            world.storage.update_agent(&world.scope(), agent.id, patch, now, None).await.unwrap();
        assert_eq!(updated, expected);
        assert_eq!(world.stored_agent(&agent).await, expected);
        let none = AgentPatch::default();
        let missing = world.storage.update_agent(&world.scope(), new_id(), none, now, None).await;
        assert_not_found(missing, "agent");
    })
    .await;
}

#[tokio::test]
async fn concurrent_updates_of_different_fields_are_all_kept() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (scope, now) = (world.scope(), world.now());
        let name =
            AgentPatch { name: Some(AgentName::parse("new").unwrap()), ..AgentPatch::default() };
        let model = AgentPatch {
            model: Some(ModelName::from_stored("gpt-4-turbo".to_owned())),
            ..AgentPatch::default()
        };
        let prompt =
            AgentPatch { system_prompt: Some(SystemPrompt::default()), ..AgentPatch::default() };
        let updates = [name, model, prompt]
            .map(|patch| world.storage.update_agent(&scope, agent.id, patch, now, None));
        for result in futures_util::future::join_all(updates).await {
            result.unwrap();
        }
        let profile = world.stored_agent(&agent).await.profile;
        assert_eq!((profile.name.as_str(), profile.model.as_str()), ("new", "gpt-4-turbo"));
        assert_eq!(profile.system_prompt, SystemPrompt::default());
    })
    .await;
}

#[tokio::test]
async fn a_list_is_newest_first_and_ties_go_by_id() {
    on_each(async |world| {
        let now = world.now();
        let mut agents: Vec<Agent> =
            (0..7).map(|_| Agent { created_at: now, ..world.new_agent() }).collect();
        agents.push(world.new_agent());
        for agent in &agents {
            world.storage.insert_agent(agent.clone(), None).await.unwrap();
        }
        agents.sort_by_key(|agent| (agent.created_at, agent.id.to_string()));
        agents.reverse();
        for size in [1, 3, 8, 100] {
            let scope = world.scope();
            let listed = all_pages(size, async |page| {
                world.storage.list_agents(&scope, AgentFilter::default(), page).await
            })
            .await;
            assert_eq!(listed, agents, "in pages of {size}");
        }
        let last = world
            .storage
            .list_agents(&world.scope(), AgentFilter::default(), first(8))
            .await
            .unwrap();
        assert_eq!(last.next, None, "a full last page has no next page");
    })
    .await;
}

#[tokio::test]
async fn a_cursor_stays_in_its_place_while_agents_come_and_go() {
    on_each(async |world| {
        let mut agents = Vec::new();
        for _ in 0..6 {
            agents.push(world.agent().await);
        }
        let scope = world.scope();
        let page =
            world.storage.list_agents(&scope, AgentFilter::default(), first(3)).await.unwrap();
        assert_eq!(page.items.last(), Some(&agents[3]));
        world.agent().await;
        // The item at the cursor and one of the next page are deleted.
        for gone in [&agents[3], &agents[1]] {
            world.storage.delete_agent(&scope, gone.id, world.now(), None).await.unwrap();
        }
        let rest = world
            .storage
            .list_agents(&scope, AgentFilter::default(), after(3, page.next))
            .await
            .unwrap();
        assert_eq!(rest.items, [agents[2].clone(), agents[0].clone()]);
        assert_eq!(rest.next, None);
    })
    .await;
}

#[tokio::test]
async fn a_list_is_filtered_by_status_and_by_the_agents_of_a_key() {
    on_each(async |world| {
        let active = world.agent().await;
        let paused = Agent { status: AgentStatus::Paused, ..world.new_agent() };
        world.storage.insert_agent(paused.clone(), None).await.unwrap();
        let scope = world.scope();
        for (status, agent) in [(AgentStatus::Active, &active), (AgentStatus::Paused, &paused)] {
            let page = world
                .storage
                .list_agents(&scope, AgentFilter { status: Some(status), set: None }, first(9))
                .await
                .unwrap();
            assert_eq!(page.items, std::slice::from_ref(agent));
        }
        let page = world
            .storage
            .list_agents(&world.only(&paused), AgentFilter::default(), first(9))
            .await
            .unwrap();
        assert_eq!(page.items, [paused]);
    })
    .await;
}

#[tokio::test]
async fn a_cursor_of_a_numbered_list_is_refused() {
    on_each(async |world| {
        let page = after(5, Some(Position::Numbered(1)));
        let result = world.storage.list_agents(&world.scope(), AgentFilter::default(), page).await;
        assert!(matches!(result, Err(Error::Invalid(bad)) if bad.first().param == "cursor"));
    })
    .await;
}

#[tokio::test]
async fn deleting_an_agent_leaves_no_row_of_it() {
    on_each(async |world| {
        let kept = world.agent().await;
        world.trained(&kept, website(false), "kept").await;
        world.conversation(&kept, &[("user", "kept")]).await;
        let tables = [
            "agents",
            "sources",
            "documents",
            "passages",
            "document_texts",
            "crawls",
            "crawl_pages",
            "jobs",
            "uploads",
            "conversations",
            "conversation_metadata",
            "messages",
        ];
        let before = tables.map(|table| world.count(table));

        let agent = world.agent().await;
        let upload = world.upload().await;
        let file = cicerone_domain::SourceContent::File(upload.id);
        let source = world.source(&agent, file).await;
        world.finish(&source, extracted("gone", 3)).await;
        world.crawled(&agent, &["/", "/about"]).await;
        world.text_source(&agent).await;
        world.conversation(&agent, &[("user", "gone")]).await;
        assert!(tables.iter().zip(before).all(|(table, count)| world.count(table) > count));

        let (scope, now) = (world.scope(), world.now());
        world.storage.delete_agent(&scope, agent.id, now, None).await.unwrap();
        assert_eq!(tables.map(|table| world.count(table)), before);
        assert_eq!(world.count("discarded_objects"), 1, "the file's object is recorded");
        let again = world.storage.delete_agent(&scope, agent.id, now, None).await;
        assert_not_found(again, "agent");
    })
    .await;
}

#[tokio::test]
async fn a_file_that_another_agent_uses_outlives_the_agent() {
    on_each(async |world| {
        let (agent, other) = (world.agent().await, world.agent().await);
        let upload = world.upload().await;
        for agent in [&agent, &other] {
            world.source(agent, cicerone_domain::SourceContent::File(upload.id)).await;
        }
        let (scope, now) = (world.scope(), world.now());
        world.storage.delete_agent(&scope, agent.id, now, None).await.unwrap();
        assert_eq!((world.count("uploads"), world.count("discarded_objects")), (1, 0));
        world.storage.delete_agent(&scope, other.id, now, None).await.unwrap();
        assert_eq!((world.count("uploads"), world.count("discarded_objects")), (0, 1));
    })
    .await;
}

#[tokio::test]
async fn a_lost_claim_rolls_every_write_of_an_agent_back() {
    on_each(async |world| {
        use cicerone_domain::ports::IdempotencyStore as _;
        let lost = world.claim("key").await;
        world.storage.release(&lost).await.unwrap();
        let agent = world.agent().await;
        let (scope, now) = (world.scope(), world.now());

        let new = world.new_agent();
        let insert = world.storage.insert_agent(new, completion(&lost, "{}", None)).await;
        assert!(matches!(insert, Err(Error::ClaimLost)), "{insert:?}");
        let patch =
            AgentPatch { name: Some(AgentName::parse("new").unwrap()), ..AgentPatch::default() };
        let done = completion(&lost, "{}", None);
        let update = world.storage.update_agent(&scope, agent.id, patch, now, done).await;
        assert!(matches!(update, Err(Error::ClaimLost)), "{update:?}");
        let done = completion(&lost, "", None);
        let delete = world.storage.delete_agent(&scope, agent.id, now, done).await;
        assert!(matches!(delete, Err(Error::ClaimLost)), "{delete:?}");

        assert_eq!(world.count("agents"), 1);
        assert_eq!(world.stored_agent(&agent).await, agent);
    })
    .await;
}
