//! Settings of agents and changes of them.

use super::{
    Agent, AgentDraft, AgentName, AgentPatch, AgentProfile, AgentStatus, AnswerFloor,
    MODEL_DEFAULT, RetentionDays,
};
use crate::{Id, SystemEntropy, Timestamp};

fn draft(name: &str) -> AgentDraft {
    AgentDraft { name: name.to_owned(), ..AgentDraft::default() }
}

fn agent() -> Agent {
    Agent {
        id: Id::random(&SystemEntropy),
        account_id: Id::random(&SystemEntropy),
        profile: AgentProfile::parse(draft("Guide"), |_| true).unwrap(),
        status: AgentStatus::Active,
        created_at: Timestamp::from_millis(5),
        updated_at: Timestamp::from_millis(5),
        index_generation: 0,
    }
}

#[test]
fn what_a_draft_does_not_name_takes_its_default() {
    let profile = agent().profile;
    assert_eq!(profile.model.as_str(), MODEL_DEFAULT);
    assert_eq!(profile.system_prompt.as_str(), "");
    assert_eq!((profile.temperature.get(), profile.max_tokens.get()), (0.7, 1_024));
    assert_eq!(profile.retention_days, None);
    assert_eq!(profile.answer_floor, AnswerFloor::Balanced);
    assert!(!profile.public_sources && profile.receipts && !profile.source_list);
}

#[test]
fn each_field_of_a_draft_has_its_limits() {
    let param = |draft| {
        let known = |model: &str| model == MODEL_DEFAULT;
        AgentProfile::parse(draft, known).map_err(|error| error.params().join(" "))
    };
    let named = || draft("Guide");
    assert_eq!(param(draft(" ")), Err("name".to_owned()));
    for (bad, field) in [
        (AgentDraft { model: Some("gpt-9".to_owned()), ..named() }, "model"),
        (AgentDraft { system_prompt: Some("x".repeat(4_001)), ..named() }, "system_prompt"),
        (AgentDraft { temperature: Some(2.01), ..named() }, "temperature"),
        (AgentDraft { temperature: Some(f64::NAN), ..named() }, "temperature"),
        (AgentDraft { max_tokens: Some(0), ..named() }, "max_tokens"),
        (AgentDraft { max_tokens: Some(4_097), ..named() }, "max_tokens"),
        (AgentDraft { retention_days: Some(3_651), ..named() }, "retention_days"),
        (AgentDraft { answer_floor: Some("low".to_owned()), ..named() }, "answer_floor"),
    ] {
        assert_eq!(param(bad), Err(field.to_owned()));
    }
    let all = AgentDraft { temperature: Some(-1.0), max_tokens: Some(0), ..draft("") };
    assert_eq!(param(all), Err("name temperature max_tokens".to_owned()));
    for good in [
        AgentDraft { system_prompt: Some("x".repeat(4_000)), ..named() },
        AgentDraft { temperature: Some(2.0), ..named() },
        AgentDraft { max_tokens: Some(4_096), ..named() },
        AgentDraft { retention_days: Some(3_650), ..named() },
    ] {
        assert!(param(good).is_ok());
    }
}

#[test]
fn conversations_are_kept_for_so_many_days() {
    let now = Timestamp::parse("2026-03-01T12:00:00Z").unwrap();
    let since = RetentionDays::parse(2).unwrap().kept_since(now);
    assert_eq!(since.to_string(), "2026-02-27T12:00:00.000Z");
}

#[test]
fn a_change_leaves_what_it_does_not_name() {
    let before = agent();
    let mut changed = before.clone();
    changed.apply(AgentPatch::default(), Timestamp::from_millis(3));
    assert_eq!(changed, before, "and a clock that was put back moves no time");
    let days = RetentionDays::parse(30).unwrap();
    let patch = AgentPatch {
        name: Some(AgentName::parse("Other").unwrap()),
        retention_days: Some(Some(days)),
        answer_floor: Some(AnswerFloor::Eager),
        public_sources: Some(true),
        receipts: Some(false),
        source_list: Some(true),
        status: Some(AgentStatus::Paused),
        ..AgentPatch::default()
    };
    changed.apply(patch, Timestamp::from_millis(7));
    assert_eq!(changed.profile.name.as_str(), "Other");
    assert_eq!(changed.profile.retention_days, Some(days));
    assert_eq!(changed.profile.answer_floor, AnswerFloor::Eager);
    assert!(changed.profile.public_sources && !changed.profile.receipts);
    assert!(changed.profile.source_list);
    assert_eq!(changed.profile.model, before.profile.model);
    assert_eq!(changed.status, AgentStatus::Paused);
    assert_eq!(changed.updated_at, Timestamp::from_millis(7));
    let keep = AgentPatch { retention_days: Some(None), ..AgentPatch::default() };
    changed.apply(keep, Timestamp::from_millis(8));
    assert_eq!(changed.profile.retention_days, None);
}
