//! What `apply` creates from a file, and what it does not touch.

use std::os::unix::fs::PermissionsExt as _;

use cicerone_tests::Server;
use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use super::{Place, client_of};
use crate::world::{NOWHERE, program};

#[tokio::test]
async fn a_file_in_each_notation_makes_the_same_agent() {
    let yaml = "version: 1\nset: museum\nagents:\n  guide:\n    name: Guide\n    system_prompt: {file: prompt.md}\n    \
                temperature: 0.1\n    sources:\n      hours: {text: It opens at nine.}\n";
    let toml = "version = 1\nset = \"museum\"\n[agents.guide]\nname = \"Guide\"\nsystem_prompt = { file = \"prompt.md\" }\n\
                temperature = 0.1\n[agents.guide.sources.hours]\ntext = \"It opens at nine.\"\n";
    let json = json!({ "version": 1, "set": "museum", "agents": { "guide": {
        "name": "Guide", "system_prompt": { "file": "prompt.md" }, "temperature": 0.1,
        "sources": { "hours": { "text": "It opens at nine." } },
    } } })
    .to_string();
    for (name, text) in [("a.yaml", yaml), ("a.toml", toml), ("a.json", &json)] {
        let place = Place::new(&[(name, text), ("prompt.md", "Be brief.\n")]);
        let (said, _) = place.ends(0, &["apply", "-f", name]);
        assert_eq!(said, "2 created, 0 changed, 0 removed.\n", "{name}");
        let agents = place.client.list_all("/v1/agents", 10).await;
        assert_eq!(
            (&agents[0]["name"], &agents[0]["system_prompt"]),
            (&json!("Guide"), &json!("Be brief.\n"))
        );
        let (said, _) = place.ends(0, &["apply", "-f", name]);
        assert_eq!(said, "0 created, 0 changed, 0 removed.\n", "{name}");
    }
}

// The server answers while the test waits for the program.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_meets_the_rate_limit_waits_as_long_as_it_is_told_and_goes_on() {
    let server = Server::of(&program()).env("CICERONE_RATE_LIMIT_PER_MINUTE", "120").start();
    let sources: String = (0..70).map(|n| format!("s{n}: {{text: Room {n} is open.}}, ")).collect();
    let file = format!(
        "version: 1\nset: museum\nagents: {{guide: {{name: Guide, sources: {{{sources}}}}}}}\n"
    );
    let place = Place::of(server.account("museum"), &[("cicerone.yaml", &file)]);
    assert_eq!(place.apply(), "71 created, 0 changed, 0 removed.\n");
    let metrics = server.client().anonymous().get("/metrics").await;
    let refused = metrics
        .text()
        .lines()
        .any(|line| line.starts_with("http_requests_total{") && line.contains("status=\"429\""));
    assert!(refused, "the limit was met: {}", metrics.text());
    let (said, _) = place.ends(0, &["plan"]);
    assert_eq!(said, "Nothing to do.\n");
}

#[tokio::test]
async fn plan_tells_by_its_status_whether_there_is_something_to_do() {
    let file =
        "version: 1\nset: museum\nagents: {guide: {name: Guide, sources: {a: {text: A text.}}}}\n";
    let place = Place::new(&[("cicerone.yaml", file)]);
    let (said, _) = place.ends(2, &["plan"]);
    assert_eq!(said, "+ agent guide\n+ source guide/a\n2 steps.\n");
    assert!(place.client.list_all("/v1/agents", 10).await.is_empty(), "a plan changes nothing");
    place.apply();
    assert_eq!(place.ends(0, &["plan"]).0, "Nothing to do.\n");
    place.write(&[("cicerone.yaml", &file.replace("name: Guide", "name: Docent"))]);
    let plan: Value = serde_json::from_str(&place.ends(2, &["plan", "--json"]).0).unwrap();
    let agent = id(&place.client.list_all("/v1/agents", 10).await[0]);
    let step = json!({ "action": "update", "fields": ["name"], "kind": "agent", "key": "guide", "id": agent });
    assert_eq!(plan, json!({ "steps": [step], "unlisted": [] }));
    // Everything that prevents a plan is 1.
    place.ends(1, &["plan", "-f", "nothing.yaml"]);
    place.write(&[("cicerone.yaml", "version: 1\nset: [")]);
    place.ends(1, &["plan"]);
}

#[tokio::test]
async fn only_written_fields_are_managed_and_null_resets() {
    let file = |fields: &str| {
        format!("version: 1\nset: museum\nagents: {{guide: {{name: Guide{fields}}}}}\n")
    };
    let place = Place::new(&[("cicerone.yaml", &file(", temperature: 0.2, max_tokens: 99"))]);
    place.apply();
    let agent = place.client.list_all("/v1/agents", 10).await.remove(0);
    let path = format!("/v1/agents/{}", id(&agent));
    let other = json!({ "system_prompt": "By hand.", "temperature": 1.5 });
    place.client.patch(&path, other).await.expect(200);
    // Manual changes are reverted, if the file covers them.
    assert_eq!(place.ends(2, &["plan"]).0, "~ agent guide (temperature)\n1 step.\n");
    place.apply();
    let now = place.client.get(&path).await.expect(200);
    assert_eq!((&now["temperature"], &now["system_prompt"]), (&json!(0.2), &json!("By hand.")));
    place.write(&[("cicerone.yaml", &file(", temperature: null"))]);
    place.apply();
    let now = place.client.get(&path).await.expect(200);
    assert_eq!((&now["temperature"], &now["max_tokens"]), (&json!(0.7), &json!(99)));
    // Sources that the file does not mention are not managed.
    let source = place.client.text(&id(&agent), "By hand.").await;
    place.write(&[("cicerone.yaml", &file(", sources: {}"))]);
    place.ends(0, &["apply", "--prune"]);
    place.client.get(&format!("/v1/sources/{source}")).await.expect(200);
}

#[tokio::test]
async fn a_change_that_is_made_and_taken_back_takes_effect_each_time() {
    let file = |name: &str, secret: &str| {
        format!(
            "version: 1\nset: museum\nagents: {{guide: {{name: {name}, sources: {{a: {{text: {name}}}}}}}}}\n\
             keys: {{ci: {{name: {name}, permissions: ['agents:read'], write_to: {secret}}}}}\n"
        )
    };
    let place = Place::new(&[]);
    for name in ["One", "Two", "One", "Two", "One"] {
        place.write(&[("cicerone.yaml", &file(name, "ci.key"))]);
        place.apply();
        let agents = place.client.list_all("/v1/agents", 10).await;
        assert_eq!((agents.len(), &agents[0]["name"]), (1, &json!(name)));
        let sources =
            place.client.list_all(&format!("/v1/agents/{}/sources", id(&agents[0])), 10).await;
        assert_eq!((sources.len(), &sources[0]["content"]), (1, &json!(name)));
        let keys = place.client.list_all("/v1/api_keys?set=museum", 10).await;
        assert_eq!((keys.len(), &keys[0]["name"]), (1, &json!(name)));
    }
    // And so does one that is created again after it was deleted by hand.
    let agent = id(&place.client.list_all("/v1/agents", 10).await[0]);
    place.client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    place.apply();
    assert_eq!(place.client.list_all("/v1/agents", 10).await.len(), 1);
}

#[tokio::test]
async fn secrets_are_written_for_their_owner_and_nowhere_else() {
    let file = format!(
        "version: 1\nset: museum\nwebhooks: {{ops: {{url: '{NOWHERE}', events: [source.failed], write_to: .secrets/ops}}}}\n\
         keys: {{ci: {{permissions: ['agents:read'], write_to: .secrets/ci.key}}}}\n"
    );
    let place = Place::new(&[("cicerone.yaml", &file)]);
    let (said, noted) = place.ends(0, &["apply"]);
    for (name, begin) in [(".secrets/ci.key", "ck_"), (".secrets/ops", "whsec_")] {
        let secret = place.read(name);
        assert!(secret.starts_with(begin), "{name}");
        assert!(!said.contains(secret.trim()) && !noted.contains(secret.trim()));
        let mode = std::fs::metadata(place.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    client_of(&place, ".secrets/ci.key").get("/v1/agents").await.expect(200);
    // The files may be kept elsewhere afterwards.
    std::fs::remove_dir_all(place.path(".secrets")).unwrap();
    place.ends(0, &["plan"]);
}

#[tokio::test]
async fn a_secret_of_another_server_is_not_replaced() {
    let file = format!(
        "version: 1\nset: museum\nagents: {{guide: {{name: Guide, widgets: {{site: {{write_to: s/site}}}}}}}}\n\
         webhooks: {{ops: {{url: '{NOWHERE}', write_to: s/ops}}}}\n\
         keys: {{ci: {{permissions: ['agents:read'], write_to: s/ci}}}}\n"
    );
    let one = Place::new(&[("cicerone.yaml", &file)]);
    one.apply();
    one.ends(0, &["plan"]);
    let files = ["s/site", "s/ops", "s/ci"];
    let secrets = files.map(|name| one.read(name));
    let written: Vec<(&str, &str)> =
        files.into_iter().zip(secrets.iter().map(String::as_str)).collect();
    let two = Place::new(&[("cicerone.yaml", &file)]);
    two.write(&written);
    for command in ["plan", "apply"] {
        let (_, errors) = two.ends(1, &[command]);
        for part in
            ["`s/site` for widget `guide/site`", "`s/ops` for webhook `ops`", "`s/ci` for key `ci`"]
        {
            assert!(errors.contains(part), "{errors}");
        }
    }
    assert!(two.client.list_all("/v1/agents", 10).await.is_empty(), "nothing was created");
    assert_eq!(files.map(|name| two.read(name)), secrets);
    std::fs::remove_dir_all(two.path("s")).unwrap();
    two.apply();
    assert!(files.iter().zip(&secrets).all(|(name, secret)| two.read(name) != *secret));
}

#[tokio::test]
async fn a_key_without_a_permission_gets_the_reason() {
    let place = Place::new(&[(
        "cicerone.yaml",
        "version: 1\nset: museum\nagents: {guide: {name: Guide}}\n",
    )]);
    let body = json!({ "name": "Reader", "permissions": ["agents:read"] });
    let key = place.client.post("/v1/api_keys", body).await.expect(201);
    let reader = place.client.with_key(key["key"].as_str().unwrap());
    let place = Place::of(reader, &[("cicerone.yaml", &place.read("cicerone.yaml"))]);
    place.ends(2, &["plan"]);
    let (_, errors) = place.ends(1, &["apply"]);
    assert!(errors.contains("agents:write"), "{errors}");
}

#[tokio::test]
async fn a_key_that_does_not_see_the_agent_is_told_so() {
    let file = "version: 1\nset: museum\nagents: {guide: {name: Guide}}\n";
    let place = Place::new(&[("cicerone.yaml", file)]);
    place.apply();
    let guide = id(&place.client.list_all("/v1/agents", 10).await[0]);
    let other = place.client.agent().await;
    for (agent, status) in [(&guide, 0), (&other, 1)] {
        let body = json!({ "name": "Limited", "permissions": ["*"], "agent_ids": [agent] });
        let key = place.client.post("/v1/api_keys", body).await.expect(201);
        let limited = place.client.with_key(key["key"].as_str().unwrap());
        let limited = Place::of(limited, &[("cicerone.yaml", file)]);
        for command in ["plan", "apply"] {
            let (_, errors) = limited.ends(status, &[command]);
            assert_eq!(errors.contains("does not see agent `guide`"), status == 1, "{errors}");
        }
    }
}

#[tokio::test]
async fn the_schema_is_printed_without_a_server() {
    let place = Place::new(&[]);
    let (schema, _) = place.ends(0, &["apply", "--schema"]);
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    // An unknown field of each object is refused, and the refusal names those of the schema.
    for (object, file) in [
        ("/properties", "{\"version\": 1, \"set\": \"s\", \"x\": 1}"),
        (
            "/$defs/agent/properties",
            "{\"version\": 1, \"set\": \"s\", \"agents\": {\"a\": {\"name\": \"A\", \"x\": 1}}}",
        ),
        (
            "/$defs/source/properties",
            "{\"version\": 1, \"set\": \"s\", \"agents\": {\"a\": {\"name\": \"A\", \"sources\": {\"b\": {\"x\": 1}}}}}",
        ),
        (
            "/$defs/webhook/properties",
            "{\"version\": 1, \"set\": \"s\", \"webhooks\": {\"a\": {\"url\": \"u\", \"x\": 1}}}",
        ),
        (
            "/$defs/api_key/properties",
            "{\"version\": 1, \"set\": \"s\", \"keys\": {\"a\": {\"permissions\": [], \"write_to\": \"w\", \"x\": 1}}}",
        ),
    ] {
        place.write(&[("a.json", file)]);
        let (_, errors) = place.ends(1, &["plan", "-f", "a.json"]);
        let expected =
            errors.split_once("expected one of ").unwrap().1.split(" at line").next().unwrap();
        let mut expected: Vec<&str> =
            expected.split(", ").map(|name| name.trim_matches('`')).collect();
        expected.sort_unstable();
        let properties = schema.pointer(object).unwrap().as_object().unwrap();
        let mut described: Vec<&str> = properties.keys().map(String::as_str).collect();
        described.sort_unstable();
        assert_eq!(expected, described, "{object}");
    }
}
