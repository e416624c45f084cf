//! What a search finds, and whether it is good enough to reply from.

use crate::feed::{World, pair, passage, source_id};

fn shop() -> World {
    let world = World::new();
    world.put(
        "faq",
        vec![
            pair(0, "What is your refund policy?", "Within 30 days you get all your money back."),
            pair(1, "How long does shipping take?", "Three to five working days in Europe."),
            pair(2, "Who are you?", "A small shop for bicycles in Ghent."),
            pair(3, "Do you repair bicycles?", "Yes, bring yours on any weekday before noon."),
        ],
    );
    world.put(
        "guide",
        vec![
            passage(
                0,
                "The team plan costs 49 euros a month and includes ten seats for colleagues.",
            ),
            passage(1, "The enterprise plan includes single sign-on, an audit log and a contract."),
            passage(2, "Set rate_limit in config.toml to change how many requests are allowed."),
        ],
    );
    world
}

#[tokio::test]
async fn a_pair_is_found_by_its_question_in_other_words() {
    let world = shop();
    for question in
        ["What is your refund policy?", "refunds?", "Tell me about the policy on refunds"]
    {
        let found = world.ask(question).await;
        assert_eq!(
            found.hits[0].title.as_deref(),
            Some("What is your refund policy?"),
            "{question}"
        );
        assert!(found.hits[0].is_pair && found.hits[0].is_relevant);
    }
}

#[tokio::test]
async fn a_hit_carries_what_the_passage_said() {
    let world = World::new();
    let mut given = passage(7, "Opening hours are nine to five.");
    given.title = Some("Visit us".to_owned());
    given.heading = Some("Contact › Hours".to_owned());
    given.url = Some("https://example.com/visit".to_owned());
    given.page = Some(3);
    world.put("a", vec![given.clone()]);
    let hit = world.ask("opening hours").await.hits.remove(0);
    assert_eq!(hit.source_id, source_id("a"));
    assert_eq!((hit.position, hit.page, &*hit.text), (7, given.page, given.text.as_str()));
    let found = [hit.title, hit.heading, hit.url, hit.language];
    let expected = [given.title, given.heading, given.url, given.language];
    assert_eq!(found.each_ref().map(Option::as_deref), expected.each_ref().map(Option::as_deref));
}

#[tokio::test]
async fn a_pair_that_asks_just_that_comes_before_one_that_also_mentions_it() {
    let world = World::new();
    world.put(
        "faq",
        vec![
            pair(0, "Do I need a fever shot before I travel by ship?", "Fever. Fever, and fever."),
            pair(1, "What is fever?", "Heat."),
            pair(2, "Who gets fever?", "Sailors."),
            pair(3, "What is scurvy?", "A lack of fruit, which brings fever."),
        ],
    );
    for (question, position) in [
        ("what is fever", 1),
        ("fever", 1),
        ("who gets fever", 2),
        ("fever who", 2),
        ("fevr shot", 0),
    ] {
        assert_eq!(world.ask(question).await.hits[0].position, position, "{question}");
    }
}

#[tokio::test]
async fn a_definition_comes_before_passages_that_mention_the_subject_more_often() {
    let world = World::new();
    let mention = "The bollard of the pier is near the bollard of the quay, and ropes lie on the stones beside \
                   them until the captains come back from the inn, which takes a while.";
    let glossary = "Anchor: An iron hook that holds a ship.\n\nShort Mooring Post (bollard): What a rope is tied to.\n\n\
                    Crane: A machine that lifts loads.\n\nDock: A place for a ship between two piers of a harbour.";
    let section = "## What is a winch?\n\nIt pulls ropes. Two people turn it, and a third one watches the rope.";
    let turns = "The winch turns the drum, and the drum of the other winch turns back, so that a rope that two people hold \
                 is pulled in evenly.";
    let texts = [mention, glossary, section, turns];
    world.put("a", (0..).zip(texts).map(|(at, text)| passage(at, text)).collect());
    for (question, position) in [
        ("what is a bollard", 1),
        ("What does bollard mean?", 1),
        ("bollard of the pier", 0),
        ("What is a winch?", 2),
        ("drum of the winch", 3),
    ] {
        assert_eq!(world.ask(question).await.hits[0].position, position, "{question}");
    }
}

#[tokio::test]
async fn the_header_of_a_table_and_code_define_nothing() {
    let world = World::new();
    let texts = [
        "A field is a place for a value, and a form has a field for each value that the harbour master needs.",
        "The forms of the harbour.\n\n| Field | Meaning |\n|---|---|\n| Name | The ship |\n| Flag | Its country |",
        "Settings of the pier, of which there are few.\n\n```\n# field\nfield: none\n```\n\nThey are read in the morning.",
    ];
    world.put("a", (0..).zip(texts).map(|(at, text)| passage(at, text)).collect());
    let alone = world.ask("field").await.hits;
    let defined = world.ask("What is a field?").await.hits;
    let score = |hits: &[cicerone_domain::retrieval::Hit], at: i64| {
        hits.iter().find(|hit| hit.position == at).unwrap().score
    };
    for at in 0..3 {
        assert!((score(&alone, at) - score(&defined, at)).abs() < 0.01, "{at}");
    }
}

#[tokio::test]
async fn a_pair_that_asks_for_the_definition_stays_before_a_passage_that_has_one() {
    let world = World::new();
    world.put("faq", vec![pair(0, "What's a winch?", "A drum that pulls ropes.")]);
    let glossary = "Winch: A drum.\n\nCrane: A machine that lifts loads from ships.\n\nDock: A place for a ship.";
    world.put("a", vec![passage(0, glossary)]);
    assert!(world.ask("What is a winch?").await.hits[0].is_pair);
}

#[tokio::test]
async fn one_typing_mistake_finds_its_word_but_numbers_are_not_corrected() {
    let world = World::new();
    world.put(
        "a",
        vec![
            passage(0, "The lighthouse was built in 18742."),
            passage(1, "Tea is hot. The uptime of the kettle is an hour."),
        ],
    );
    for question in ["lighthuose", "lighthose", "lighthousse", "lighthoune"] {
        let found = world.ask(question).await;
        assert!(found.hits[0].is_relevant, "{question}");
        assert_eq!(found.hits[0].position, 0, "{question}");
    }
    // The stem of "ultimate" is one letter away from that of "uptime".
    for question in ["18743", "lxghthxse", "ligh", "ultimate"] {
        let found = world.ask(question).await;
        assert!(found.hits.iter().all(|hit| !hit.is_relevant), "{question}");
    }
}

#[tokio::test]
async fn an_everyday_word_that_no_passage_has_finds_others_of_its_meaning() {
    let world = World::new();
    let texts = [
        "If the parcel is damaged when it arrives, send us a picture of it.",
        "Pets stay in their cabins during the night.",
        "The galley opens at seven.",
    ];
    world.put("a", (0..).zip(texts).map(|(at, text)| passage(at, text)).collect());
    for (question, position) in
        [("What if my parcel is broken?", 0), ("Where does a cat sleep at night?", 1)]
    {
        let found = world.ask(question).await;
        assert!(found.hits[0].is_relevant, "{question}");
        assert_eq!(found.hits[0].position, position, "{question}");
    }
    // A word that a passage has is not replaced.
    let texts = ["The damaged mast lies in the shed.", "The broken mast lies on the pier."];
    world.put("b", (0..).zip(texts).map(|(at, text)| passage(at, text)).collect());
    let found = world.ask("Is the mast broken?").await;
    assert_eq!(found.hits[0].text.as_ref(), "The broken mast lies on the pier.");
    assert!(found.hits[1].coverage < found.hits[0].coverage, "{found:?}");
}

#[tokio::test]
async fn a_word_of_the_content_is_no_small_talk_in_another_language() {
    let world = World::new();
    let texts = [
        "Rub the salve on the rope burn twice a day, and let it dry for an hour.",
        "The captain says hello to each of the guests when they come on board.",
    ];
    world.put("a", (0..).zip(texts).map(|(at, text)| passage(at, text)).collect());
    for (message, is_small_talk) in
        [("salve", false), ("Salve?", false), ("hello", true), ("servus", true), ("danke", true)]
    {
        assert_eq!(world.ask(message).await.is_small_talk, is_small_talk, "{message}");
    }
}

#[tokio::test]
async fn a_word_that_says_little_hardly_counts_as_missing() {
    let world = World::new();
    let texts = (0..60).map(|at| passage(at, &format!("Berth {at} is beside the pier.")));
    let claim = passage(60, "Claims are accepted for 31 days.");
    world.put("a", texts.chain([claim]).collect());
    let make = world.ask("make a claim").await.confidence;
    let paint = world.ask("paint a claim").await.confidence;
    assert!(make > paint + 0.1, "{make} {paint}");
}

#[tokio::test]
async fn compounds_find_their_parts_and_parts_their_compounds() {
    let world = World::new();
    let texts = [
        "Unser Telefon ist jeden Tag von neun bis zwölf Uhr besetzt.",
        "Parkplätze gibt es hinter dem alten Leuchtturm am Hafen.",
        "Der Rabatt gilt auch für einen Studenten aus der Stadt.",
        "Wir liefern nicht auf die Inseln, und die Lieferung dauert lange.",
        "Tee wird in der Küche gekocht und mit Milch getrunken.",
    ];
    world.put("a", (0..).zip(texts).map(|(at, text)| passage(at, text)).collect());
    for (question, position) in [
        ("Telefonnummer", 0),
        ("Wo kann man hier parken?", 1),
        ("Studentenrabatt", 2),
        ("Liefert ihr auch?", 3),
    ] {
        let found = world.ask(question).await;
        assert_eq!(found.hits[0].position, position, "{question}");
        assert!(found.hits[0].is_relevant, "{question}");
    }
    for question in ["Telegramm", "Ratte", "Stadion"] {
        let found = world.ask(question).await;
        assert!(found.hits.iter().all(|hit| !hit.is_relevant), "{question}");
    }
}

#[tokio::test]
async fn words_written_apart_find_them_written_together() {
    let world = World::new();
    let texts = [
        "The harbour master starts the cleanup of the quay on Mondays.",
        "Ropes are kept in the storehouse behind the lighthouse.",
        "An inactive crane is painted red.",
    ];
    world.put("a", (0..).zip(texts).map(|(at, text)| passage(at, text)).collect());
    for (question, position) in [("clean up the quay", 0), ("Where is the light house?", 1)] {
        let found = world.ask(question).await;
        assert!(found.hits[0].is_relevant, "{question}");
        assert_eq!(found.hits[0].position, position, "{question}");
        assert!(found.hits[0].coverage > 0.95, "{question}");
    }
    // "in" is a small word, and not the beginning of "inactive".
    let found = world.ask("in active service").await;
    assert!(found.hits.iter().all(|hit| !hit.is_relevant));
}

#[tokio::test]
async fn a_short_word_with_another_letter_is_another_word() {
    let world = World::new();
    world.put("a", vec![passage(0, "Label each crate before it is loaded.")]);
    for (question, is_meant) in
        [("lable", true), ("labell", true), ("lbel each crate", true), ("libel", false)]
    {
        let found = world.ask(question).await;
        assert_eq!(found.hits.iter().any(|hit| hit.is_relevant), is_meant, "{question}");
    }
}

#[tokio::test]
async fn a_passage_that_repeats_a_better_one_is_left_out() {
    let world = World::new();
    let titled = |position, title: &str, text: &str| {
        let mut passage = passage(position, text);
        passage.title = Some(title.to_owned());
        passage
    };
    let shared = "Ropes are checked for wear before a ship is moored.";
    world.put(
        "a",
        vec![
            titled(0, "The outer pier", shared),
            titled(1, "Ropes", shared),
            titled(2, "The inner pier", shared),
            titled(3, "The crane", "The crane lifts ropes that are worn."),
        ],
    );
    let found = world.ask("Are ropes checked for wear?").await;
    let positions: Vec<i64> = found.hits.iter().map(|hit| hit.position).collect();
    assert_eq!(positions, [1, 3]);
}

#[tokio::test]
async fn a_passage_about_another_name_gives_less_confidence() {
    let world = World::new();
    world.put("a", vec![passage(0, "Captain Ortega founded the harbour in 1742.")]);
    let own = world.ask("When did Ortega found the harbour?").await;
    let other = world.ask("When did Brandt found the harbour?").await;
    let lower_case = world.ask("When did brandt found the harbour?").await;
    assert!(own.confidence > lower_case.confidence, "{} {}", own.confidence, lower_case.confidence);
    assert!(lower_case.confidence > other.confidence, "{}", other.confidence);
    assert!(own.confidence >= own.floor);
}

#[tokio::test]
async fn what_the_sources_do_not_cover_is_not_relevant() {
    let world = shop();
    for question in [
        "What is the capital of Australia?",
        "How do I bake sourdough bread?",
        "Is there a discount for students?",
    ] {
        let found = world.ask(question).await;
        assert!(found.hits.iter().all(|hit| !hit.is_relevant), "{question}");
    }
}

#[tokio::test]
async fn a_single_passage_answers_though_the_question_has_a_word_that_it_lacks() {
    let world = World::new();
    let text = "The museum opens at nine. On Mondays it is closed.";
    world.put("text", vec![passage(0, text)]);
    for question in
        ["When does it open?", "At what time does the museum open?", "Which day is it closed?"]
    {
        let found = world.ask(question).await;
        assert!(found.hits[0].is_relevant, "{question} {}", found.hits[0].coverage);
    }
    for question in ["How do trains cross the mountains?", "Where can I buy a bridge, open or not?"]
    {
        let found = world.ask(question).await;
        assert!(found.hits.iter().all(|hit| !hit.is_relevant), "{question}");
    }
}

#[tokio::test]
async fn a_question_of_stop_words_alone_finds_only_its_own_pair() {
    let world = shop();
    let found = world.ask("Who are you?").await;
    assert!(found.hits[0].is_relevant);
    assert_eq!(found.hits[0].title.as_deref(), Some("Who are you?"));
    for question in ["What is it?", "and how?", "why not", "is the of"] {
        let found = world.ask(question).await;
        assert!(found.hits.iter().all(|hit| !hit.is_relevant), "{question}");
    }
}

#[tokio::test]
async fn a_follow_up_is_understood_with_what_was_said_before() {
    let world = shop();
    let context = ["The team plan includes ten seats.", "What does the team plan include?"];
    let found = world.ask_after("And how much is it?", &context).await;
    assert_eq!(found.hits[0].position, 0);
    assert_eq!(found.hits[0].source_id, source_id("guide"));
    assert!(found.hits[0].is_relevant);
    let found = world.ask_after("And what does the enterprise one include?", &context).await;
    assert_eq!((found.hits[0].position, found.hits[0].is_relevant), (1, true));
}

#[tokio::test]
async fn a_question_that_stands_for_itself_is_not_distorted_by_the_context() {
    let world = shop();
    let context = ["Three to five working days in Europe.", "How long does shipping take?"];
    let alone = world.ask("What does the enterprise plan include?").await;
    let after = world.ask_after("What does the enterprise plan include?", &context).await;
    assert_eq!((alone.hits, alone.terms), (after.hits, after.terms));
    let short = world.ask_after("refund policy?", &context).await;
    assert_eq!(short.hits[0].title.as_deref(), Some("What is your refund policy?"));
    assert_eq!(short.hits[0].coverage, 1.0);
    let uncovered = world.ask_after("student discounts?", &context).await;
    assert!(uncovered.hits.iter().all(|hit| !hit.is_relevant));
}

#[tokio::test]
async fn identifiers_are_found_whole_and_by_their_parts() {
    let world = shop();
    for question in ["rate_limit", "How do I change the rate limit?", "RateLimit"] {
        let found = world.ask(question).await;
        assert_eq!((found.hits[0].position, found.hits[0].is_relevant), (2, true), "{question}");
    }
}

#[tokio::test]
async fn each_language_is_found_by_its_own_words() {
    let world = World::new();
    let texts = [
        ("es", "Puede cancelar su suscripción en cualquier momento desde la página de su cuenta."),
        ("de", "Die Häuser am Fluss werden im Sommer an Gäste vermietet, die dort Urlaub machen."),
        ("zh", "退款将在七个工作日内退回您的原支付方式。如有问题请联系客服。"),
        ("ja", "ご注文の商品は三日以内に発送されます。送料は無料です。"),
        ("ar", "يمكنك إلغاء الاشتراك في أي وقت من صفحة الحساب الخاصة بك."),
        ("hi", "आप किसी भी समय अपनी सदस्यता रद्द कर सकते हैं।"),
        ("th", "คุณสามารถขอคืนเงินได้ภายในเจ็ดวันหลังจากการสั่งซื้อ"),
        ("ko", "주문하신 상품은 삼일 이내에 배송됩니다."),
        ("ru", "Вы можете вернуть товары в течение тридцати дней после покупки."),
        ("en", "Our support team answers every request within a single working day."),
    ];
    for (language, text) in texts {
        world.put(language, vec![passage(0, text)]);
    }
    for (language, question) in [
        ("es", "¿Cómo cancelo las suscripciones?"),
        ("de", "Wird ein Haus vermietet?"),
        ("zh", "退款需要多少个工作日？"),
        ("ja", "送料はいくらですか"),
        ("ar", "كيف يمكنني إلغاء اشتراكي؟"),
        ("hi", "सदस्यता कैसे रद्द करें?"),
        ("th", "ขอคืนเงินได้อย่างไร"),
        ("ko", "상품 배송은 언제 되나요?"),
        ("ru", "Можно ли вернуть товар?"),
        ("en", "How fast does support answer requests?"),
    ] {
        let found = world.ask(question).await;
        assert_eq!(found.hits[0].source_id, source_id(language), "{question}");
        assert!(found.hits[0].is_relevant, "{question} {}", found.hits[0].coverage);
    }
}

#[tokio::test]
async fn the_words_of_the_question_are_told_with_their_rarity() {
    let world = shop();
    let found = world.ask("What does the enterprise plan include?").await;
    let weight =
        |text: &str| found.terms.iter().find(|term| term.text == text).map(|term| term.weight);
    assert!(weight("enterpris").unwrap() > weight("plan").unwrap());
    assert_eq!(weight("the"), None);
}
