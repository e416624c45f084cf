//! Tests of keys and permissions.

use super::{KeySecret, ParseKeyError, Permission, Permissions};
use crate::clock::SystemEntropy;
use crate::id::Id;

#[test]
fn a_generated_key_parses_and_a_mistyped_one_does_not() {
    let secret = KeySecret::generate(Id::random(&SystemEntropy), &SystemEntropy);
    let text = secret.reveal().to_owned();
    assert_eq!(text.len(), 52);
    assert_eq!(text.parse(), Ok(secret));
    for position in 3..text.len() {
        let mut wrong = text.clone().into_bytes();
        wrong[position] = if wrong[position] == b'a' { b'b' } else { b'a' };
        let wrong = String::from_utf8(wrong).unwrap();
        assert_eq!(wrong.parse::<KeySecret>(), Err(ParseKeyError::Checksum), "{wrong}");
    }
}

#[test]
fn permissions_read_back_as_they_are_written() {
    assert_eq!(Permissions::from_names(["*"]).unwrap(), Permissions::ALL);
    let some: Permissions = [Permission::AgentsRead, Permission::KeysWrite].into_iter().collect();
    assert_eq!(some.names(), ["agents:read", "keys:write"]);
    assert_eq!(Permissions::from_names(some.names()).unwrap(), some);
    assert!(Permissions::ALL.covers(some) && !some.covers(Permissions::ALL));
    assert!(Permissions::from_names(["agents"]).is_err());
}
