//! The use cases. Each takes parsed values, checks that the resources exist and that their state
//! allows the operation, and makes each change by a single call of a store, which is one
//! transaction. Besides their own errors, all of them return those of the stores that they call:
//! see [`crate::ports`].

mod agents;
mod audit;
mod checks;
mod conversations;
mod gaps;
mod idempotency;
mod keys;
mod pace;
mod quotas;
mod sites;
mod sources;
mod thinking;
mod uploads;
mod webhooks;
mod widgets;

pub use agents::Agents;
pub use audit::Audit;
pub use checks::Checks;
pub use conversations::{
    Accepted, ConversationLimits, Conversations, Export, Handling, NewMessage,
};
pub use gaps::{GapPorts, Gaps, NewGapAnswer};
pub use idempotency::{Admission, Idempotency};
pub use keys::{Issued, Keys, NewKey, RootKey};
pub use pace::HeldRefusal;
pub use quotas::{QuotaPass, Quotas};
pub use sites::Sites;
pub use sources::{NewSource, Sources};
pub use uploads::{IncomingFile, NewUpload, Uploads};
pub use webhooks::{NewEndpoint, Webhooks};
pub use widgets::{NewWidget, Widgets};
