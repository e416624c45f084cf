//! The wire form of resources. Each is made from the domain's type and only ever written.

mod agent;
mod audit;
mod conversation;
mod key;
mod source;
mod upload;
mod usage;
mod webhook;

pub(crate) use agent::AgentView;
pub(crate) use audit::AuditRecordView;
pub(crate) use conversation::{
    ConversationView, DoneEvent, KeptReply, MessageView, ReplyView, TokenEvent,
};
pub(crate) use key::{IssuedKeyView, KeyView};
pub(crate) use source::{DocumentView, HitView, PageView, PassageView, SearchView, SourceView};
pub(crate) use upload::UploadView;
pub(crate) use usage::UsageView;
pub(crate) use webhook::{DeliveryView, EndpointView, IssuedEndpointView};
