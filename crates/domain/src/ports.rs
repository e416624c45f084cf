//! Ports: what the use cases need from adapters, in the words of the domain.
//!
//! Each is small and object-safe. One method of a store is one transaction: what must agree commits
//! together. Every lookup of something owned takes the [`Scope`](crate::Scope) first, and what lies
//! outside it is not found.

mod crawl;
mod index;
mod jobs;
mod model;
mod stages;
mod stores;
mod webhooks;

pub use crawl::CrawlStore;
pub use index::{AgentContent, PassageFeed, PassageIndex, WholeContent};
pub use jobs::{Housekeeping, JobStore, WorkListener, WorkSignal};
pub use model::{
    LanguageModel, ModelCatalog, ModelError, ModelFailure, ModelReply, ReplyRequest, TokenSink,
};
pub use stages::{Stage, StageObserver, Stages};
pub use stores::{
    AgentStore, AuditStore, ConversationContext, ConversationStore, Health, IdempotencyStore,
    KeyStore, ObjectStore, SourceFilter, SourceStore, Spool, SpooledFile, UploadStore, UsageStore,
};
pub use webhooks::{CheckTarget, DeliveryStore, TargetRefused, WebhookStore};
