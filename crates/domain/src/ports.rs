//! Ports: the traits through which the use cases reach adapters, in terms of the domain.
//!
//! Each port is small and object-safe. One method of a store is one transaction. Every lookup of
//! something that an account owns takes the [`Scope`](crate::Scope) first, and does not find
//! anything outside of it.
//!
//! Every method of a store returns [`Error::Unavailable`](crate::Error::Unavailable) if the database or object store
//! cannot be reached, is busy beyond its timeout or is full, and [`Error::Internal`](crate::Error::Internal) if its
//! content is not valid; in both cases nothing was changed. A method that takes a completion returns
//! [`Error::ClaimLost`](crate::Error::ClaimLost), and changes nothing, if the claim is no longer held. Other errors are
//! documented with the method.

mod checks;
mod conversations;
mod crawl;
mod gaps;
mod index;
mod jobs;
mod meaning;
mod model;
mod stages;
mod stores;
mod webhooks;
mod widgets;

pub use checks::{AskChecks, CheckStore, ClaimedRun, RunClaim, RunLease};
pub use conversations::{ConversationContext, ConversationStore};
pub use crawl::{CrawlStore, SitePreviews};
pub use gaps::{GapAnswer, GapStore, Likeness};
pub use index::{AgentContent, PassageFeed, PassageIndex, Wanted, WholeContent};
pub use jobs::{Housekeeping, JobStore, WorkListener, WorkSignal};
pub use meaning::{
    AgentVectors, EmbedError, EmbedFailure, Embedder, LackingVectors, PassageAt, Purpose,
    SourceVectors, VectorClaim, VectorFeed, VectorStore, VectorWork,
};
pub use model::{
    LanguageModel, ModelCatalog, ModelError, ModelFailure, ModelReply, ReplyRequest, Rewritten,
    TokenSink,
};
pub use stages::{Stage, StageObserver, Stages};
pub use stores::{
    AgentStore, AuditStore, Health, IdempotencyStore, KeyStore, ObjectStore, PutAside,
    SourceFilter, SourceStore, Spool, SpooledFile, UploadStore, UsageStore,
};
pub use webhooks::{CheckTarget, DeliveryStore, TargetRefused, WebhookStore};
pub use widgets::{NewIdentitySecret, NewToken, WidgetStore};
