//! Identities of managed objects: unique among those that are there, and free again when an object is removed.

use cicerone_domain::agent::AgentFilter;
use cicerone_domain::ports::{AgentStore as _, KeyStore as _, SourceFilter, SourceStore as _};
use cicerone_domain::source::SourcePatch;
use cicerone_domain::{Agent, Error, Managed, Source};

use super::fixture::{World, assert_conflict, first, new_job, new_key, on_each, text};
use super::large_sources;

fn managed(key: &str, hash: char) -> Managed {
    Managed::parse("museum".to_owned(), key.to_owned(), String::from(hash).repeat(64)).unwrap()
}

fn agent(world: &World, key: &str) -> Agent {
    let mut agent = world.new_agent();
    agent.profile.managed = Some(managed(key, '0'));
    agent
}

async fn add(world: &World, agent: &Agent, key: &str, hash: char) -> Result<Source, Error> {
    let mut source = world.new_source(agent, text("Rome has seven hills."));
    source.managed = Some(managed(key, hash));
    world.storage.insert_source(&world.scope(), source, new_job(), None).await
}

#[tokio::test]
async fn an_identity_belongs_to_one_agent_of_an_account() {
    on_each(async |world| {
        let storage = &world.storage;
        let guide = storage.insert_agent(agent(world, "guide"), None).await.unwrap();
        assert_eq!(world.stored_agent(&guide).await, guide);
        let mut second = agent(world, "guide");
        second.profile.managed = Some(managed("guide", '1'));
        let refused = storage.insert_agent(second, None).await;
        assert_conflict(refused);
        let other = storage.insert_agent(agent(world, "other"), None).await.unwrap();
        let listed = async |set: &str| {
            let set = Some(cicerone_domain::managed::SetName::parse(set).unwrap());
            let filter = AgentFilter { status: None, set };
            storage.list_agents(&world.scope(), filter, first(9)).await.unwrap().items
        };
        assert_eq!(listed("museum").await, [other, guide]);
        assert_eq!(listed("zoo").await, []);
    })
    .await;
}

#[tokio::test]
async fn versions_of_a_source_stand_beside_each_other() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        let [one, two] = [world.agent().await, world.agent().await];
        let old = add(world, &one, "prices", '0').await.unwrap();
        let new = add(world, &one, "prices", '1').await.unwrap();
        assert_conflict(add(world, &one, "prices", '1').await);
        add(world, &two, "prices", '1').await.unwrap();
        assert_eq!(world.stored_source(&new).await.managed, Some(managed("prices", '1')));
        let set = old.managed.as_ref().map(|managed| managed.set.clone());
        let filter = SourceFilter { set, ..SourceFilter::default() };
        world.text_source(&one).await;
        let listed = storage.list_sources(&scope, one.id, filter, first(9)).await.unwrap();
        assert_eq!(listed.items, [new.clone(), old.clone()]);
        let patch = |managed| SourcePatch { managed: Some(managed), ..SourcePatch::default() };
        let same = patch(Some(managed("prices", '1')));
        assert_conflict(storage.update_source(&scope, old.id, same, None).await);
        let released = storage.update_source(&scope, old.id, patch(None), None).await.unwrap();
        assert_eq!(released.managed, None);
        assert_eq!(world.stored_source(&released).await, Source { managed: None, ..old });
    })
    .await;
}

#[tokio::test]
async fn an_object_that_is_half_deleted_holds_no_identity() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        let guide = storage.insert_agent(agent(world, "guide"), None).await.unwrap();
        let mut source = world.new_source(&guide, large_sources::text());
        source.managed = Some(managed("prices", '0'));
        let source = storage.insert_source(&scope, source, new_job(), None).await.unwrap();
        world.finish(&source, super::fixture::large()).await;
        // Dropped after its first part at the latest, so the rows are hidden or gone.
        let deletion = storage.delete_source(&scope, source.id, world.now(), None);
        drop(tokio::time::timeout(std::time::Duration::from_millis(1), deletion).await);
        while storage.find_source(&scope, source.id).await.unwrap().is_some() {
            tokio::task::yield_now().await;
            let _ = storage.delete_source(&scope, source.id, world.now(), None).await;
        }
        add(world, &guide, "prices", '0').await.unwrap();
        storage.delete_agent(&scope, guide.id, world.now(), None).await.unwrap();
        storage.insert_agent(agent(world, "guide"), None).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn an_identity_belongs_to_one_key_of_an_account() {
    on_each(async |world| {
        let (mut maker, hash) = new_key(world.account);
        (maker.agent_ids, maker.permissions, maker.expires_at) =
            (None, cicerone_domain::Permissions::ALL, None);
        world.storage.insert_key(maker.clone(), hash, None).await.unwrap();
        let made = async |identity: &Managed| {
            let (mut key, hash) = new_key(world.account);
            (key.agent_ids, key.managed) = (None, Some(identity.clone()));
            world.storage.issue_key(&maker, key, hash, None).await
        };
        let identity = managed("ci", '0');
        let key = made(&identity).await.unwrap();
        assert_conflict(made(&managed("ci", '1')).await);
        let listed = world.storage.list_keys(&maker, Some(identity.set.clone()), first(9)).await;
        assert_eq!(listed.unwrap().items, [key]);
    })
    .await;
}
