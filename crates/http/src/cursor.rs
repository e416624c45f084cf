//! Cursors: signed positions in a list. The signature ensures that no other text is accepted as a
//! cursor.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cicerone_domain::{Error, Id, Position, Timestamp, kind};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Bytes of a cursor's signature: 128 bits.
const TAG_BYTES: usize = 16;
const CREATED: u8 = b'c';
const NUMBERED: u8 = b'n';

/// The list that a cursor belongs to. Other lists refuse it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListName<'a> {
    pub(crate) name: &'static str,
    pub(crate) account: Id<kind::Account>,
    /// The id of the resource whose items are listed; empty for a list of the account.
    pub(crate) parent: &'a str,
}

/// Writes and reads cursors.
pub(crate) struct Cursors {
    secret: [u8; 32],
}

impl Cursors {
    pub(crate) const fn new(secret: [u8; 32]) -> Self {
        Self { secret }
    }

    /// Makes the cursor of a position.
    pub(crate) fn write(&self, list: ListName<'_>, position: &Position) -> String {
        let mut bytes = encode(position);
        let tag = self.sign(list, &bytes).finalize().into_bytes();
        bytes.extend(tag.iter().take(TAG_BYTES));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads a cursor. Returns an error if this installation did not create it for this list.
    pub(crate) fn read(&self, list: ListName<'_>, text: &str) -> Result<Position, Error> {
        let position = || {
            let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
            let (position, tag) = bytes.split_last_chunk::<TAG_BYTES>()?;
            self.sign(list, position).verify_truncated_left(tag).ok()?;
            decode(position)
        };
        position().ok_or_else(|| Error::invalid("cursor", "must be a `next_cursor` of this list"))
    }

    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    fn sign(&self, list: ListName<'_>, position: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).expect("a key of any length");
        // No name or id contains a zero byte, so the parts cannot be confused.
        for part in [list.name, list.account.suffix(), list.parent] {
            mac.update(part.as_bytes());
            mac.update(&[0]);
        }
        mac.update(position);
        mac
    }
}

fn encode(position: &Position) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(48);
    match position {
        Position::Created { at, id } => {
            bytes.push(CREATED);
            bytes.extend(at.as_millis().to_be_bytes());
            bytes.extend(id.as_bytes());
        }
        Position::Numbered(number) => {
            bytes.push(NUMBERED);
            bytes.extend(number.to_be_bytes());
        }
    }
    bytes
}

fn decode(bytes: &[u8]) -> Option<Position> {
    let (kind, rest) = bytes.split_first()?;
    let (number, id) = rest.split_first_chunk::<8>()?;
    let number = i64::from_be_bytes(*number);
    match *kind {
        CREATED => {
            let id = std::str::from_utf8(id).ok()?.to_owned();
            Some(Position::Created { at: Timestamp::from_millis(number), id })
        }
        NUMBERED if id.is_empty() => Some(Position::Numbered(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursors, ListName};
    use cicerone_domain::{Id, Position, SystemEntropy, Timestamp};

    fn positions() -> [Position; 3] {
        let at = Timestamp::from_millis(1_769_848_200_125);
        [
            Position::Created { at, id: "src_0123456789".to_owned() },
            Position::Numbered(0),
            Position::Numbered(499),
        ]
    }

    #[test]
    fn a_cursor_is_accepted_by_its_own_list_only() {
        let cursors = Cursors::new([7; 32]);
        let account = Id::random(&SystemEntropy);
        let list = ListName { name: "sources", account, parent: "agent_0123456789" };
        let others = [
            ListName { name: "conversations", ..list },
            ListName { account: Id::random(&SystemEntropy), ..list },
            ListName { parent: "agent_9876543210", ..list },
        ];
        for position in positions() {
            let cursor = cursors.write(list, &position);
            assert_eq!(cursors.read(list, &cursor).unwrap(), position);
            for other in others {
                assert!(cursors.read(other, &cursor).is_err(), "{other:?}");
            }
            assert!(Cursors::new([8; 32]).read(list, &cursor).is_err());
        }
    }

    #[test]
    fn a_changed_cursor_is_refused() {
        let cursors = Cursors::new([7; 32]);
        let list = ListName { name: "agents", account: Id::random(&SystemEntropy), parent: "" };
        for position in positions() {
            let cursor = cursors.write(list, &position);
            for index in 0..cursor.len() {
                let mut changed = cursor.clone().into_bytes();
                changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
                let changed = String::from_utf8(changed).unwrap();
                assert!(cursors.read(list, &changed).is_err(), "{changed}");
            }
            assert!(cursors.read(list, &cursor[1..]).is_err());
        }
        for text in ["", "AAAA", "not base64!", "\u{e9}"] {
            assert!(cursors.read(list, text).is_err(), "{text}");
        }
    }
}
