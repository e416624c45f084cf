//! Which job is claimed next.

use cicerone_domain::job::{ClaimableAccounts, Lane};
use cicerone_domain::ports::{AgentStore as _, SourceStore as _};
use cicerone_domain::{Agent, Id, Scope, Source, SourceContent, kind};

use super::fixture::{World, new_job, on_each, text, website};

/// Far more jobs than a claim examines one by one.
const FLOOD: usize = 450;

/// An account with an agent.
struct Tenant {
    scope: Scope,
    agent: Agent,
}

impl Tenant {
    async fn new(world: &World) -> Self {
        let scope = world.outside().await.remove(0);
        let agent = Agent { account_id: scope.account, ..world.new_agent() };
        let agent = world.storage.insert_agent(agent, None).await.unwrap();
        Self { scope, agent }
    }

    fn account(&self) -> Id<kind::Account> {
        self.scope.account
    }

    async fn queue(&self, world: &World, content: SourceContent) {
        let source = world.new_source(&self.agent, content);
        let source = Source { account_id: self.account(), ..source };
        world.storage.insert_source(&self.scope, source, new_job(), None).await.unwrap();
    }

    async fn queue_texts(&self, world: &World, count: usize) {
        for _ in 0..count {
            self.queue(world, text("Rome has seven hills.")).await;
        }
    }
}

/// The accounts of the next claimed jobs.
async fn claims(world: &World, count: usize) -> Vec<Id<kind::Account>> {
    let mut accounts = Vec::new();
    for _ in 0..count {
        let claimed = world.claim_job_of(Lane::Quick, ClaimableAccounts::All).await;
        accounts.extend(claimed.map(|job| job.source.account_id));
    }
    accounts
}

#[tokio::test]
async fn the_account_with_the_fewest_running_jobs_comes_next() {
    on_each(async |world| {
        let (a, b) = (Tenant::new(world).await, Tenant::new(world).await);
        a.queue_texts(world, FLOOD).await;
        b.queue_texts(world, 3).await;
        let (a, b) = (a.account(), b.account());
        assert_eq!(claims(world, 8).await, [a, b, a, b, a, b, a, a]);
    })
    .await;
}

#[tokio::test]
async fn among_equals_the_job_that_is_due_the_longest_comes_next() {
    on_each(async |world| {
        let mut expected = Vec::new();
        for _ in 0..5 {
            let tenant = Tenant::new(world).await;
            tenant.queue_texts(world, 2).await;
            expected.push(tenant.account());
        }
        expected.extend(expected.clone());
        assert_eq!(claims(world, 11).await, expected);
    })
    .await;
}

#[tokio::test]
async fn an_idle_account_is_found_behind_the_flood_of_a_busy_one() {
    on_each(async |world| {
        let (a, b) = (Tenant::new(world).await, Tenant::new(world).await);
        a.queue_texts(world, FLOOD).await;
        assert_eq!(claims(world, 2).await, [a.account(), a.account()]);
        let idle = async || world.claim_job_of(Lane::Quick, ClaimableAccounts::Idle).await;
        assert_eq!(idle().await, None);
        b.queue_texts(world, 2).await;
        assert_eq!(idle().await.unwrap().source.account_id, b.account());
        assert_eq!(idle().await, None, "it is busy now");
    })
    .await;
}

#[tokio::test]
async fn lanes_do_not_wait_for_each_other() {
    on_each(async |world| {
        let a = Tenant::new(world).await;
        for _ in 0..3 {
            a.queue(world, website(false)).await;
        }
        a.queue(
            world,
            SourceContent::parse(
                "qa",
                r#"[{"question":"Who?","answer":"Nobody."}]"#.to_owned(),
                false,
            )
            .unwrap(),
        )
        .await;
        assert_eq!(world.claim_job_of(Lane::File, ClaimableAccounts::All).await, None);
        assert_eq!(claims(world, 2).await.len(), 1);
        let website = world.claim_job_of(Lane::Website, ClaimableAccounts::Idle).await;
        assert!(website.is_some(), "a running job counts in its own lane only");
        let website = world.claim_job_of(Lane::Website, ClaimableAccounts::Idle).await;
        assert_eq!(website, None);
    })
    .await;
}

#[tokio::test]
async fn an_account_whose_jobs_are_not_due_is_passed_over() {
    on_each(async |world| {
        let (a, b) = (Tenant::new(world).await, Tenant::new(world).await);
        a.queue_texts(world, FLOOD).await;
        b.queue_texts(world, 1).await;
        world.execute(&format!(
            "UPDATE jobs SET due_at = due_at + 1000000000 WHERE account_id = '{}'",
            a.account()
        ));
        assert_eq!(claims(world, 2).await, [b.account()]);
    })
    .await;
}

#[tokio::test]
async fn idle_accounts_are_found_behind_a_flood_however_many_they_are() {
    on_each(async |world| {
        let flood = Tenant::new(world).await;
        flood.queue_texts(world, FLOOD).await;
        let mut expected = vec![flood.account(), flood.account()];
        assert_eq!(claims(world, 2).await, expected);
        for _ in 0..250 {
            let tenant = Tenant::new(world).await;
            tenant.queue_texts(world, 1).await;
            expected.push(tenant.account());
        }
        assert_eq!(claims(world, 20).await, expected.get(2..22).unwrap());
    })
    .await;
}
