//! `export`, and `export` followed by `apply`.

use cicerone_tests::scenario::{id, qa_content};
use cicerone_tests::site::Site;
use serde_json::{Value, json};

use super::Place;
use crate::world::NOWHERE;

/// An agent as `export` must preserve it: its settings, and its sources with what was extracted from them.
async fn seen(place: &Place) -> Value {
    let client = &place.client;
    let mut agents = Vec::new();
    for mut agent in client.list_all("/v1/agents", 10).await {
        let path = format!("/v1/agents/{}/sources", id(&agent));
        let mut sources = Vec::new();
        for source in client.list_all(&path, 10).await {
            let source = client.trained(&id(&source)).await;
            let mut shown = json!({});
            for field in ["type", "title", "character_count", "crawl_subpages", "guarded"] {
                shown[field] = source[field].clone();
            }
            let documents =
                client.list_all(&format!("/v1/sources/{}/documents", id(&source)), 10).await;
            shown["texts"] =
                documents.iter().map(|one| json!([one["title"], one["text"]])).collect();
            if source["type"] == "file" {
                let file = format!("/v1/files/{}", source["content"].as_str().unwrap());
                shown["filename"] = client.get(&file).await.expect(200)["filename"].clone();
                shown["bytes"] = json!(client.get(&format!("{file}/content")).await.body.to_vec());
            }
            sources.push(shown);
        }
        sources.sort_by_key(ToString::to_string);
        let mut widgets = client.list_all(&format!("/v1/agents/{}/widgets", id(&agent)), 10).await;
        for object in widgets.iter_mut().chain([&mut agent]) {
            for field in ["id", "agent_id", "token", "created_at", "updated_at", "managed"] {
                object.as_object_mut().unwrap().remove(field);
            }
        }
        widgets.sort_by_key(ToString::to_string);
        agents.push(json!({ "agent": agent, "sources": sources, "widgets": widgets }));
    }
    json!(agents)
}

/// An agent with a source of every type.
async fn build(place: &Place, site: &Site) {
    let client = &place.client;
    let body = json!({
        "name": "Guide: \"the\" museum", "system_prompt": "Be brief.\n\nAlways.\n", "temperature": 0.25, "max_tokens": 300,
        "retention_days": 30, "answer_floor": "cautious", "public_sources": true,
    });
    let agent = id(&client.post("/v1/agents", body).await.expect(201));
    client.text(&agent, "  The museum opens at nine.\r\n\r\n\tNo: dogs # at all.\n").await;
    client.text(&agent, "The museum opens at nine, too.").await;
    client
        .qa(&agent, &[("Is \"parking\" free,\nreally?", "It is; 日本 ✓, 'yes'."), ("null", "~")])
        .await;
    let file = client
        .upload("Preise; \"neu\".html", "<html><title>Prices</title><p>A ticket costs five euros.")
        .await;
    let source = client.source(&agent, "file", &id(&file.expect(201))).await;
    client.trained(&source).await;
    site.page("/", "Home", "The garden has forty trees.", &["/more"]);
    site.page("/more", "More", "The roof has bees.", &[]);
    let body = json!({ "type": "website", "content": site.url("/"), "crawl_subpages": true, "guarded": true });
    let source = id(&client.post(&format!("/v1/agents/{agent}/sources"), body).await.expect(201));
    client.trained(&source).await;
    for widget in [
        json!({ "name": "Shop: \"the\" shop" }),
        json!({
            "name": "Site", "is_active": false, "origins": ["https://museum.example", "https://*.museum.example"],
            "hosted_page": false, "identity": "optional", "title": "Guide", "greeting": "# Good day!\nAsk: ~",
            "starters": ["When?", "Null?", "null"], "language": "de-CH", "texts": { "send": "Los" }, "show_sources": false,
            "handoff": true, "lead": true, "appearance": { "accent": "#c43560", "position": "left" },
            "limits": { "messages_per_day": 7 },
        }),
    ] {
        client.post(&format!("/v1/agents/{agent}/widgets"), widget).await.expect(201);
    }
    client.patch(&format!("/v1/agents/{agent}"), json!({ "status": "paused" })).await.expect(200);
}

fn server() -> cicerone_tests::Server {
    let allowed = "127.0.0.0/8";
    cicerone_tests::Server::of(&crate::world::program())
        .env("CICERONE_EGRESS_ALLOW", allowed)
        .start()
}

// The site answers while the test waits for the program.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn export_and_apply_on_an_empty_server_give_the_same_agent_content_included() {
    let site = Site::start().await;
    let (from, to) = (server(), server());
    let place = Place::of(from.client(), &[]);
    build(&place, &site).await;
    let expected = seen(&place).await;
    for file in ["a.yaml", "b.toml", "c.json"] {
        let folder = file.replace('.', "_");
        place.ends(0, &["export", "--set", "museum", "-f", &format!("{folder}/{file}")]);
        let target = Place::of(to.account(file), &[]);
        let copied = std::process::Command::new("cp")
            .arg("-r")
            .args([place.path(&folder), target.path("")])
            .status();
        assert!(copied.unwrap().success());
        let file = format!("{folder}/{file}");
        target.ends(0, &["apply", "-f", &file]);
        assert_eq!(seen(&target).await, expected, "{file}");
        target.ends(0, &["plan", "-f", &file]);
    }
}

#[tokio::test]
async fn an_exported_agent_can_be_managed_from_then_on() {
    let place = Place::new(&[]);
    let agent = place.client.agent().await;
    place.client.text(&agent, "The museum opens at nine.").await;
    place.client.source(&agent, "qa", &qa_content(&[("Q", "A")])).await;
    let widget = json!({ "name": "Site" });
    place.client.post(&format!("/v1/agents/{agent}/widgets"), widget).await.expect(201);
    place.client.post("/v1/webhook_endpoints", json!({ "url": NOWHERE })).await.expect(201);
    place.ends(0, &["export", "--set", "museum", "--adopt"]);
    assert_eq!(place.ends(0, &["plan", "--prune"]).0, "Nothing to do.\n");
    let file = place.read("cicerone.yaml");
    place.write(&[("cicerone.yaml", &file.replace("name: Guide", "name: Docent"))]);
    place.apply();
    let agents = place.client.list_all("/v1/agents", 10).await;
    assert_eq!((agents.len(), &agents[0]["name"]), (1, &json!("Docent")));
}

#[tokio::test]
async fn an_export_overwrites_nothing_and_holds_no_secret() {
    let file = format!(
        "version: 1\nset: museum\nagents: {{guide: {{name: Guide}}}}\nwebhooks: {{ops: {{url: '{NOWHERE}', write_to: s/ops}}}}\n\
         keys: {{ci: {{permissions: ['agents:read'], agents: [guide], write_to: s/ci}}}}\n"
    );
    let place = Place::new(&[("cicerone.yaml", &file)]);
    place.apply();
    let (_, errors) = place.ends(1, &["export", "--set", "museum"]);
    assert!(errors.contains("`cicerone.yaml` already exists"), "{errors}");
    place.ends(0, &["export", "--set", "museum", "-f", "out/cicerone.yaml"]);
    let written = place.read("out/cicerone.yaml");
    for secret in [place.read("s/ops"), place.read("s/ci")] {
        assert!(!written.contains(secret.trim()), "{written}");
    }
    assert!(written.contains("agents:read") && !written.contains("root"), "{written}");
    // The written file matches the server: the same set, with nothing to do except record other paths.
    let (_, errors) = place
        .ends(1, &["export", "--set", "museum", "-f", "x.yaml", "--agent", "agent_0000000000"]);
    assert!(errors.contains("there is no agent"), "{errors}");
}

#[tokio::test]
async fn names_of_sources_cannot_leave_the_folder() {
    let place = Place::new(&[]);
    let agent = place.client.agent().await;
    place.client.text(&agent, "../../../../etc/passwd\nNot a path.").await;
    let file = place.client.upload("..\\..\\x.txt", "The museum.").await.expect(201);
    place.client.source(&agent, "file", &id(&file)).await;
    place.ends(0, &["export", "--set", "museum", "-f", "out/cicerone.yaml"]);
    let written = place.read("out/cicerone.yaml");
    assert!(!written.contains("../"), "{written}");
}

#[tokio::test]
async fn an_export_keeps_the_keys_that_its_objects_have_in_the_set() {
    let long = "x".repeat(62);
    let file = format!(
        "version: 1\nset: museum\nagents:\n  guide:\n    name: Guide\n    sources:\n      \
         en/hours: {{text: It opens at nine.}}\n      de/hours: {{text: Es öffnet um neun.}}\n      \
         Hours_EN: {{qa: [{{question: When?, answer: At nine.}}]}}\n      hours_en: {{text: At ten.}}\n      \
         {long}: {{upload: prices.txt}}\n      ../up: {{text: Up.}}\n      site: {{website: '{NOWHERE}'}}\n    \
         widgets: {{a/b: {{greeting: Hello}}, ../c: {{title: C}}}}\n  Guide_EN: {{name: guide, sources: {{}}}}\n\
         webhooks: {{Ops: {{url: '{NOWHERE}', write_to: s/ops}}, x/ops: {{url: '{NOWHERE}?2'}}}}\n\
         keys: {{CI/1: {{permissions: ['agents:read'], agents: [guide], write_to: s/ci}}}}\n"
    );
    let place =
        Place::new(&[("cicerone.yaml", &file), ("prices.txt", "A ticket costs five euros.")]);
    // Older than the objects of the set, and of the same names.
    let other = id(&place.client.post("/v1/agents", json!({ "name": "Guide" })).await.expect(201));
    place.client.post("/v1/webhook_endpoints", json!({ "url": NOWHERE })).await.expect(201);
    // The website cannot be read.
    place.ends(1, &["apply"]);
    for arguments in [&["a/a.yaml"][..], &["b/b.toml"], &["c/c.json", "--adopt"]] {
        let all = [&["export", "--set", "museum", "-f"], arguments].concat();
        place.ends(0, &all);
        let (said, _) = place.ends(2, &["plan", "--prune", "-f", arguments[0]]);
        let steps: Vec<&str> = said.lines().filter(|step| !step.contains("crawl again")).collect();
        let expected: &[&str] = match arguments.len() {
            1 => &["+ agent guide-2", "+ webhook webhook", "3 steps."],
            _ => &["1 step."],
        };
        assert_eq!(steps, expected, "{arguments:?}");
        let up = place.path("").parent().unwrap().join("up.txt");
        assert!(!up.exists(), "a key does not lead out of the folder");
    }
    // Alone too, an agent does not take the key of one that is not exported.
    place.ends(0, &["export", "--set", "museum", "-f", "d/d.yaml", "--agent", &other]);
    assert!(place.read("d/d.yaml").contains("guide-2:"), "{}", place.read("d/d.yaml"));
}

#[tokio::test]
async fn an_export_during_a_replacement_has_one_version_of_a_source() {
    let file = |content: &str| {
        format!(
            "version: 1\nset: museum\nagents: {{guide: {{name: Guide, sources: {{hours: {content}}}}}}}\n"
        )
    };
    let place = Place::new(&[
        ("cicerone.yaml", &file("{text: The museum opens at nine.}")),
        ("broken.pdf", "%PDF-1.7\n"),
    ]);
    place.apply();
    place.write(&[("cicerone.yaml", &file("{upload: broken.pdf}"))]);
    place.ends(1, &["apply"]);
    place.ends(0, &["export", "--set", "museum", "-f", "out/cicerone.yaml"]);
    assert_eq!(place.read("out/content/guide/hours.txt"), "The museum opens at nine.");
    let (said, _) = place.ends(2, &["plan", "-f", "out/cicerone.yaml"]);
    let removed = "- source guide/hours (previous version, when the new one is trained)\n1 step.\n";
    assert_eq!(said, removed);
}

#[tokio::test]
async fn an_export_leaves_out_other_sets_unless_asked() {
    let of = |set: &str| {
        format!(
            "version: 1\nset: {set}\nagents: {{{set}: {{name: Guide, sources: {{hours: {{text: At nine.}}}}}}}}\n\
             webhooks: {{{set}: {{url: '{NOWHERE}{set}'}}}}\n\
             keys: {{{set}: {{permissions: ['agents:read'], agents: [{set}], write_to: {set}.key}}}}\n"
        )
    };
    let files = [
        ("museum.yaml", &*of("museum")),
        ("shop.yaml", &of("shop")),
        ("faq.csv", "question,answer\nQ,A\n"),
    ];
    let place = Place::new(&files);
    for file in ["museum.yaml", "shop.yaml"] {
        place.ends(0, &["apply", "-f", file]);
    }
    let agents = place.client.list_all("/v1/agents", 10).await;
    let of_set = |set: &str| id(agents.iter().find(|one| one["managed"]["set"] == set).unwrap());
    let (museum, shop) = (of_set("museum"), of_set("shop"));
    // What an import added belongs to no file.
    place.ends(0, &["import", "--agent", &museum, "faq.csv"]);
    let unmanaged = json!({ "name": "Guide" });
    place.client.post("/v1/agents", unmanaged).await.expect(201);
    let (_, noted) = place.ends(0, &["export", "--set", "museum", "--adopt", "-f", "a/a.yaml"]);
    let left =
        "left out: agent `shop` of the set `shop`\nleft out: webhook `shop` of the set `shop`\n";
    assert_eq!(noted, left);
    let written = place.read("a/a.yaml");
    assert!(!written.contains("shop") && written.contains("guide:"), "{written}");
    assert!(written.contains("qa:"), "{written}");
    for file in ["a/a.yaml", "shop.yaml"] {
        let (said, _) = place.ends(0, &["plan", "--prune", "--prune-agents", "-f", file]);
        assert_eq!(said, "Nothing to do.\n", "{file}");
    }
    // An agent that is named is not silently left out.
    let one = ["export", "--set", "museum", "--agent", &shop, "-f", "b/b.yaml"];
    let (_, errors) = place.ends(1, &one);
    assert!(
        errors.contains(&shop) && errors.contains("`shop`; to export it, add `--all-sets`"),
        "{errors}"
    );
    let all = ["export", "--set", "museum", "--adopt", "--all-sets", "-f", "c/c.yaml"];
    assert_eq!(place.ends(0, &all).1, "");
    let (said, _) = place.ends(0, &["plan", "--prune", "--prune-agents", "-f", "c/c.yaml"]);
    assert_eq!(said, "Nothing to do.\n");
    for list in ["/v1/agents", "/v1/webhook_endpoints", "/v1/api_keys"] {
        let left = place.client.list_all(&format!("{list}?set=shop"), 10).await;
        assert!(left.is_empty(), "{list}");
    }
}

#[tokio::test]
async fn an_adoption_that_fails_says_how_far_it_came() {
    let place = Place::new(&[]);
    let agent = place.client.agent().await;
    place.client.text(&agent, "The museum opens at nine.").await;
    let permissions = ["agents:read", "agents:write", "sources:read", "webhooks:read", "keys:read"];
    let body = json!({ "name": "Agents only", "permissions": permissions });
    let key = place.client.post("/v1/api_keys", body).await.expect(201);
    let limited = place.client.with_key(key["key"].as_str().unwrap());
    let limited = Place::of(limited, &[]);
    let (_, errors) = limited.ends(1, &["export", "--set", "museum", "--adopt", "-f", "a/a.yaml"]);
    assert!(errors.contains("1 of 2 objects were added to the set `museum`"), "{errors}");
    // Everything has the same key as before in a second export.
    place.ends(0, &["export", "--set", "museum", "--adopt", "-f", "b/b.yaml"]);
    assert_eq!(place.ends(0, &["plan", "-f", "b/b.yaml"]).0, "Nothing to do.\n");
    assert_eq!(place.read("b/b.yaml"), limited.read("a/a.yaml"));
}
