use super::{
    Check, CheckList, CheckResult, CheckRun, Comparison, ComparisonOutcome, GivenCheck, RunStatus,
    RunTrigger,
};
use crate::clock::SystemEntropy;
use crate::conversation::{Citation, CitedPassage, Message, Role};
use crate::{Error, Id, Timestamp, limits};

fn reply(content: &str, cited: &[(&str, Option<&str>)]) -> Message {
    let citation = |(id, url): &(&str, Option<&str>)| Citation {
        id: id.parse().unwrap(),
        title: "Hours".to_owned(),
        url: None,
        document_id: None,
        passages: vec![CitedPassage {
            document_id: Id::random(&SystemEntropy),
            position: 0,
            title: None,
            url: url.map(str::to_owned),
            page: None,
            heading: None,
            text: String::new(),
        }],
    };
    Message {
        role: Role::Assistant,
        content: content.to_owned(),
        sources_used: cited.iter().map(citation).collect(),
        timestamp: Timestamp::from_millis(0),
    }
}

fn check(contains: &[&str], sources: &[&str], answered: Option<bool>) -> Check {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let question = "When do you open?".to_owned();
    Check { question, contains: texts(contains), sources: texts(sources), answered }
}

#[test]
fn a_reply_must_meet_every_expectation() {
    let (a, b) = ("src_aaaaaaaaaa", "src_bbbbbbbbbb");
    let said = reply("Wir öffnen um NEUN Uhr.", &[(a, Some("https://example.com/hours"))]);
    for (check, reason) in [
        (check(&["ÖFFNEN", "neun"], &[], None), None),
        (check(&["neun", "zehn"], &[], None), Some("the reply lacks `zehn`")),
        (check(&[], &[a, "https://EXAMPLE.com/hours"], Some(true)), None),
        (check(&[], &[a, b], None), Some("the reply does not cite `src_bbbbbbbbbb`")),
        (check(&["neun"], &[], Some(false)), Some("the question is answered, but must not be")),
    ] {
        let result = check.judge(&said);
        assert_eq!((result.passed, result.reason.as_deref()), (reason.is_none(), reason));
    }
    let silent = reply("I do not know.", &[]);
    assert!(check(&[], &[], Some(false)).judge(&silent).passed);
    let result = check(&[], &[], Some(true)).judge(&silent);
    assert_eq!(result.reason.as_deref(), Some("the question is not answered"));
    let long = check(&["x"], &[], None).judge(&reply(&"x".repeat(2_000), &[]));
    assert_eq!(long.reply.chars().count(), limits::CHECK_REPLY_CHARS);
}

fn given(question: &str) -> GivenCheck {
    let contains = Some(vec!["nine".to_owned()]);
    GivenCheck { question: Some(question.to_owned()), contains, ..GivenCheck::default() }
}

#[test]
fn what_is_out_of_its_limits_is_named_by_its_path() {
    let with = |change: fn(&mut GivenCheck)| {
        let mut second = given("b");
        change(&mut second);
        vec![given("a"), second]
    };
    assert_eq!(
        CheckList::parse(vec![given("a"); limits::CHECKS]).unwrap().as_slice().len(),
        limits::CHECKS
    );
    assert_eq!(CheckList::parse(Vec::new()).unwrap(), CheckList::default());
    let crabs = "🦀".repeat(limits::MESSAGE_CHARS);
    let large = vec![given(&crabs); limits::CHECKS_BYTES / crabs.len() + 1];
    for (checks, param) in [
        (vec![given("a"); limits::CHECKS + 1], "checks"),
        (large, "checks"),
        (with(|check| check.question = Some(" \n".to_owned())), "checks[1].question"),
        (with(|check| check.question = Some("x".repeat(4_001))), "checks[1].question"),
        (with(|check| check.contains = None), "checks[1]"),
        (with(|check| check.contains = Some(vec!["x".to_owned(); 6])), "checks[1].contains"),
        (
            with(|check| check.contains = Some(vec!["x".to_owned(), "x".repeat(201)])),
            "checks[1].contains[1]",
        ),
        (
            with(|check| check.sources = Some(vec!["ftp://example.com".to_owned()])),
            "checks[1].sources[0]",
        ),
    ] {
        let error = CheckList::parse(checks).unwrap_err();
        assert!(matches!(error, Error::Invalid(_)), "{error:?}");
        assert_eq!(error.params(), [param]);
    }
    let without = with(|check| check.question = None);
    let error = CheckList::parse(without).unwrap_err();
    assert!(matches!(error, Error::Missing(_)), "{error:?}");
    assert_eq!(error.params(), ["checks[1].question"]);
    let mut many = with(|check| {
        check.contains = Some(vec![String::new(), "x".to_owned()]);
        check.sources = Some(vec!["museum".to_owned()]);
    });
    many.push(given(" "));
    let error = CheckList::parse(many).unwrap_err();
    let all = ["checks[1].contains[0]", "checks[1].sources[0]", "checks[2].question"];
    assert_eq!(error.params(), all);
}

fn run(failed: &[&str]) -> CheckRun {
    let ids = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
    let run = Id::random(&SystemEntropy);
    let mut run = CheckRun::new(run, ids, (RunTrigger::Request, None), Timestamp::from_millis(0));
    run.status = RunStatus::Done;
    run.results = failed
        .iter()
        .map(|question| CheckResult {
            question: (*question).to_owned(),
            passed: false,
            reason: Some("the reply lacks `nine`".to_owned()),
            reply: String::new(),
        })
        .collect();
    run
}

#[test]
fn an_event_tells_what_fails_now_and_did_not_before() {
    let (id, now) = (Id::random(&SystemEntropy), Timestamp::from_millis(5));
    let tells = |run: &CheckRun, before: Option<&CheckRun>| run.event(before, id, now).is_some();
    assert!(!tells(&run(&[]), None));
    assert!(!tells(&run(&[]), Some(&run(&["a"]))));
    assert!(tells(&run(&["a"]), None));
    assert!(tells(&run(&["a"]), Some(&run(&[]))));
    assert!(tells(&run(&["a"]), Some(&run(&["a", "b"]))));
    assert!(tells(&run(&["a"]), Some(&run(&["b"]))), "as many, and others");
    assert!(!tells(&run(&["a"]), Some(&run(&["a"]))));
    assert!(!tells(&CheckRun { status: RunStatus::Failed, ..run(&["a"]) }, None));
    let long = "long ".repeat(500);
    let event = run(&vec![long.as_str(); 100]).event(None, id, now).unwrap();
    let payload: serde_json::Value = serde_json::from_str(&event.payload).unwrap();
    assert_eq!(
        (&payload["event"], &payload["data"]["failed"]),
        (&"checks.failed".into(), &100.into())
    );
    assert_eq!(payload["data"]["questions"].as_array().unwrap().len(), 20);
    assert!(event.payload.len() < 10_000);
}

#[test]
fn a_refusal_names_a_lost_answer_and_not_another_failure() {
    let results = run(&["Never answered?", "When does it open?"]).results;
    let compared = |lost: &[&str]| Comparison {
        began_at: Timestamp::from_millis(0),
        outcome: ComparisonOutcome::Compared {
            results: results.clone(),
            lost: lost.iter().map(|question| (*question).to_owned()).collect(),
        },
    };
    let refusal = compared(&["When does it open?"]).refusal().unwrap();
    assert!(refusal.ends_with("1 of 2 checks would fail, first `When does it open?`"), "{refusal}");
    assert_eq!(compared(&[]).refusal(), None);
}
