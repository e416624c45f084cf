//! Vectors of passages: which sources lack them, whose turn it is, and how they are stored and
//! removed.

use cicerone_domain::meaning::{Space, Vector};
use cicerone_domain::ports::{
    AgentVectors, LackingVectors, PassageAt, SourceStore as _, SourceVectors, UsageStore as _,
    VectorClaim, VectorFeed as _, VectorStore as _, VectorWork,
};
use cicerone_domain::{Agent, Id, Source, Timestamp, kind};

use super::fixture::{World, new_id, new_job, on_each, website};

mod claims;
mod kept;
mod locks;

const SPACE: i64 = 1;
/// How much longer than a claim sources wait whose account has no room.
const OVER_QUOTA_MILLIS: i64 = 3_600_000;

fn vector(number: f32) -> Vector {
    Vector::new(vec![1.0, number, 0.5]).unwrap()
}

fn claim(
    space: i64,
    after: Option<Id<kind::Account>>,
    count: usize,
    now: Timestamp,
) -> VectorClaim {
    let (until, over_quota_until) = (now.plus_millis(300_000), now.plus_millis(OVER_QUOTA_MILLIS));
    VectorClaim { space, after, count, now, until, over_quota_until }
}

async fn next(world: &World, space: i64, count: usize) -> Option<VectorWork> {
    world.storage.claim_vectors(claim(space, None, count, world.now())).await.unwrap()
}

async fn claimed(world: &World, space: i64, count: usize) -> LackingVectors {
    match next(world, space, count).await {
        Some(VectorWork::Lacking(lacking)) => lacking,
        other => panic!("nothing lacks vectors: {other:?}"),
    }
}

async fn store(world: &World, lacking: &LackingVectors, space: i64) {
    let made = lacking
        .passages
        .iter()
        .map(|passage| (passage.position, Some(vector(passage.position as f32))));
    world.storage.store_vectors(lacking, space, made.collect(), 0, world.now()).await.unwrap();
}

async fn complete(world: &World, space: i64) {
    loop {
        match next(world, space, 100).await.unwrap() {
            VectorWork::Lacking(lacking) => store(world, &lacking, space).await,
            VectorWork::Complete { .. } => return,
            other => panic!("it exists, and there is room: {other:?}"),
        }
    }
}

async fn vectors(world: &World, agent: &Agent, space: i64) -> AgentVectors {
    world.storage.agent_vectors(agent.id, space).await.unwrap().unwrap()
}

fn all_of(source: &Source) -> SourceVectors {
    SourceVectors { id: source.id, version: version(source), is_complete: true }
}

fn version(source: &Source) -> u64 {
    source.state.searchable().unwrap().version
}

#[tokio::test]
async fn a_trained_source_lacks_vectors_until_it_has_all_and_then_the_generation_rises() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "one").await;
        assert_eq!(world.storage.lacking_vectors().await.unwrap(), 1);
        let first = claimed(world, SPACE, 1).await;
        assert_eq!((first.source, first.version), (source.id, version(&source)));
        assert_eq!(first.passages.len(), 1);
        assert_eq!(next(world, SPACE, 1).await, None, "it is claimed");
        store(world, &first, SPACE).await;
        let second = claimed(world, SPACE, 10).await;
        assert_eq!(second.passages.iter().map(|p| p.position).collect::<Vec<_>>(), [1]);
        let in_part = SourceVectors { is_complete: false, ..all_of(&source) };
        assert_eq!(vectors(world, &agent, SPACE).await.sources, [in_part]);
        let none = vec![(1, None)];
        world.storage.store_vectors(&second, SPACE, none, 0, world.now()).await.unwrap();
        let generation = world.changes(&agent).await;
        let Some(VectorWork::Complete { agent: of, .. }) = next(world, SPACE, 10).await else {
            panic!("no passage lacks a vector");
        };
        assert_eq!(of, agent.id);
        assert_eq!(world.changes(&agent).await, generation + 1);
        assert_eq!(world.storage.lacking_vectors().await.unwrap(), 0);
        assert_eq!(vectors(world, &agent, SPACE).await.sources, [all_of(&source)]);
        let rows = world.storage.vectors(source.id, version(&source), SPACE, None).await.unwrap();
        assert_eq!(rows.unwrap(), [(0, Some(vector(0.0))), (1, None)]);
        let at = |version: u64, position: i64| PassageAt { source: source.id, version, position };
        let current = version(&source);
        let places = [at(current, 1), at(current, 9), at(current + 1, 0)];
        let found = world.storage.passages_at(world.account, &places).await.unwrap();
        let found: Vec<_> =
            found.iter().map(|(source, passage)| (*source, passage.passage.position)).collect();
        assert_eq!(found, [(source.id, 1)]);
        assert_eq!(world.storage.passages_at(new_id(), &places).await.unwrap(), [], "of another");
        assert_eq!(world.storage.passages_at(world.account, &[]).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn what_was_claimed_is_claimable_again_when_its_worker_is_gone() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.trained(&agent, website(false), "one").await;
        let first = claimed(world, SPACE, 10).await;
        world.storage.take_back_vectors().await.unwrap();
        assert_eq!(claimed(world, SPACE, 10).await, first);
        let later = world.now().plus_millis(301_000);
        let short = VectorClaim { until: later.plus_millis(1), ..claim(SPACE, None, 10, later) };
        let again = world.storage.claim_vectors(short).await.unwrap();
        assert!(matches!(again, Some(VectorWork::Lacking(_))), "the claim has expired");
        world.storage.postpone_vectors(first.source, 3, later.plus_millis(5_000)).await.unwrap();
        assert_eq!(next(world, SPACE, 10).await, None);
    })
    .await;
}

#[tokio::test]
async fn accounts_take_turns_in_the_order_of_their_ids() {
    on_each(async |world| {
        let agent = world.agent().await;
        for _ in 0..3 {
            world.trained(&agent, website(false), "flood").await;
        }
        // A row of another account, as that account's worker would have written it.
        let theirs: cicerone_domain::Id<cicerone_domain::kind::Account> = new_id();
        world.execute(&format!(
            "UPDATE source_vectors SET account_id = '{theirs}' WHERE source_id = \
             (SELECT max(source_id) FROM source_vectors)"
        ));
        let mut turns = Vec::new();
        let mut last = None;
        for _ in 0..4 {
            let now = world.now();
            let short = VectorClaim { until: now, ..claim(SPACE, last, 1, now) };
            let work = world.storage.claim_vectors(short).await.unwrap();
            let Some(VectorWork::Lacking(lacking)) = work else { panic!("all lack vectors") };
            last = Some(lacking.account);
            turns.push(lacking.account);
        }
        assert_eq!((turns[0], turns[1]), (turns[2], turns[3]), "{turns:?}");
        assert_ne!(turns[0], turns[1], "{turns:?}");
    })
    .await;
}

#[tokio::test]
async fn another_space_makes_every_vector_missing_and_keeps_the_bytes_right() {
    on_each(async |world| {
        let agent = world.agent().await;
        let before = world.storage.kept_bytes(world.account).await.unwrap();
        let source = world.trained(&agent, website(false), "one").await;
        let trained = world.storage.kept_bytes(world.account).await.unwrap();
        complete(world, SPACE).await;
        let with_vectors = world.storage.kept_bytes(world.account).await.unwrap();
        assert_eq!(with_vectors, trained + 2 * 3 * 4);
        assert_eq!(world.storage.enter_space(SPACE).await.unwrap(), 0);
        assert_eq!(world.storage.enter_space(2).await.unwrap(), 1);
        assert_eq!(vectors(world, &agent, 2).await.sources, []);
        complete(world, 2).await;
        assert_eq!(world.storage.kept_bytes(world.account).await.unwrap(), with_vectors);
        assert_eq!(vectors(world, &agent, SPACE).await.sources, []);
        assert_eq!(vectors(world, &agent, 2).await.sources.len(), 1);
        let (scope, now) = (world.scope(), world.now());
        world.storage.delete_source(&scope, source.id, now, None).await.unwrap();
        assert_eq!(world.storage.kept_bytes(world.account).await.unwrap(), before);
        assert_eq!((world.count("passage_vectors"), world.count("source_vectors")), (0, 0));
        assert_eq!(vectors(world, &agent, 2).await.sources, []);
    })
    .await;
}

#[tokio::test]
async fn new_content_lacks_vectors_and_what_was_made_of_the_old_is_not_stored() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "old").await;
        let old = claimed(world, SPACE, 10).await;
        let (scope, now) = (world.scope(), world.now());
        world.storage.refresh_source(&scope, source.id, new_job(), now, None).await.unwrap();
        let source = world.finish(&source, super::fixture::extracted("new", 3)).await;
        store(world, &old, SPACE).await;
        assert_eq!(world.count("passage_vectors"), 0);
        let new = claimed(world, SPACE, 10).await;
        assert_eq!((new.version, new.passages.len()), (version(&source), 3));
    })
    .await;
}

#[tokio::test]
async fn a_space_is_found_by_its_model_and_its_settings() {
    on_each(async |world| {
        let space = |model: &str, settings: &str| Space {
            id: 0,
            model: model.to_owned(),
            settings: settings.to_owned(),
            dimension: 3,
            probe: vector(1.0),
            chance: 0.25,
            reach: 0.125,
            floor: None,
        };
        let one = world.storage.add_space(space("one", "a"), world.now()).await.unwrap();
        let two = world.storage.add_space(space("two", "a"), world.now()).await.unwrap();
        let other = world.storage.add_space(space("one", "b"), world.now()).await.unwrap();
        assert!(one.id != two.id && one.id != other.id && two.id != other.id);
        let again = world.reopen().add_space(space("one", "a"), world.now()).await.unwrap();
        assert_eq!(again, one, "both servers get the same space");
        assert_eq!(world.storage.spaces("one", "a").await.unwrap(), [one]);
        assert_eq!(world.storage.spaces("one", "b").await.unwrap(), [other]);
        assert_eq!(world.storage.spaces("none", "a").await.unwrap(), []);
    })
    .await;
}
