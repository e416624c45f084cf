//! Which other keys a key may create, change or delete. No key can grant more than it has itself.

use super::{AccountName, ApiKey, KeyName, Permission, Permissions};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::limits;
use crate::managed::Managed;
use crate::timestamp::Timestamp;

/// A change of a key: `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyPatch {
    /// A human-readable name.
    pub name: Option<KeyName>,
    /// What it may do.
    pub permissions: Option<Permissions>,
    /// `Some(None)` lifts the restriction to agents.
    pub agent_ids: Option<Option<Vec<Id<kind::Agent>>>>,
    /// `Some(None)` for never.
    pub expires_at: Option<Option<Timestamp>>,
    /// See [`ApiKey::managed`].
    pub managed: Option<Option<Managed>>,
}

impl ApiKey {
    /// Applies a change.
    pub fn apply(&mut self, patch: KeyPatch) {
        let KeyPatch { name, permissions, agent_ids, expires_at, managed } = patch;
        if let Some(name) = name {
            self.name = name;
        }
        self.permissions = permissions.unwrap_or(self.permissions);
        self.agent_ids = agent_ids.unwrap_or_else(|| self.agent_ids.take());
        self.expires_at = expires_at.unwrap_or(self.expires_at);
        self.managed = managed.unwrap_or_else(|| self.managed.take());
    }

    /// The stored root key after the program was started with the same root key again: it gets the permissions, agents
    /// and expiry of `configured`, and keeps everything else.
    #[must_use]
    pub fn reinstated(self, configured: &Self) -> Self {
        Self {
            permissions: configured.permissions,
            agent_ids: configured.agent_ids.clone(),
            expires_at: configured.expires_at,
            ..self
        }
    }

    /// Whether this key sees `other`, a key of the same account. A key that is restricted to agents sees only keys that
    /// are restricted to some of the same agents.
    pub fn sees(&self, other: &Self) -> bool {
        let Some(own) = &self.agent_ids else { return true };
        other.agent_ids.as_ref().is_some_and(|ids| ids.iter().all(|id| own.contains(id)))
    }

    /// Checks that `other`, which this key creates or changes, has no more permissions than this key afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] and the first permission that this key lacks; [`Error::InvalidOperation`] if this key is
    /// restricted to agents and the other is not, or to others; [`Error::Invalid`] if the other would outlive this one.
    pub fn check_no_wider(&self, other: &Self) -> Result<(), Error> {
        self.check_reach(other)?;
        match self.expires_at {
            Some(own) if other.outlives(own) => Err(Error::invalid(
                "expires_at",
                format!("must not be later than {own}, when the key of the request expires"),
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Checks that this key covers `other` in its current state, and may therefore change or delete it. A key covers
    /// itself.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] and the first permission that this key lacks; [`Error::InvalidOperation`] if the other also
    /// has all future permissions, more agents or a later expiry.
    pub fn check_covers(&self, other: &Self) -> Result<(), Error> {
        self.check_reach(other)?;
        match self.expires_at {
            Some(own) if other.outlives(own) => Err(Error::InvalidOperation(format!(
                "the key of the request expires at {own} and cannot change or delete \
                 a key that expires later"
            ))),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether this key expires later than `end`.
    fn outlives(&self, end: Timestamp) -> bool {
        self.expires_at.is_none_or(|own| own > end)
    }

    /// Checks that `other` has no permission and no agent that this key lacks.
    fn check_reach(&self, other: &Self) -> Result<(), Error> {
        let lacking = |permission: &Permission| {
            other.permissions.allows(*permission) && !self.permissions.allows(*permission)
        };
        if let Some(permission) = Permission::ALL.into_iter().find(lacking) {
            return Err(Error::Forbidden(permission));
        }
        if !self.permissions.covers(other.permissions) {
            let text = "this key does not get permissions that are added later, so it cannot create, change \
                or delete a key that has `*`";
            return Err(Error::InvalidOperation(text.to_owned()));
        }
        if !self.sees(other) {
            let text =
                "this key is restricted to agents, so every key that it creates must be as well";
            return Err(Error::InvalidOperation(text.to_owned()));
        }
        Ok(())
    }
}

/// Checks that an account with `count` keys may have one more. Its expired keys are removed first.
///
/// # Errors
///
/// [`Error::Conflict`] if it has the maximum number.
pub fn may_add_key(count: usize) -> Result<(), Error> {
    if count < limits::ACCOUNT_KEYS {
        return Ok(());
    }
    let most = limits::ACCOUNT_KEYS;
    Err(Error::Conflict(format!(
        "the account has {most} API keys, which is the maximum; delete one first"
    )))
}

/// The error for a name that is taken by another account.
pub fn account_name_taken(name: &AccountName) -> Error {
    Error::Conflict(format!("an account named `{name}` exists"))
}

/// Reads the names of permissions.
///
/// # Errors
///
/// [`Error::Invalid`] if the list is empty or a name is not a permission.
pub fn parse_permissions(names: &[String]) -> Result<Permissions, Error> {
    if names.is_empty() {
        return Err(Error::invalid("permissions", "must name at least one permission"));
    }
    let mut all = Permissions::default();
    for (index, name) in names.iter().enumerate() {
        let one = Permissions::from_names([name.as_str()])
            .map_err(|error| Error::invalid(format!("permissions[{index}]"), error.to_string()))?;
        all = all.with(one);
    }
    Ok(all)
}

/// Reads the ids of agents and drops repeated ones. The store checks whether the agents exist.
///
/// # Errors
///
/// [`Error::Invalid`] if the list is empty or too long, or if a text is not the id of an agent.
pub fn parse_agent_ids(ids: &[String]) -> Result<Vec<Id<kind::Agent>>, Error> {
    if !(1..=limits::KEY_AGENTS).contains(&ids.len()) {
        let message = format!("must name 1 to {} agents, or be null for all", limits::KEY_AGENTS);
        return Err(Error::invalid("agent_ids", message));
    }
    let mut read: Vec<Id<kind::Agent>> = Vec::with_capacity(ids.len());
    for (index, text) in ids.iter().enumerate() {
        let id = text.parse().map_err(|_| unknown_agent(index))?;
        if !read.contains(&id) {
            read.push(id);
        }
    }
    Ok(read)
}

/// The error for an agent that does not exist or is outside the caller's scope.
pub fn unknown_agent(index: usize) -> Error {
    Error::invalid(format!("agent_ids[{index}]"), "must be the id of an agent")
}

/// Reads the expiry of a key, which must be in the future.
///
/// # Errors
///
/// [`Error::Invalid`] if the text is not a time in UTC, or if the time is not in the future.
pub fn parse_expiry(text: &str, now: Timestamp) -> Result<Timestamp, Error> {
    let end =
        Timestamp::parse(text).map_err(|error| Error::invalid("expires_at", error.to_string()))?;
    check_expiry(end, now)?;
    Ok(end)
}

/// Checks that the expiry of a key is in the future.
///
/// # Errors
///
/// [`Error::Invalid`] on the parameter `expires_at` if it is not.
pub fn check_expiry(end: Timestamp, now: Timestamp) -> Result<(), Error> {
    if end <= now {
        return Err(Error::invalid("expires_at", "must be in the future"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{KeyPatch, may_add_key, parse_agent_ids, parse_expiry, parse_permissions};
    use crate::access::KeyName;
    use crate::clock::SystemEntropy;
    use crate::{ApiKey, Error, Id, Permission, Permissions, Timestamp};

    fn key(permissions: &[&str]) -> ApiKey {
        ApiKey {
            id: Id::random(&SystemEntropy),
            account_id: Id::random(&SystemEntropy),
            name: KeyName::parse("key").unwrap(),
            permissions: Permissions::from_names(permissions.iter().copied()).unwrap(),
            agent_ids: None,
            expires_at: None,
            last_used_at: None,
            created_at: Timestamp::from_millis(0),
            hint: String::new(),
            managed: None,
        }
    }

    #[test]
    fn a_key_gives_no_more_than_it_has() {
        let own = key(&["keys:write", "agents:read"]);
        own.check_no_wider(&key(&["agents:read"])).unwrap();
        let wider = own.check_no_wider(&key(&["agents:read", "sources:read"])).unwrap_err();
        assert!(matches!(wider, Error::Forbidden(Permission::SourcesRead)));
        let every_one = key(&Permission::ALL.map(Permission::name));
        let everything = every_one.check_no_wider(&key(&["*"])).unwrap_err();
        assert!(matches!(everything, Error::InvalidOperation(_)));
        key(&["*"]).check_no_wider(&every_one).unwrap();
    }

    #[test]
    fn a_key_within_agents_sees_and_makes_those_within_the_same() {
        let [one, other] = [Id::random(&SystemEntropy), Id::random(&SystemEntropy)];
        let within = |agents: &[_]| ApiKey { agent_ids: Some(agents.to_vec()), ..key(&["*"]) };
        let own = within(&[one]);
        own.check_no_wider(&within(&[one])).unwrap();
        for wider in [within(&[other]), within(&[one, other]), key(&["*"])] {
            assert!(!own.sees(&wider));
            assert!(matches!(own.check_no_wider(&wider), Err(Error::InvalidOperation(_))));
        }
        assert!(key(&["*"]).sees(&own));
    }

    #[test]
    fn a_key_makes_none_that_outlives_it() {
        let until = |end| ApiKey { expires_at: Some(Timestamp::from_millis(end)), ..key(&["*"]) };
        until(10).check_no_wider(&until(10)).unwrap();
        key(&["*"]).check_no_wider(&until(10)).unwrap();
        for longer in [until(11), key(&["*"])] {
            assert!(matches!(until(10).check_no_wider(&longer), Err(Error::Invalid(_))));
        }
    }

    #[test]
    fn a_key_covers_itself_and_those_no_wider_in_permissions_agents_and_time() {
        let agent = Id::random(&SystemEntropy);
        let narrow = ApiKey {
            agent_ids: Some(vec![agent]),
            expires_at: Some(Timestamp::from_millis(10)),
            ..key(&["keys:write"])
        };
        narrow.check_covers(&narrow).unwrap();
        key(&["*"]).check_covers(&narrow).unwrap();
        let wider = ApiKey { permissions: Permissions::ALL, ..narrow.clone() };
        assert!(matches!(narrow.check_covers(&wider), Err(Error::Forbidden(_))));
        let longer = ApiKey { expires_at: None, ..narrow.clone() };
        assert!(matches!(narrow.check_covers(&longer), Err(Error::InvalidOperation(_))));
        let everywhere = ApiKey { agent_ids: None, ..narrow.clone() };
        assert!(matches!(narrow.check_covers(&everywhere), Err(Error::InvalidOperation(_))));
    }

    #[test]
    fn a_change_leaves_what_it_does_not_name() {
        let mut changed = key(&["agents:read"]);
        let before = changed.clone();
        changed.apply(KeyPatch::default());
        assert_eq!(changed, before);
        let end = Timestamp::from_millis(5);
        changed.apply(KeyPatch { expires_at: Some(Some(end)), ..KeyPatch::default() });
        assert_eq!(changed, ApiKey { expires_at: Some(end), ..before.clone() });
        changed.apply(KeyPatch { expires_at: Some(None), ..KeyPatch::default() });
        assert_eq!(changed, before);
    }

    #[test]
    fn a_root_key_gets_back_what_it_may_do_and_keeps_the_rest() {
        let configured = key(&["*"]);
        let narrowed = ApiKey {
            permissions: Permissions::default(),
            agent_ids: Some(vec![Id::random(&SystemEntropy)]),
            expires_at: Some(Timestamp::from_millis(10)),
            last_used_at: Some(Timestamp::from_millis(5)),
            ..key(&["*"])
        };
        let restored = narrowed.clone().reinstated(&configured);
        let expected =
            ApiKey { permissions: Permissions::ALL, agent_ids: None, expires_at: None, ..narrowed };
        assert_eq!(restored, expected);
    }

    #[test]
    fn an_account_has_1000_keys_at_most() {
        may_add_key(999).unwrap();
        assert!(matches!(may_add_key(1_000), Err(Error::Conflict(_))));
    }

    #[test]
    fn bad_values_are_named() {
        let param = |error: Error| match error {
            Error::Invalid(_) => error.params().join(" "),
            other => panic!("{other:?}"),
        };
        let names = ["agents:read".to_owned(), "agents".to_owned()];
        assert_eq!(param(parse_permissions(&names).unwrap_err()), "permissions[1]");
        assert_eq!(param(parse_permissions(&[]).unwrap_err()), "permissions");
        let ids = ["agent_0123456789".to_owned(), "src_0123456789".to_owned()];
        assert_eq!(param(parse_agent_ids(&ids).unwrap_err()), "agent_ids[1]");
        assert_eq!(param(parse_agent_ids(&[]).unwrap_err()), "agent_ids");
        let now = Timestamp::from_millis(1_000);
        assert_eq!(param(parse_expiry("1970-01-01T00:00:01Z", now).unwrap_err()), "expires_at");
        assert!(parse_expiry("1970-01-01T00:00:02Z", now).is_ok());
    }
}
