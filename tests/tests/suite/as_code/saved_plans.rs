//! Plans that are saved and carried out later.

use cicerone_tests::scenario::id;
use serde_json::json;

use super::Place;

fn place() -> Place {
    let file = "version: 1\nset: museum\nagents: {guide: {name: Guide, sources: {a: {text: {file: a.txt}}}}}\n";
    let place = Place::new(&[("cicerone.yaml", file), ("a.txt", "One.")]);
    place.apply();
    place.write(&[("cicerone.yaml", &file.replace("Guide", "Docent"))]);
    place.ends(2, &["plan", "--out", "plan.json"]);
    place
}

#[tokio::test]
async fn a_saved_plan_is_carried_out_as_it_was_shown() {
    let place = place();
    assert_eq!(place.ends(0, &["apply", "plan.json"]).0, "0 created, 1 changed, 0 removed.\n");
    assert_eq!(place.client.list_all("/v1/agents", 10).await[0]["name"], "Docent");
    // It fits once.
    let (_, errors) = place.ends(1, &["apply", "plan.json"]);
    assert!(errors.contains("the server was changed after the plan was made"), "{errors}");
}

#[tokio::test]
async fn a_plan_is_refused_if_the_server_or_the_files_moved_on() {
    let refused = |place: &Place, reason: &str| {
        let (_, errors) = place.ends(1, &["apply", "plan.json"]);
        assert!(errors.contains(reason), "{errors}");
    };
    let moved = "the server was changed after the plan was made; make a new plan";
    let place_one = place();
    let agent = id(&place_one.client.list_all("/v1/agents", 10).await[0]);
    let path = format!("/v1/agents/{agent}");
    place_one.client.patch(&path, json!({ "temperature": 0.3 })).await.expect(200);
    refused(&place_one, moved);
    let place_two = place();
    let agent = id(&place_two.client.list_all("/v1/agents", 10).await[0]);
    let sources = place_two.client.list_all(&format!("/v1/agents/{agent}/sources"), 10).await;
    place_two.client.delete(&format!("/v1/sources/{}", id(&sources[0]))).await.expect_nothing();
    refused(&place_two, moved);
    let place_three = place();
    place_three.write(&[("a.txt", "Two.")]);
    refused(&place_three, "was changed after the plan was made; make a new plan");
    place_three.write(&[("plan.json", "{}")]);
    refused(&place_three, "is not a saved plan");
    let names = place_three.client.list_all("/v1/agents", 10).await;
    assert_eq!(names[0]["name"], "Guide", "a refused plan changes nothing");
}

#[tokio::test]
async fn a_plan_belongs_to_its_server_and_holds_no_content() {
    let place = place();
    assert!(!place.read("plan.json").contains("One."));
    let other = crate::world::own_server();
    let output =
        place.command_at(&other.address().to_string(), &["apply", "plan.json"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("the plan was made for the server"), "{errors}");
}
