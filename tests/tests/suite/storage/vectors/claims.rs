//! What is claimed, and what is not: gaps, quotas, and what is being deleted.

use cicerone_domain::Error;
use cicerone_domain::ports::{UsageStore as _, VectorStore as _, VectorWork};
use cicerone_domain::usage::{AccountQuotas, Quota};

use super::super::fixture::{World, on_each, website};
use super::{OVER_QUOTA_MILLIS, SPACE, all_of, claim, claimed, complete, next, store, vectors};

async fn allow(world: &World, bytes: u64) {
    let quotas = AccountQuotas { bytes: Quota::AtMost(bytes), ..AccountQuotas::default() };
    world.storage.set_quotas("ours", Some(quotas)).await.unwrap();
}

async fn space_of_three_dimensions(world: &World) -> i64 {
    let space = cicerone_domain::meaning::Space {
        id: 0,
        model: "m".to_owned(),
        settings: String::new(),
        dimension: 3,
        probe: super::vector(1.0),
        chance: 0.25,
        reach: 0.125,
        floor: None,
    };
    world.storage.add_space(space, world.now()).await.unwrap().id
}

#[tokio::test]
async fn how_far_another_server_came_in_another_space_leaves_no_gap() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "one").await;
        // One server makes the first vector, and another one, with another model, looks at the same source.
        let first = claimed(world, SPACE, 1).await;
        store(world, &first, SPACE).await;
        let other = claimed(world, 2, 10).await;
        let positions: Vec<i64> = other.passages.iter().map(|passage| passage.position).collect();
        assert_eq!(positions, [0, 1], "those before the end of the other space too");
        world.storage.postpone_vectors(source.id, 0, world.now()).await.unwrap();
        // The first server claims the second passage, the other one stores the first one, then the first stores.
        let second = claimed(world, SPACE, 1).await;
        assert_eq!(second.passages[0].position, 1);
        world.storage.postpone_vectors(source.id, 0, world.now()).await.unwrap();
        let other = claimed(world, 2, 1).await;
        store(world, &other, 2).await;
        store(world, &second, SPACE).await;
        complete(world, SPACE).await;
        assert_eq!(world.count_where("passage_vectors", "space = 1"), 2);
        assert_eq!(vectors(world, &agent, SPACE).await.sources, [all_of(&source)]);
    })
    .await;
}

#[tokio::test]
async fn halvings_are_kept_with_the_source_until_its_content_is_another() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "one").await;
        assert_eq!(claimed(world, SPACE, 10).await.halvings, 0);
        world.storage.postpone_vectors(source.id, 5, world.now()).await.unwrap();
        let lacking = claimed(world, SPACE, 1).await;
        assert_eq!(lacking.halvings, 5);
        let made = vec![(0, Some(super::vector(1.0)))];
        world.storage.store_vectors(&lacking, SPACE, made, 4, world.now()).await.unwrap();
        assert_eq!(claimed(world, SPACE, 1).await.halvings, 4);
    })
    .await;
}

#[tokio::test]
async fn an_account_without_room_is_put_off_as_a_whole_before_anything_is_made() {
    on_each(async |world| {
        let agent = world.agent().await;
        let space = space_of_three_dimensions(world).await;
        for _ in 0..3 {
            world.trained(&agent, website(false), "text").await;
        }
        let kept = world.storage.kept_bytes(world.account).await.unwrap();
        // Room for one passage of three numbers, and not for the two of a source.
        allow(world, kept + 12).await;
        let expected = VectorWork::OverQuota { account: world.account, sources: 3 };
        assert_eq!(next(world, space, 10).await, Some(expected));
        assert_eq!(next(world, space, 10).await, None, "all of them wait");
        let later = world.now().plus_millis(OVER_QUOTA_MILLIS);
        allow(world, kept + 100).await;
        let again = world.storage.claim_vectors(claim(space, None, 10, later)).await.unwrap();
        assert!(matches!(again, Some(VectorWork::Lacking(_))), "{again:?}");
    })
    .await;
}

#[tokio::test]
async fn vectors_that_replace_others_need_no_room() {
    on_each(async |world| {
        let agent = world.agent().await;
        let space = space_of_three_dimensions(world).await;
        world.trained(&agent, website(false), "text").await;
        complete(world, SPACE).await;
        allow(world, world.storage.kept_bytes(world.account).await.unwrap()).await;
        world.storage.enter_space(space).await.unwrap();
        complete(world, space).await;
        // If the room is taken between the claim and the vectors, they are refused.
        allow(world, 1_000_000).await;
        world.trained(&agent, website(false), "more").await;
        allow(world, world.storage.kept_bytes(world.account).await.unwrap() + 24).await;
        let lacking = claimed(world, space, 10).await;
        allow(world, 1).await;
        let made =
            lacking.passages.iter().map(|p| (p.position, Some(super::vector(1.0)))).collect();
        let stored = world.storage.store_vectors(&lacking, space, made, 0, world.now()).await;
        assert!(matches!(stored, Err(Error::BytesExceeded { .. })), "{stored:?}");
    })
    .await;
}

#[tokio::test]
async fn nothing_is_made_for_an_agent_that_is_being_deleted() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.trained(&agent, website(false), "one").await;
        world.trained(&agent, website(false), "two").await;
        let before = claimed(world, SPACE, 10).await;
        world.execute(&format!("UPDATE agents SET removed_at = 1 WHERE id = '{}'", agent.id));
        let gone = VectorWork::Gone { account: world.account };
        assert_eq!(next(world, SPACE, 10).await, Some(gone));
        store(world, &before, SPACE).await;
        assert_eq!(world.count("passage_vectors"), 0);
    })
    .await;
}
