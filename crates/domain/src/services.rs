//! The use cases. Each takes parsed values, checks what exists and what its state allows, and leaves
//! what must agree to one call of a store.

mod agents;
mod audit;
mod conversations;
mod idempotency;
mod keys;
mod quotas;
mod sources;
mod thinking;
mod uploads;
mod webhooks;

pub use agents::Agents;
pub use audit::Audit;
pub use conversations::{Accepted, ConversationLimits, Conversations, NewMessage};
pub use idempotency::{Admission, Idempotency};
pub use keys::{Issued, Keys, NewKey, RootKey};
pub use quotas::{QuotaPass, Quotas};
pub use sources::{NewSource, Sources};
pub use uploads::{IncomingFile, NewUpload, Uploads};
pub use webhooks::{NewEndpoint, Webhooks};
