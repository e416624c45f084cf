//! Credentials of anonymous visitors: `vst_`, the visitor's id, and a signature. They are not stored, so visitors
//! cannot fill the database.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cicerone_domain::{Entropy, Id, kind};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The prefix of a credential.
pub(super) const PREFIX: &str = "vst_";
/// Bytes of its signature: 128 bits.
const TAG_BYTES: usize = 16;
/// The purpose for which the key is derived from the secret of the installation.
const PURPOSE: &[u8] = b"cicerone visitors";
/// The kind of text that a signature is for.
const ANONYMOUS: &str = "anonymous";
const IDENTIFIED: &str = "identified";

/// Makes and checks credentials.
pub(crate) struct Credentials {
    /// Derived from the secret of the installation, so that a signature of anything else is never valid for a
    /// credential.
    key: [u8; 32],
}

impl Credentials {
    /// The credentials of an installation with this secret.
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        Self { key: mac(secret, &[PURPOSE]).finalize().into_bytes().into() }
    }

    /// A new visitor of an agent, and their credential.
    pub(super) fn issue(
        &self,
        agent: Id<kind::Agent>,
        entropy: &dyn Entropy,
    ) -> (Id<kind::Visitor>, String) {
        let visitor: Id<kind::Visitor> = Id::random(entropy);
        let tag = self.sign(ANONYMOUS, agent, visitor.suffix()).finalize().into_bytes();
        let tag: Vec<u8> = tag.into_iter().take(TAG_BYTES).collect();
        (visitor, format!("{PREFIX}{}_{}", visitor.suffix(), URL_SAFE_NO_PAD.encode(tag)))
    }

    /// The visitor of an agent who has this credential; `None` if it is not one of this installation and agent.
    pub(super) fn read(&self, agent: Id<kind::Agent>, text: &str) -> Option<Id<kind::Visitor>> {
        let (suffix, tag) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let visitor: Id<kind::Visitor> =
            format!("{}{suffix}", <kind::Visitor as cicerone_domain::id::Kind>::PREFIX)
                .parse()
                .ok()?;
        let tag: [u8; TAG_BYTES] = URL_SAFE_NO_PAD.decode(tag).ok()?.try_into().ok()?;
        // Compared in constant time.
        self.sign(ANONYMOUS, agent, suffix).verify_truncated_left(&tag).ok()?;
        Some(visitor)
    }

    /// The visitor of an agent to whom the owner's site gives this name. The same name always gives the same id, and
    /// the id does not reveal the name.
    pub(super) fn identified(&self, agent: Id<kind::Agent>, subject: &str) -> Id<kind::Visitor> {
        let tag = self.sign(IDENTIFIED, agent, subject).finalize().into_bytes();
        Id::derived(&[&URL_SAFE_NO_PAD.encode(tag)])
    }

    fn sign(&self, what: &str, agent: Id<kind::Agent>, name: &str) -> Hmac<Sha256> {
        // Only the last part can have any length, and the others contain no zero byte.
        mac(&self.key, &[what.as_bytes(), b"\0", agent.suffix().as_bytes(), b"\0", name.as_bytes()])
    }
}

#[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
fn mac(key: &[u8; 32], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac
}

#[cfg(test)]
mod tests {
    use cicerone_domain::{Id, SystemEntropy};

    use super::Credentials;

    #[test]
    fn a_credential_is_that_of_its_visitor_agent_and_installation() {
        let credentials = Credentials::new(&[7; 32]);
        let [agent, other] = [(); 2].map(|()| Id::random(&SystemEntropy));
        let (visitor, text) = credentials.issue(agent, &SystemEntropy);
        assert_eq!(text.len(), "vst_".len() + 10 + 1 + 22);
        assert_eq!(credentials.read(agent, &text), Some(visitor));
        assert_eq!(credentials.read(other, &text), None);
        assert_eq!(Credentials::new(&[8; 32]).read(agent, &text), None);
        assert_ne!(credentials.issue(agent, &SystemEntropy).0, visitor);
    }

    #[test]
    fn a_credential_with_any_character_changed_added_or_removed_is_refused() {
        let credentials = Credentials::new(&[7; 32]);
        let agent = Id::random(&SystemEntropy);
        let (_, text) = credentials.issue(agent, &SystemEntropy);
        for place in 0..text.len() {
            for other in ["", "0", "z", "_", "-", "=", "é", "AA"] {
                let mut changed = text.clone();
                changed.replace_range(place..=place, other);
                let is_same = changed == text;
                assert_eq!(credentials.read(agent, &changed).is_some(), is_same, "{changed}");
            }
        }
        for changed in
            [format!("{text}A"), format!("{text}="), format!(" {text}"), text.to_uppercase()]
        {
            assert_eq!(credentials.read(agent, &changed), None, "{changed}");
        }
        // A signature of nothing.
        assert_eq!(credentials.read(agent, text.split_at(15).0), None);
    }

    #[test]
    fn a_user_stays_the_same_visitor_in_later_versions() {
        let credentials = Credentials::new(&[7; 32]);
        let visitor = credentials.identified("agent_0000000000".parse().unwrap(), "user-7");
        assert_eq!(visitor.to_string(), "vis_D7G8Rowj7Q");
    }

    #[test]
    fn a_user_is_one_visitor_of_an_agent_and_another_of_another_agent() {
        let credentials = Credentials::new(&[7; 32]);
        let [agent, other] = [(); 2].map(|()| Id::random(&SystemEntropy));
        let visitor = credentials.identified(agent, "user-7");
        assert_eq!(credentials.identified(agent, "user-7"), visitor);
        assert_ne!(credentials.identified(agent, "user-8"), visitor);
        assert_ne!(credentials.identified(other, "user-7"), visitor);
        assert_ne!(Credentials::new(&[8; 32]).identified(agent, "user-7"), visitor);
    }
}
