//! A separate database for each test, and the rows that tests start with.

mod content;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use cicerone_domain::access::{KeyHash, KeySecret};
use cicerone_domain::agent::{
    AgentName, AgentProfile, AnswerFloor, ModelName, ReplyTokens, SystemPrompt, Temperature,
};
use cicerone_domain::content::Extracted;
use cicerone_domain::conversation::{Channel, ConversationCounts, Metadata, Turn};
use cicerone_domain::id::Kind;
use cicerone_domain::idempotency::{
    Audience, Claim, Claimed, Completion, Fingerprint, IdempotencyKey, KeptAnswer, Subject,
};
use cicerone_domain::job::{Claimable, ClaimableAccounts, ClaimedJob, Lane, NewJob};
use cicerone_domain::ports::{
    AgentStore as _, ConversationStore as _, IdempotencyStore as _, JobStore as _, KeyStore as _,
    SourceStore as _, UploadStore as _,
};
use cicerone_domain::source::{SourceText, WebsiteUrl};
use cicerone_domain::upload::Filename;
use cicerone_domain::usage::TokenCount;
use cicerone_domain::{
    Account, AccountName, Agent, AgentStatus, ApiKey, Conversation, Error, Id, KeyName, Message,
    Page, PageRequest, Permissions, Position, Role, Scope, Source, SourceContent, SourceState,
    SystemEntropy, Timestamp, Upload, UploadType, kind,
};
use cicerone_storage::{DatabaseUrl, Storage, StorageOptions, migrations};
use cicerone_tests::postgres::Cluster;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel::{PgConnection, SqliteConnection};
use tempfile::TempDir;

pub(super) use content::{extracted, large};

/// The time at which every test begins.
const START: i64 = 1_800_000_000_000;

/// One test's database and account.
pub(super) struct World {
    pub(super) storage: Storage,
    pub(super) url: DatabaseUrl,
    pub(super) account: Id<kind::Account>,
    clock: AtomicI64,
    _folder: Option<TempDir>,
}

/// The counter in a generation or version. The rest is random.
pub(super) fn counted(version: u64) -> u64 {
    version >> 32
}

/// Runs a test on each available database.
pub(super) async fn on_each(test: impl AsyncFn(&World)) {
    let folder = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::sqlite(folder.path().join("test.db"));
    migrations::run(&url).unwrap();
    test(&World::open(url, Some(folder)).await).await;
    if let Some(cluster) = Cluster::shared() {
        test(&World::open(cluster.migrated_database(), None).await).await;
    }
}

impl World {
    async fn open(url: DatabaseUrl, folder: Option<TempDir>) -> Self {
        let storage = Storage::open(&url, &StorageOptions::default()).unwrap();
        let account = new_account(&storage, "ours").await;
        Self { storage, url, account, clock: AtomicI64::new(START), _folder: folder }
    }

    /// Opens the same database again, like another process would.
    pub(super) fn reopen(&self) -> Storage {
        Storage::open(&self.url, &StorageOptions::default()).unwrap()
    }

    /// A time later than all previous ones.
    pub(super) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.fetch_add(1_000, Ordering::Relaxed))
    }

    /// The scope of the whole account.
    pub(super) fn scope(&self) -> Scope {
        Scope::account(self.account)
    }

    /// Scopes that see nothing of it: another account, and the account without any of its agents.
    pub(super) async fn outside(&self) -> Vec<Scope> {
        let name = format!("theirs at {}", self.now());
        let theirs = Scope::account(new_account(&self.storage, &name).await);
        let elsewhere = Scope { agents: Some(Arc::new([new_id()])), ..self.scope() };
        let nowhere = Scope { agents: Some(Arc::new([])), ..self.scope() };
        vec![theirs, elsewhere, nowhere]
    }

    /// The account restricted to this agent.
    pub(super) fn only(&self, agent: &Agent) -> Scope {
        Scope { agents: Some(Arc::new([agent.id])), ..self.scope() }
    }

    /// An agent that is not stored yet.
    pub(super) fn new_agent(&self) -> Agent {
        let now = self.now();
        Agent {
            id: new_id(),
            account_id: self.account,
            profile: AgentProfile {
                name: AgentName::parse("Ciceróne ✓").unwrap(),
                model: ModelName::from_stored("gpt-4o".to_owned()),
                system_prompt: SystemPrompt::parse("Answer in one sentence.\n").unwrap(),
                temperature: Temperature::parse(0.3).unwrap(),
                max_tokens: ReplyTokens::parse(512).unwrap(),
                retention_days: None,
                answer_floor: AnswerFloor::Cautious,
                public_sources: true,
                receipts: false,
                source_list: true,
                managed: None,
            },
            status: AgentStatus::Active,
            created_at: now,
            updated_at: now,
            index_generation: 0,
        }
    }

    pub(super) async fn agent(&self) -> Agent {
        self.storage.insert_agent(self.new_agent(), None).await.unwrap()
    }

    /// The agent as it is stored now.
    pub(super) async fn stored_agent(&self, agent: &Agent) -> Agent {
        self.storage.find_agent(&self.scope(), agent.id).await.unwrap().unwrap()
    }

    /// How often the agent's content was changed.
    pub(super) async fn changes(&self, agent: &Agent) -> u64 {
        counted(self.stored_agent(agent).await.index_generation)
    }

    /// A source that is not stored yet.
    pub(super) fn new_source(&self, agent: &Agent, content: SourceContent) -> Source {
        Source {
            id: new_id(),
            account_id: self.account,
            agent_id: agent.id,
            content,
            state: SourceState::Pending,
            progress: None,
            guarded: false,
            managed: None,
            created_at: self.now(),
        }
    }

    pub(super) async fn source(&self, agent: &Agent, content: SourceContent) -> Source {
        let source = self.new_source(agent, content);
        self.storage.insert_source(&self.scope(), source, new_job(), None).await.unwrap()
    }

    pub(super) async fn text_source(&self, agent: &Agent) -> Source {
        self.source(agent, text("Rome has seven hills.")).await
    }

    /// The source as it is stored now.
    pub(super) async fn stored_source(&self, source: &Source) -> Source {
        self.storage.find_source(&self.scope(), source.id).await.unwrap().unwrap()
    }

    /// Claims the next job for 30 s.
    pub(super) async fn claim_job(&self) -> Option<ClaimedJob> {
        for lane in Lane::ALL {
            let claimed = self.claim_job_of(lane, ClaimableAccounts::All).await;
            if claimed.is_some() {
                return claimed;
            }
        }
        None
    }

    /// Claims the next job of a lane for 30 s.
    pub(super) async fn claim_job_of(
        &self,
        lane: Lane,
        accounts: ClaimableAccounts,
    ) -> Option<ClaimedJob> {
        let now = self.now();
        let token = new_id::<kind::Request>().suffix().to_owned();
        let which = Claimable { lane, accounts };
        self.storage.claim_job(which, token, now, now.plus_millis(30_000)).await.unwrap()
    }

    /// A source that was processed into `passages` passages with this text.
    pub(super) async fn trained(
        &self,
        agent: &Agent,
        content: SourceContent,
        text: &str,
    ) -> Source {
        let source = self.source(agent, content).await;
        self.finish(&source, extracted(text, 2)).await
    }

    /// Claims the job of this source, the only one, and finishes it successfully.
    pub(super) async fn finish(&self, source: &Source, extracted: Extracted) -> Source {
        let job = self.claim_job().await.unwrap();
        assert_eq!(job.source.id, source.id);
        let finished =
            self.storage.finish_trained(&job.lease, extracted, new_id(), self.now()).await;
        finished.unwrap().unwrap()
    }

    pub(super) fn new_upload(&self) -> Upload {
        Upload {
            id: new_id(),
            account_id: self.account,
            filename: Filename::clean("Führer durch Rom.pdf"),
            content_type: UploadType::Pdf,
            bytes: 10_485_760,
            created_at: self.now(),
        }
    }

    pub(super) async fn upload(&self) -> Upload {
        let upload = self.new_upload();
        let deadline = self.now().plus_millis(3_600_000);
        self.storage.expect_object(&upload.object_key(), deadline).await.unwrap();
        self.storage.insert_upload(upload, None).await.unwrap()
    }

    /// A turn that begins a conversation with an agent.
    pub(super) fn first_turn(&self, agent: &Agent, metadata: &[(&str, &str)]) -> Turn {
        let now = self.now();
        let pairs = metadata.iter().map(|(key, value)| (key.to_string(), value.to_string()));
        let conversation = Conversation {
            id: new_id(),
            account_id: self.account,
            agent_id: agent.id,
            metadata: Metadata::parse(pairs.collect::<BTreeMap<_, _>>()).unwrap(),
            channel: Channel::Api,
            widget_id: None,
            visitor: None,
            handoff_requested_at: None,
            lead: None,
            counts: ConversationCounts { messages: 2, unanswered: 1, ..Default::default() },
            created_at: now,
            updated_at: now,
        };
        turn(conversation, true, "How many hills?", now)
    }

    /// A turn that continues a conversation.
    pub(super) fn next_turn(&self, conversation: &Conversation, question: &str) -> Turn {
        let now = self.now();
        let mut conversation = Conversation { updated_at: now, ..conversation.clone() };
        conversation.counts.messages += 2;
        conversation.counts.unanswered += 1;
        turn(conversation, false, question, now)
    }

    pub(super) async fn conversation(
        &self,
        agent: &Agent,
        metadata: &[(&str, &str)],
    ) -> Conversation {
        let turn = self.first_turn(agent, metadata);
        self.storage.append_turn(turn, None).await.unwrap().conversation
    }

    /// The claim of a new key.
    pub(super) async fn claim(&self, key: &str) -> Claim {
        let token = new_id::<kind::Request>().suffix().to_owned();
        match self.claim_with(key, 1, token, self.now()).await {
            Claimed::Granted(claim) => claim,
            other => panic!("the key `{key}` was not free: {other:?}"),
        }
    }

    pub(super) async fn claim_with(
        &self,
        key: &str,
        print: u8,
        token: String,
        now: Timestamp,
    ) -> Claimed {
        let key = IdempotencyKey::parse(key).unwrap();
        let print = Fingerprint([print; 32]);
        self.storage.claim(&self.scope(), &key, print, token, false, now).await.unwrap()
    }

    /// The result of repeating the same request with the same key.
    pub(super) async fn repeat(&self, key: &str) -> Claimed {
        self.claim_with(key, 1, "another".to_owned(), self.now()).await
    }

    /// The result of repeating a request with this stored answer, by a key for the whole account.
    pub(super) fn replay(&self, response: KeptAnswer) -> Claimed {
        let agents = response.subject.as_ref().and_then(|subject| subject.agents.clone());
        let audience = Audience { maker: self.scope(), agents, is_refusal: response.is_refusal };
        Claimed::Replay(response, audience)
    }

    /// The number of rows in a table.
    pub(super) fn count(&self, table: &str) -> i64 {
        self.count_where(table, "1 = 1")
    }

    /// The number of rows in a table that satisfy a condition.
    pub(super) fn count_where(&self, table: &str, condition: &str) -> i64 {
        #[derive(QueryableByName)]
        struct Count {
            #[diesel(sql_type = BigInt)]
            count: i64,
        }
        let sql = format!("SELECT count(*) AS count FROM {table} WHERE {condition}");
        let query = diesel::sql_query(sql);
        let row: Count = match self.url.sqlite_path() {
            Some(path) => query.get_result(&mut sqlite(path)).unwrap(),
            None => query
                .get_result(&mut PgConnection::establish(&self.url.to_string()).unwrap())
                .unwrap(),
        };
        row.count
    }

    /// Changes the database directly, bypassing the storage.
    pub(super) fn execute(&self, sql: &str) {
        let query = diesel::sql_query(sql);
        match self.url.sqlite_path() {
            Some(path) => query.execute(&mut sqlite(path)).unwrap(),
            None => {
                query.execute(&mut PgConnection::establish(&self.url.to_string()).unwrap()).unwrap()
            }
        };
    }
}

fn sqlite(path: &std::path::Path) -> SqliteConnection {
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    diesel::sql_query("PRAGMA busy_timeout = 5000").execute(&mut connection).unwrap();
    connection
}

pub(super) fn new_id<K: Kind>() -> Id<K> {
    Id::random(&SystemEntropy)
}

/// A job that no request asked for.
pub(super) fn new_job() -> NewJob {
    NewJob { id: new_id(), request_id: None }
}

/// Creates an account with this name.
pub(super) async fn new_account(storage: &Storage, name: &str) -> Id<kind::Account> {
    let account = Account {
        id: new_id(),
        name: AccountName::parse(name).unwrap(),
        created_at: Timestamp::from_millis(START - 1),
    };
    storage.insert_account(account.clone()).await.unwrap();
    account.id
}

/// A key with two permissions, restricted to two agents, and a unique hash.
pub(super) fn new_key(account: Id<kind::Account>) -> (ApiKey, KeyHash) {
    let id: Id<kind::ApiKey> = new_id();
    let key = ApiKey {
        id,
        account_id: account,
        name: KeyName::parse("Schlüssel").unwrap(),
        permissions: Permissions::from_names(["agents:read", "keys:write"]).unwrap(),
        agent_ids: Some(vec![new_id(), new_id()]),
        expires_at: Some(Timestamp::from_millis(START)),
        last_used_at: None,
        created_at: Timestamp::from_millis(START - 1),
        hint: "ck_abcd…wxyz".to_owned(),
        managed: None,
    };
    (key, KeySecret::generate(id, &SystemEntropy).hash())
}

/// A text of any length, as a store keeps it.
pub(super) fn text(text: &str) -> SourceContent {
    SourceContent::Text(SourceText::from_stored(text))
}

pub(super) fn website(crawl_subpages: bool) -> SourceContent {
    let url = WebsiteUrl::parse("https://example.com/röm").unwrap();
    SourceContent::Website { url, crawl_subpages }
}

fn turn(conversation: Conversation, is_first: bool, question: &str, now: Timestamp) -> Turn {
    let message =
        |role, content: String| Message { role, content, sources_used: Vec::new(), timestamp: now };
    let reply = message(Role::Assistant, format!("Re: {question}"));
    let question = message(Role::User, question.to_owned());
    let tokens = TokenCount { prompt: 7, completion: 3 };
    Turn {
        conversation,
        is_first,
        question,
        reply,
        tokens,
        after: None,
        receipt: None,
        is_cut: false,
        lists_sources: false,
        is_small_talk: false,
    }
}

/// A completion with the answer 201 and `body`, about `subject`.
pub(super) fn completion<T>(
    claim: &Claim,
    body: &'static str,
    subject: Option<(String, Option<Id<kind::Agent>>)>,
) -> Option<Completion<T>> {
    Some(Completion::new(claim.clone(), move |_| response(body, subject.clone())))
}

pub(super) fn response(
    body: &str,
    subject: Option<(String, Option<Id<kind::Agent>>)>,
) -> KeptAnswer {
    KeptAnswer {
        content: body.as_bytes().to_vec(),
        is_refusal: false,
        subject: subject.map(|(id, agent)| match agent {
            Some(agent) => Subject::of_agent(id, agent),
            None => Subject::of_account(id),
        }),
    }
}

pub(super) fn first(size: u32) -> PageRequest {
    PageRequest { size, after: None }
}

pub(super) fn after(size: u32, position: Option<Position>) -> PageRequest {
    PageRequest { size, after: position }
}

/// Every item of a list, page after page.
pub(super) async fn all_pages<T>(
    size: u32,
    list: impl AsyncFn(PageRequest) -> Result<Page<T>, Error>,
) -> Vec<T> {
    let (mut items, mut next) = (Vec::new(), None);
    loop {
        let page = list(after(size, next)).await.unwrap();
        assert!(page.items.len() <= size as usize);
        items.extend(page.items);
        next = page.next;
        if next.is_none() {
            return items;
        }
    }
}

#[track_caller]
pub(super) fn assert_not_found<T: std::fmt::Debug>(result: Result<T, Error>, resource: &str) {
    match result {
        Err(Error::NotFound { what, .. }) => assert_eq!(what, resource),
        other => panic!("expected no {resource}, got {other:?}"),
    }
}

#[track_caller]
pub(super) fn assert_conflict<T: std::fmt::Debug>(result: Result<T, Error>) {
    assert!(matches!(result, Err(Error::Conflict(_))), "expected a conflict, got {result:?}");
}
