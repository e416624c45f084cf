//! Objects that the file no longer has.

use super::Place;
use crate::world::NOWHERE;

fn file(sources: &str, rest: &str) -> String {
    format!(
        "version: 1\nset: museum\nagents: {{guide: {{name: Guide, sources: {{{sources}}}}}}}\n{rest}"
    )
}

#[tokio::test]
async fn nothing_is_removed_unless_asked_and_only_within_the_set() {
    let webhooks = format!("webhooks: {{ops: {{url: '{NOWHERE}'}}}}\n");
    let keys = "keys: {ci: {permissions: ['agents:read'], write_to: ci.key}}\n";
    let place = Place::new(&[(
        "cicerone.yaml",
        &file("a: {text: A}, b: {text: B}, c: {text: C}", &(webhooks + keys)),
    )]);
    place.apply();
    let agent = place.client.list_all("/v1/agents", 10).await.remove(0);
    let agent = cicerone_tests::scenario::id(&agent);
    place.client.text(&agent, "By hand.").await;
    place.write(&[
        ("cicerone.yaml", &file("a: {text: A}, b: {text: B}", "webhooks: {}\nkeys: {}\n")),
        ("other.yaml", "version: 1\nset: other\nagents: {}\nwebhooks: {}\nkeys: {}\n"),
    ]);
    let (said, _) = place.ends(0, &["plan"]);
    assert!(said.contains("source guide/c is not in the file and is kept"), "{said}");
    assert!(said.contains("webhook ops is") && said.contains("key ci is"), "{said}");
    place.apply();
    let count = async |path: &str| place.client.list_all(path, 50).await.len();
    let sources = format!("/v1/agents/{agent}/sources");
    assert_eq!(count(&sources).await, 4);
    place.ends(0, &["apply", "-f", "other.yaml", "--prune", "--prune-agents"]);
    assert_eq!((count(&sources).await, count("/v1/webhook_endpoints").await), (4, 1));
    assert_eq!(place.ends(0, &["apply", "--prune"]).0, "0 created, 0 changed, 3 removed.\n");
    assert_eq!((count(&sources).await, count("/v1/webhook_endpoints").await), (3, 0));
    assert_eq!(count("/v1/api_keys?set=museum").await, 0);
    // A missing section manages nothing.
    place.write(&[("cicerone.yaml", "version: 1\nset: museum\nagents: {guide: {name: Guide}}\n")]);
    place.ends(0, &["plan", "--prune"]);
}

#[tokio::test]
async fn more_than_half_of_an_agents_sources_stay_unless_that_is_said() {
    let place = Place::new(&[(
        "cicerone.yaml",
        &file("a: {text: A}, b: {text: B}, c: {text: C}, d: {text: D}", ""),
    )]);
    place.apply();
    place.write(&[("cicerone.yaml", &file("a: {text: A}", ""))]);
    for command in ["plan", "apply"] {
        let (_, errors) = place.ends(1, &[command, "--prune"]);
        assert!(
            errors.contains("3 of the 4 sources of agent `guide`")
                && errors.contains("--prune-most"),
            "{errors}"
        );
    }
    place.ends(0, &["apply", "--prune", "--prune-most"]);
    place.ends(0, &["plan", "--prune"]);
    // Half is allowed.
    place.write(&[("cicerone.yaml", &file("a: {text: A}, e: {text: E}", ""))]);
    place.apply();
    place.write(&[("cicerone.yaml", &file("e: {text: E}", ""))]);
    assert_eq!(place.ends(0, &["apply", "--prune"]).0, "0 created, 0 changed, 1 removed.\n");
}

#[tokio::test]
async fn agents_are_removed_by_an_option_of_their_own() {
    let both = "version: 1\nset: museum\nagents: {one: {name: One}, two: {name: Two}}\n";
    let place = Place::new(&[("cicerone.yaml", both)]);
    place.apply();
    place.write(&[("cicerone.yaml", "version: 1\nset: museum\nagents: {one: {name: One}}\n")]);
    place.ends(0, &["apply", "--prune"]);
    assert_eq!(place.client.list_all("/v1/agents", 10).await.len(), 2);
    let (said, _) = place.ends(2, &["plan", "--prune-agents"]);
    assert_eq!(said, "- agent two\n1 step.\n");
    place.ends(0, &["apply", "--prune-agents"]);
    let left = place.client.list_all("/v1/agents", 10).await;
    assert_eq!((left.len(), left[0]["name"].as_str()), (1, Some("One")));
}
