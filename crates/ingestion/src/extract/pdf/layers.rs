//! Layers that are switched off (optional content, ISO 32000-2, 8.11).

use std::collections::HashSet;

use hayro_syntax::object::{Array, Dict, Name, ObjectIdentifier};

/// The groups that the file's first configuration does not show.
#[derive(Debug, Default)]
pub(super) struct Layers {
    off: HashSet<ObjectIdentifier>,
}

impl Layers {
    pub(super) fn of(catalog: &Dict<'_>) -> Self {
        let mut off = HashSet::new();
        let properties = catalog.get::<Dict<'_>>(b"OCProperties").unwrap_or_default();
        let configuration = properties.get::<Dict<'_>>(b"D").unwrap_or_default();
        let base = configuration.get::<Name<'_>>(b"BaseState");
        if base.is_some_and(|base| base.as_ref() == b"OFF") {
            off.extend(groups(&properties, b"OCGs"));
        }
        for group in groups(&configuration, b"ON") {
            off.remove(&group);
        }
        off.extend(groups(&configuration, b"OFF"));
        Self { off }
    }

    /// Whether the content of a group, or of a group membership, is shown.
    pub(super) fn are_seen(&self, group: &Dict<'_>, id: Option<ObjectIdentifier>) -> bool {
        if self.off.is_empty() {
            return true;
        }
        let is_membership =
            group.get::<Name<'_>>(b"Type").is_some_and(|kind| kind.as_ref() == b"OCMD");
        if !is_membership {
            return id.is_none_or(|id| !self.off.contains(&id));
        }
        let mut groups: Vec<_> = groups(group, b"OCGs").collect();
        groups.extend(group.get_ref(b"OCGs").map(ObjectIdentifier::from));
        let is_off = |id: &ObjectIdentifier| self.off.contains(id);
        let policy = group.get::<Name<'_>>(b"P");
        groups.is_empty()
            || match policy.as_ref().map(AsRef::as_ref) {
                Some(b"AllOn") => !groups.iter().any(is_off),
                Some(b"AnyOff") => groups.iter().any(is_off),
                Some(b"AllOff") => groups.iter().all(is_off),
                _ => !groups.iter().all(is_off),
            }
    }
}

/// The groups of an array of references.
fn groups(dictionary: &Dict<'_>, key: &[u8]) -> impl Iterator<Item = ObjectIdentifier> {
    let groups = dictionary.get::<Array<'_>>(key);
    let groups: Vec<_> = groups
        .iter()
        .flat_map(Array::raw_iter)
        .filter_map(|group| group.as_obj_ref().map(Into::into))
        .collect();
    groups.into_iter()
}
