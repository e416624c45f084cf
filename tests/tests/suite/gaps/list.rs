//! `GET /v1/agents/{agent_id}/gaps`.

use cicerone_tests::answer::{is_id, is_timestamp};
use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Server};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{open, path, with_status};
use crate::coverage::Covers;
use crate::world::{CRAB, NO_AGENT, client, own_server};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/agents/{agent_id}/gaps",
    cases: &[
        ("200", alike_questions_are_one_gap_and_the_most_frequent_is_first),
        ("400 invalid_parameter", bad_values_are_refused_with_their_names),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

async fn rate(client: &Client, conversation: &str, value: &str) {
    let path = format!("/v1/conversations/{conversation}/messages/2/rating");
    client.put(&path, json!({ "value": value })).await.expect(200);
}

#[tokio::test]
async fn alike_questions_are_one_gap_and_the_most_frequent_is_first() {
    let client = client();
    let agent = client.agent().await;
    assert_eq!(client.get(&path(&agent)).await.expect(200), json!({ "data": [], "ungrouped": 0 }));
    client.text(&agent, "The museum opens at nine.").await;
    client.ask(&agent, "When does the museum open?").await;
    let lift = id(&client.ask(&agent, "Is there a lift?").await);
    let first = client.ask(&agent, "Is parking free?").await;
    let last = id(&client.ask(&agent, "do i pay for parking").await);
    let list = client.get(&path(&agent)).await.expect(200);
    assert_eq!(list["ungrouped"], 0);
    let gaps = list["data"].as_array().unwrap();
    assert_eq!(gaps.len(), 2, "{list}");
    let parking = &gaps[0];
    assert!(is_id(parking["id"].as_str().unwrap(), "gap_"), "{parking}");
    assert_eq!(parking["question"], "Is parking free?");
    assert_eq!((&parking["status"], &parking["source_id"]), (&json!("open"), &Value::Null));
    for (field, number) in [("count", 2), ("unanswered", 2), ("rated_down", 0)] {
        assert_eq!(parking[field], number, "{field} of {parking}");
    }
    for field in ["first_asked_at", "last_asked_at"] {
        assert!(is_timestamp(parking[field].as_str().unwrap()), "{parking}");
    }
    assert_eq!(parking["last_asked_at"], parking["examples"][0]["asked_at"]);
    let shown: Vec<_> = parking["examples"].as_array().unwrap().iter().collect();
    assert_eq!((&shown[0]["conversation_id"], &shown[0]["n"]), (&json!(last), &json!(1)));
    assert_eq!(shown[0]["text"], "do i pay for parking");
    assert_eq!(shown[1]["conversation_id"], first["id"]);
    assert_eq!(gaps[1]["examples"][0]["conversation_id"], lift.as_str());
    // The same request again changes nothing.
    assert_eq!(client.get(&path(&agent)).await.expect(200), list);
    let one = client.get(&format!("{}?limit=1", path(&agent))).await.expect(200);
    assert_eq!(one["data"], json!([parking]));
}

#[tokio::test]
async fn of_gaps_that_are_as_frequent_the_latest_question_decides() {
    let client = client();
    let agent = client.agent().await;
    for question in ["Is there a lift?", "Is parking free?", "Can I bring my dog?"] {
        client.ask(&agent, question).await;
    }
    let questions: Vec<_> =
        open(&client, &agent).await.iter().map(|gap| gap["question"].clone()).collect();
    assert_eq!(questions, ["Can I bring my dog?", "Is parking free?", "Is there a lift?"]);
}

#[tokio::test]
async fn replies_that_are_rated_down_are_gaps_until_the_rating_changes() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine.").await;
    let answered = id(&client.ask(&agent, "When does the museum open?").await);
    let refused = id(&client.ask(&agent, "Which volcano erupted in Iceland?").await);
    let counts = async || {
        let mut all = Vec::new();
        for gap in open(&client, &agent).await {
            all.push((gap["unanswered"].as_u64().unwrap(), gap["rated_down"].as_u64().unwrap()));
        }
        all.sort();
        all
    };
    assert_eq!(counts().await, [(1, 0)]);
    rate(&client, &answered, "down").await;
    rate(&client, &refused, "down").await;
    assert_eq!(counts().await, [(0, 1), (1, 0)], "one question is in one gap once");
    rate(&client, &answered, "down").await;
    assert_eq!(counts().await, [(0, 1), (1, 0)]);
    rate(&client, &answered, "up").await;
    rate(&client, &refused, "up").await;
    assert_eq!(counts().await, [(1, 0)], "an unanswered question stays one");
    rate(&client, &answered, "down").await;
    assert_eq!(counts().await, [(0, 1), (1, 0)]);
    let rating = format!("/v1/conversations/{answered}/messages/2/rating");
    client.delete(&rating).await.expect_nothing();
    assert_eq!(counts().await, [(1, 0)]);
}

#[tokio::test]
async fn a_deleted_conversation_leaves_nothing_of_its_questions() {
    let client = client();
    let agent = client.agent().await;
    let first = id(&client.ask(&agent, "Is parking free?").await);
    let second = id(&client.ask(&agent, "is the parking free").await);
    let gap = open(&client, &agent).await.remove(0);
    assert_eq!(gap["count"], 2);
    client.delete(&format!("/v1/conversations/{first}")).await.expect_nothing();
    let left = open(&client, &agent).await.remove(0);
    assert_eq!((&left["id"], &left["count"]), (&gap["id"], &json!(1)));
    assert_eq!(left["question"], "is the parking free");
    client.delete(&format!("/v1/conversations/{second}")).await.expect_nothing();
    assert_eq!(open(&client, &agent).await, Vec::<Value>::new());
    let change = json!({ "status": "dismissed" });
    let empty = format!("{}/{}", path(&agent), id(&gap));
    client.patch(&empty, change).await.refused(404, "resource_not_found");
    // The same question begins a gap again.
    client.ask(&agent, "Is parking free?").await;
    assert_eq!(open(&client, &agent).await[0]["count"], 1);
}

#[tokio::test]
async fn a_gap_is_closed_when_its_question_is_answered_and_opened_by_the_next_one() {
    let client = client();
    let agent = client.agent().await;
    client.ask(&agent, "When does the museum open?").await;
    client.ask(&agent, "Which volcano erupted in Iceland?").await;
    assert_eq!(open(&client, &agent).await.len(), 2);
    let source = client.text(&agent, "The museum opens at nine o'clock.").await;
    let left = open(&client, &agent).await;
    assert_eq!(
        (left.len(), &left[0]["question"]),
        (1, &json!("Which volcano erupted in Iceland?"))
    );
    let answered = with_status(&client, &agent, "answered").await;
    assert_eq!((answered.len(), &answered[0]["status"]), (1, &json!("answered")));
    assert_eq!(answered[0]["source_id"], Value::Null);
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    assert_eq!(open(&client, &agent).await.len(), 1, "what was asked before is not asked again");
    client.ask(&agent, "When does the museum open?").await;
    let open = open(&client, &agent).await;
    assert_eq!((&open[0]["id"], &open[0]["count"]), (&answered[0]["id"], &json!(2)));
}

#[tokio::test]
async fn a_gap_with_a_reply_that_is_rated_down_is_not_closed_by_a_search() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine o'clock.").await;
    let answered = id(&client.ask(&agent, "When does the museum open?").await);
    rate(&client, &answered, "down").await;
    for _ in 0..2 {
        assert_eq!(open(&client, &agent).await.len(), 1);
    }
}

/// Ways to ask for a thing, in words that most questions have.
const FORMS: [&str; 10] = [
    "Is there a {}?",
    "Where is the {}?",
    "do you have a {}",
    "May I have the {}?",
    "What about the {}?",
    "How is your {}?",
    "{}",
    "a {} for me",
    "is the {} for all of us",
    "Who has the {}?",
];
/// Things that the museum's text does not mention.
const THINGS: [&str; 30] = [
    "wardrobe",
    "library",
    "playground",
    "fountain",
    "elevator",
    "photographer",
    "orchestra",
    "observatory",
    "greenhouse",
    "chapel",
    "laundry",
    "helicopter",
    "submarine",
    "blacksmith",
    "volcano",
    "dentist",
    "printer",
    "sauna",
    "stadium",
    "bakery",
    "telescope",
    "aquarium",
    "lighthouse",
    "carousel",
    "velodrome",
    "windmill",
    "pharmacy",
    "monastery",
    "zeppelin",
    "harpsichord",
];

#[tokio::test]
async fn three_hundred_questions_fall_into_the_groups_that_they_are_of() {
    let client = client();
    let agent = client.agent().await;
    // In an order in which no two neighbours are similar.
    let questions = FORMS.iter().flat_map(|form| THINGS.map(|thing| form.replace("{}", thing)));
    let questions: Vec<String> = questions.collect();
    for some in questions.chunks(20) {
        join_all(some.iter().map(|question| client.ask(&agent, question))).await;
    }
    let list = client.get(&format!("{}?limit=100", path(&agent))).await.expect(200);
    let gaps = list["data"].as_array().unwrap();
    assert_eq!(list["ungrouped"], 0);
    let total: u64 = gaps.iter().map(|gap| gap["count"].as_u64().unwrap()).sum();
    assert_eq!(total, 300, "{list}");
    assert!((30..=60).contains(&gaps.len()), "{} gaps", gaps.len());
    let pure = gaps.iter().filter(|gap| {
        let thing = THINGS.iter().find(|thing| gap["question"].as_str().unwrap().contains(*thing));
        let examples = gap["examples"].as_array().unwrap();
        thing.is_some_and(|thing| {
            examples.iter().all(|example| example["text"].as_str().unwrap().contains(thing))
        })
    });
    let pure: u64 = pure.map(|gap| gap["count"].as_u64().unwrap()).sum();
    assert!(pure >= 250, "{pure} of 300 questions are in pure gaps: {list}");
}

#[tokio::test]
async fn five_hundred_questions_are_grouped_at_a_time() {
    let client = client();
    let agent = client.agent().await;
    for some in 0..26 {
        let ask = async |n: usize| {
            client.ask(&agent, &format!("Is locker {} free?", some * 20 + n)).await
        };
        join_all((0..20).map(ask)).await;
    }
    let list = async || client.get(&path(&agent)).await.expect(200);
    assert_eq!(list().await["ungrouped"], 20);
    assert_eq!(list().await["ungrouped"], 0);
}

#[tokio::test]
async fn lists_at_once_group_each_question_once() {
    let client = client();
    let agent = client.agent().await;
    for round in 0..5_u64 {
        let questions = ["Is parking free?", "Can I bring my dog?", "do i pay for parking"];
        join_all(questions.map(|question| client.ask(&agent, question))).await;
        let lists = join_all((0..8).map(async |_| open(&client, &agent).await)).await;
        let all = open(&client, &agent).await;
        let total: u64 = all.iter().map(|gap| gap["count"].as_u64().unwrap()).sum();
        assert_eq!(total, 3 * (round + 1), "{all:?}");
        assert_eq!(all.len(), 2, "{all:?}");
        assert!(lists.iter().all(|list| list.len() <= 2), "{lists:?}");
    }
}

#[tokio::test]
async fn questions_of_the_openai_interface_are_no_gaps() {
    let client = client();
    let agent = client.agent().await;
    let message = json!({ "role": "user", "content": "Which volcano erupted in Iceland?" });
    let body = json!({ "model": agent, "messages": [message], "store": true });
    client.post("/v1/chat/completions", body).await.expect(200);
    let conversations = client.list_all(&format!("/v1/agents/{agent}/conversations"), 10).await;
    assert_eq!((conversations.len(), &conversations[0]["unanswered_count"]), (1, &json!(1)));
    rate(&client, &id(&conversations[0]), "down").await;
    assert_eq!(open(&client, &agent).await, Vec::<Value>::new());
}

#[tokio::test]
async fn long_questions_are_shown_whole_once_and_cut_as_examples() {
    let client = client();
    let agent = client.agent().await;
    let long = CRAB.repeat(4_000);
    for _ in 0..6 {
        client.ask(&agent, &long).await;
    }
    let gap = open(&client, &agent).await.remove(0);
    assert_eq!((&gap["question"], &gap["count"]), (&json!(long), &json!(6)));
    let examples = gap["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 5);
    for example in examples {
        assert!(example["text"].as_str().unwrap().chars().count() <= 300, "{example}");
    }
}

#[tokio::test]
async fn bad_values_are_refused_with_their_names() {
    let client = client();
    let agent = client.agent().await;
    for (name, value) in [
        ("status", "closed"),
        ("status", ""),
        ("status", "open&status=open"),
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "ten"),
        ("limit", "1&limit=1"),
    ] {
        let answer = client.get(&format!("{}?{name}={value}", path(&agent))).await;
        answer.refuses(400, "invalid_parameter", name);
    }
    for limit in [1, 100] {
        client.get(&format!("{}?limit={limit}", path(&agent))).await.expect(200);
    }
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    for agent in [NO_AGENT, "7"] {
        client().get(&path(agent)).await.refused(404, "resource_not_found");
    }
}

/// Asks as many different questions.
async fn ask_many(client: &Client, agent: &str, count: usize) {
    for first in (0..count).step_by(20) {
        let ask = async |n: usize| {
            let question = format!("{} {}?", FORMS[n % 10].replace("{}", THINGS[n % 30]), n / 30);
            client.ask(agent, &question).await;
        };
        join_all((first..(first + 20).min(count)).map(ask)).await;
    }
}

#[tokio::test]
async fn an_account_that_lists_its_gaps_all_the_time_does_not_stop_another() {
    let server: Server = own_server();
    let (flood, other) = (server.account("flood"), server.account("other"));
    let (theirs, own) = (flood.agent().await, other.agent().await);
    ask_many(&flood, &theirs, 300).await;
    other.ask(&own, "Is parking free?").await;
    let is_done = std::cell::Cell::new(false);
    let floods = (0..16).map(async |n| {
        let mut count = 0;
        while !is_done.get() {
            // Each of them groups a new question and searches for gaps of the new content.
            if n == 0 {
                flood.text(&theirs, &format!("The museum has {count} rooms.")).await;
            }
            let answer = flood.get(&path(&theirs)).await;
            if answer.status != 200 {
                // Its own share of the memory for answers is used up.
                answer.refused(503, "service_unavailable");
            }
            count += 1;
        }
        count
    });
    let victim = async {
        for round in 1..=20 {
            other.ask(&own, "Is parking free?").await;
            let gaps = open(&other, &own).await;
            assert_eq!((gaps.len(), &gaps[0]["count"]), (1, &json!(round + 1)));
        }
        is_done.set(true);
    };
    let (lists, ()) = futures_util::future::join(join_all(floods), victim).await;
    assert!(lists.iter().sum::<usize>() > 0);
}
