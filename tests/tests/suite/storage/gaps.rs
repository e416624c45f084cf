//! Gaps: their questions, groups and limit, and their removal.

use cicerone_domain::conversation::{Channel, NewRating};
use cicerone_domain::gap::{
    CheckedGap, GapChange, GapFilter, GapLimit, GapList, GapStatus, Joined, PlacedQuestion,
};
use cicerone_domain::ports::{
    AgentStore as _, ConversationStore as _, GapAnswer, GapStore as _, Housekeeping as _,
    SourceStore as _,
};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::source::{PairsText, QaPair};
use cicerone_domain::{Agent, Conversation, Error, Id, Source, SourceContent, Timestamp, kind};

use super::fixture::{World, assert_not_found, extracted, new_id, new_job, on_each};

/// Asks a question that is not answered, in a new conversation.
async fn ask(world: &World, agent: &Agent, question: &str) -> Conversation {
    let mut turn = world.first_turn(agent, &[]);
    turn.question.content = question.to_owned();
    world.storage.append_turn(turn, None).await.unwrap().conversation
}

fn filter(status: GapStatus) -> GapFilter {
    GapFilter { status, limit: GapLimit::default() }
}

async fn list(world: &World, agent: &Agent, status: GapStatus) -> GapList {
    world.storage.list_gaps(&world.scope(), agent.id, filter(status)).await.unwrap()
}

/// The first question, count and status of each gap, whatever its status.
async fn all(world: &World, agent: &Agent) -> Vec<(String, u64, GapStatus)> {
    let mut all = Vec::new();
    for status in GapStatus::ALL {
        let gaps = list(world, agent, status).await.gaps;
        let each =
            gaps.into_iter().map(|gap| (gap.question, gap.unanswered + gap.rated_down, status));
        all.extend(each);
    }
    all
}

/// Reads what is not grouped, and puts all of it into the gap that the first question begins, or into the known one.
async fn read(world: &World, agent: &Agent) -> Vec<PlacedQuestion> {
    let found = world.storage.ungrouped(&world.scope(), agent.id).await.unwrap();
    let joined = if found.gaps.is_empty() { Joined::Question(0) } else { Joined::Group(0) };
    found.place(&vec![joined; found.questions.len()])
}

async fn place(world: &World, agent: &Agent, placed: Vec<PlacedQuestion>) {
    world.storage.place(&world.scope(), agent.id, placed, world.now()).await.unwrap();
}

fn version(agent: &Agent) -> AgentVersion {
    AgentVersion::of(agent)
}

/// The only gap of an agent that has this status.
async fn only(world: &World, agent: &Agent, status: GapStatus) -> Id<kind::Gap> {
    let gaps = list(world, agent, status).await.gaps;
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    gaps[0].id
}

#[tokio::test]
async fn a_turn_adds_a_question_only_if_it_is_not_answered() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = ask(world, &agent, "Is parking free?").await;
        let mut openai = world.first_turn(&agent, &[]);
        openai.conversation.channel = Channel::OpenAi;
        let openai = world.storage.append_turn(openai, None).await.unwrap().conversation;
        let uncounted = world.first_turn(&agent, &[]);
        world.storage.count_reply(uncounted, None).await.unwrap();
        assert_eq!(world.count("gap_questions"), 1);
        let next = world.next_turn(&conversation, "And on Sundays?");
        world.storage.append_turn(next, None).await.unwrap();
        let found = world.storage.ungrouped(&world.scope(), agent.id).await.unwrap();
        let shown: Vec<_> =
            found.questions.iter().map(|one| (one.at.number(), one.text.as_str())).collect();
        assert_eq!(shown, [(1, "Is parking free?"), (3, "And on Sundays?")]);
        assert_eq!(found.gaps, []);
        // A rating adds nothing that is there, and nothing of other interfaces.
        let (scope, now) = (world.scope(), world.now());
        for id in [conversation.id, openai.id] {
            let down = NewRating::parse("down", None).unwrap();
            world.storage.rate_message(&scope, id, 2, down, new_id(), now).await.unwrap();
        }
        assert_eq!(world.count("gap_questions"), 2);
    })
    .await;
}

#[tokio::test]
async fn questions_that_another_request_has_placed_are_skipped() {
    on_each(async |world| {
        let agent = world.agent().await;
        ask(world, &agent, "Is parking free?").await;
        ask(world, &agent, "is parking free").await;
        let (one, other) = (read(world, &agent).await, read(world, &agent).await);
        place(world, &agent, one.clone()).await;
        ask(world, &agent, "Parking?").await;
        place(world, &agent, other).await;
        let free = "Is parking free?".to_owned();
        assert_eq!(all(world, &agent).await, [(free.clone(), 2, GapStatus::Open)]);
        assert_eq!(list(world, &agent, GapStatus::Open).await.ungrouped, 1);
        // Nothing is added to a gap that has been removed.
        let mut placed = read(world, &agent).await;
        placed[0].gap = new_id();
        place(world, &agent, placed).await;
        assert_eq!(list(world, &agent, GapStatus::Open).await.ungrouped, 1);
        place(world, &agent, read(world, &agent).await).await;
        assert_eq!(all(world, &agent).await, [(free, 3, GapStatus::Open)]);
        assert_eq!(world.count("gaps"), 1);
        // What exists only in another agent is not placed.
        let elsewhere = world.agent().await;
        ask(world, &agent, "Parking?").await;
        let mut placed = read(world, &agent).await;
        placed[0].is_new = true;
        placed[0].gap = new_id();
        place(world, &elsewhere, placed).await;
        assert_eq!((world.count("gaps"), all(world, &elsewhere).await), (1, Vec::new()));
    })
    .await;
}

#[tokio::test]
async fn only_later_questions_open_an_answered_gap() {
    on_each(async |world| {
        let agent = world.agent().await;
        ask(world, &agent, "Is parking free?").await;
        place(world, &agent, read(world, &agent).await).await;
        ask(world, &agent, "is parking free").await;
        let gap = only(world, &agent, GapStatus::Open).await;
        let checked = vec![CheckedGap { id: gap, is_answered: true }];
        world.storage.note_checked(version(&agent), checked, world.now()).await.unwrap();
        assert_eq!(only(world, &agent, GapStatus::Answered).await, gap);
        place(world, &agent, read(world, &agent).await).await;
        assert_eq!(only(world, &agent, GapStatus::Answered).await, gap, "asked before");
        ask(world, &agent, "parking").await;
        place(world, &agent, read(world, &agent).await).await;
        let open = list(world, &agent, GapStatus::Open).await.gaps;
        assert_eq!((open[0].id, open[0].unanswered), (gap, 3));
        assert!(!open[0].is_due(agent.index_generation), "it was searched for already");
        assert!(open[0].is_due(agent.index_generation + 1));
        // A dismissed one stays.
        let (scope, change) = (world.scope(), GapChange::Dismiss);
        let changed =
            world.storage.change_gap(&scope, agent.id, gap, change, world.now(), None).await;
        assert_eq!(changed.unwrap().status, GapStatus::Dismissed);
        ask(world, &agent, "parking").await;
        place(world, &agent, read(world, &agent).await).await;
        assert_eq!(only(world, &agent, GapStatus::Dismissed).await, gap);
        // Nor is it closed by a search that was made while it was open.
        let checked = vec![CheckedGap { id: gap, is_answered: true }];
        world.storage.note_checked(version(&agent), checked, world.now()).await.unwrap();
        assert_eq!(only(world, &agent, GapStatus::Dismissed).await, gap);
    })
    .await;
}

fn answer(world: &World, agent: &Agent, gap: Id<kind::Gap>, source: Option<&Source>) -> GapAnswer {
    let pair = QaPair::parse("Is parking free?".to_owned(), "Yes.".to_owned()).unwrap();
    let content = SourceContent::Qa(PairsText::of(std::slice::from_ref(&pair)).unwrap());
    let fresh = world.new_source(agent, content);
    let source = source.map(|source| source.id);
    GapAnswer { agent: agent.id, gap, pair, source, fresh, job: new_job() }
}

#[tokio::test]
async fn outside_of_its_scope_there_is_no_gap() {
    on_each(async |world| {
        let (agent, other) = (world.agent().await, world.agent().await);
        ask(world, &agent, "Is parking free?").await;
        place(world, &agent, read(world, &agent).await).await;
        let gap = only(world, &agent, GapStatus::Open).await;
        let (storage, now) = (&world.storage, world.now());
        for outside in world.outside().await {
            assert_not_found(storage.ungrouped(&outside, agent.id).await, "agent");
            assert_not_found(storage.place(&outside, agent.id, Vec::new(), now).await, "agent");
            let listed = storage.list_gaps(&outside, agent.id, filter(GapStatus::Open)).await;
            assert_not_found(listed, "agent");
            let change = GapChange::Dismiss;
            let changed = storage.change_gap(&outside, agent.id, gap, change, now, None).await;
            assert_not_found(changed, "agent");
            let answered =
                storage.answer_gap(&outside, answer(world, &agent, gap, None), now, None);
            assert_not_found(answered.await, "agent");
        }
        let scope = world.scope();
        for (of, gap) in [(&other, gap), (&agent, new_id())] {
            let change = GapChange::Dismiss;
            let changed = storage.change_gap(&scope, of.id, gap, change, now, None).await;
            assert_not_found(changed, "gap");
            let answered =
                storage.answer_gap(&scope, answer(world, of, gap, None), now, None).await;
            assert_not_found(answered, "gap");
        }
        let foreign = world.text_source(&other).await;
        let named = answer(world, &agent, gap, Some(&foreign));
        let refused = storage.answer_gap(&scope, named, now, None).await;
        assert!(
            matches!(&refused, Err(Error::Invalid(bad)) if bad.first().param == "source_id"),
            "{refused:?}"
        );
        let answered =
            storage.answer_gap(&scope, answer(world, &agent, gap, None), now, None).await;
        let source = answered.unwrap();
        assert_eq!(
            list(world, &agent, GapStatus::Answered).await.gaps[0].source_id,
            Some(source.id)
        );
        let again = storage.answer_gap(&scope, answer(world, &agent, gap, None), now, None).await;
        assert!(matches!(again, Err(Error::Busy(_))), "{again:?}");
        // The settings of the agent do not lose its source for gaps.
        let patch = Default::default();
        storage.update_agent(&scope, agent.id, patch, now, None).await.unwrap();
        let again = storage.answer_gap(&scope, answer(world, &agent, gap, None), now, None).await;
        assert!(matches!(again, Err(Error::Busy(_))), "{again:?}");
    })
    .await;
}

#[tokio::test]
async fn an_answer_is_not_refused_because_the_own_source_is_deleted_meanwhile() {
    on_each(async |world| {
        let agent = world.agent().await;
        ask(world, &agent, "Is parking free?").await;
        place(world, &agent, read(world, &agent).await).await;
        let gap = only(world, &agent, GapStatus::Open).await;
        let (storage, scope) = (&world.storage, world.scope());
        let add = async || {
            let answer = answer(world, &agent, gap, None);
            storage.answer_gap(&scope, answer, world.now(), None).await
        };
        let mut source = add().await.unwrap();
        for round in 0..20 {
            world.finish(&source, extracted("Parking is free.", 1)).await;
            let delete = storage.delete_source(&scope, source.id, world.now(), None);
            let (answered, deleted) = tokio::join!(add(), delete);
            deleted.unwrap();
            source = match answered {
                Ok(added) if added.id != source.id => added,
                // It was deleted after the pair was read or added.
                Ok(_) | Err(Error::Busy(_)) => add().await.unwrap(),
                Err(error) => panic!("round {round}: {error:?}"),
            };
        }
    })
    .await;
}

#[tokio::test]
async fn a_conversation_that_is_being_deleted_shows_no_question() {
    on_each(async |world| {
        let agent = world.agent().await;
        let first = ask(world, &agent, "Is parking free?").await;
        ask(world, &agent, "is parking free").await;
        place(world, &agent, read(world, &agent).await).await;
        ask(world, &agent, "parking").await;
        world.execute("UPDATE conversations SET removed_at = 1");
        assert_eq!(all(world, &agent).await, []);
        let found = world.storage.ungrouped(&world.scope(), agent.id).await.unwrap();
        assert_eq!(found.questions, []);
        assert_eq!(list(world, &agent, GapStatus::Open).await.ungrouped, 0);
        world.execute(&format!(
            "UPDATE conversations SET removed_at = NULL WHERE id <> '{}'",
            first.id
        ));
        let open = ("is parking free".to_owned(), 1, GapStatus::Open);
        assert_eq!(all(world, &agent).await, [open]);
        let found = world.storage.ungrouped(&world.scope(), agent.id).await.unwrap();
        assert_eq!(found.gaps[0].questions, ["is parking free"]);
    })
    .await;
}

/// Adds this many questions to an agent, each a millisecond after the other, in one conversation; every other one is in
/// the gap, if there is one.
async fn many(world: &World, agent: &Agent, count: u32, gap: Option<Id<kind::Gap>>) {
    let id = world.conversation(agent, &[]).await.id;
    let numbers = format!(
        "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
    );
    world.execute(&format!(
        "INSERT INTO messages (conversation_id, position, account_id, role, content, created_at) \
         {numbers} SELECT '{id}', i, '{}', 'user', 'Is locker free?', i FROM n",
        world.account
    ));
    let gap = gap.map_or("NULL".to_owned(), |gap| format!("CASE WHEN i % 2 = 0 THEN '{gap}' END"));
    world.execute(&format!(
        "INSERT INTO gap_questions \
           (conversation_id, position, account_id, agent_id, reason, gap_id, asked_at) \
         {numbers} SELECT '{id}', i, '{}', '{}', 'unanswered', {gap}, i FROM n",
        world.account, agent.id
    ));
}

#[tokio::test]
async fn the_newest_10000_questions_of_an_agent_are_kept() {
    on_each(async |world| {
        let (agent, other) = (world.agent().await, world.agent().await);
        ask(world, &other, "Is parking free?").await;
        place(world, &other, read(world, &other).await).await;
        // With the question that begins the conversation, which is newer than all of these.
        many(world, &agent, 10_700, None).await;
        assert_eq!(world.count("gap_questions"), 1 + 10_700);
        let (removed, next) = world.storage.expire_gaps(None).await.unwrap();
        assert_eq!((removed, next), (700, None));
        let of = format!("agent_id = '{}'", agent.id);
        assert_eq!(world.count_where("gap_questions", &of), 10_000);
        assert_eq!(world.count_where("gap_questions", &format!("{of} AND asked_at <= 701")), 0);
        assert_eq!(world.storage.expire_gaps(None).await.unwrap(), (0, None));
        assert_eq!(all(world, &other).await.len(), 1, "other agents keep theirs");
    })
    .await;
}

#[tokio::test]
async fn gaps_without_questions_are_removed_for_all_agents_in_rounds() {
    on_each(async |world| {
        let mut agents = Vec::new();
        for _ in 0..201 {
            agents.push(world.agent().await);
        }
        agents.sort_by_key(|agent| agent.id);
        let mut conversations = Vec::new();
        for agent in [&agents[0], &agents[200]] {
            conversations.push(ask(world, agent, "Is parking free?").await);
            ask(world, agent, "Can I bring my dog?").await;
            let found = world.storage.ungrouped(&world.scope(), agent.id).await.unwrap();
            place(world, agent, found.place(&[Joined::Question(0), Joined::Question(1)])).await;
        }
        for conversation in conversations {
            let (scope, now) = (world.scope(), world.now());
            world.storage.delete_conversation(&scope, conversation.id, now, None).await.unwrap();
        }
        assert_eq!(world.count("gaps"), 4);
        let (_, next) = world.storage.expire_gaps(None).await.unwrap();
        assert_eq!((next, world.count("gaps")), (Some(agents[199].id), 3));
        let (_, next) = world.storage.expire_gaps(next).await.unwrap();
        assert_eq!((next, world.count("gaps")), (None, 2));
        assert_eq!(all(world, &agents[200]).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn gaps_are_deleted_with_their_agent_in_parts() {
    on_each(async |world| {
        let agent = world.agent().await;
        many(world, &agent, 3_000, Some(new_id())).await;
        world.execute(&format!(
            "INSERT INTO gaps (id, account_id, agent_id, status, created_at) \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) \
             SELECT 'gap_' || (1000000000 + i), '{}', '{}', 'open', 1 FROM n",
            world.account, agent.id
        ));
        world.storage.delete_agent(&world.scope(), agent.id, world.now(), None).await.unwrap();
        for table in ["gaps", "gap_questions", "messages", "conversations", "agents"] {
            assert_eq!(world.count(table), 0, "{table}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_most_frequent_gaps_are_listed_first_with_their_latest_questions() {
    on_each(async |world| {
        let agent = world.agent().await;
        for question in ["a", "b", "b", "c", "c", "c", "c", "c", "c", "d"] {
            ask(world, &agent, question).await;
        }
        let found = world.storage.ungrouped(&world.scope(), agent.id).await.unwrap();
        let first = |text: &str| found.questions.iter().position(|one| one.text == text).unwrap();
        let joined: Vec<Joined> =
            found.questions.iter().map(|one| Joined::Question(first(&one.text))).collect();
        place(world, &agent, found.place(&joined)).await;
        let listed = list(world, &agent, GapStatus::Open).await.gaps;
        let shown: Vec<_> = listed.iter().map(|gap| (&*gap.question, gap.unanswered)).collect();
        assert_eq!(shown, [("c", 6), ("b", 2), ("d", 1), ("a", 1)]);
        assert_eq!(listed[0].examples.len(), 5);
        let times: Vec<Timestamp> = listed[0].examples.iter().map(|one| one.asked_at).collect();
        assert!(times.is_sorted_by(|newer, older| newer > older), "{times:?}");
        assert_eq!(listed[0].last_asked_at, times[0]);
        assert!(listed[0].first_asked_at < times[4]);
        let limit = GapLimit::parse("2").unwrap();
        let filter = GapFilter { status: GapStatus::Open, limit };
        let two = world.storage.list_gaps(&world.scope(), agent.id, filter).await.unwrap();
        assert_eq!(two.gaps, listed[..2]);
    })
    .await;
}
