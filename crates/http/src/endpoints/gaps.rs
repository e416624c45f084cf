//! Gaps: what their endpoints share.

pub(super) mod answer;
pub(super) mod list;
pub(super) mod update;
