//! The name of the model that an upstream is asked for: servers such as Ollama and vLLM refuse names that they do not have.

use std::process::Output;

use cicerone_tests::Server;
use cicerone_tests::upstream::{Script, Upstream};
use serde_json::json;

use super::{ask, models, settings};
use crate::world::program;

const MODEL: &str = "llama3.1";

/// An upstream with one model.
async fn local() -> Upstream {
    let upstream = Upstream::start([Script::tokens(&["At nine."])]).await;
    upstream.has_only(MODEL);
    upstream
}

#[tokio::test]
async fn openai_model_names_the_model_that_the_upstream_is_asked_for() {
    let upstream = local().await;
    let server = Server::of(&program())
        .env("OPENAI_BASE_URL", upstream.url())
        .env("OPENAI_MODEL", MODEL)
        .start();
    let client = server.client();
    for model in ["gpt-4o", "gpt-3.5-turbo"] {
        let body = json!({ "name": "Guide", "model": model });
        let agent = client.post("/v1/agents", body).await.expect(201);
        let question = json!({ "agent_id": agent["id"], "message": "When?", "stream": false });
        let reply = client.post("/v1/conversations", question).await.expect(200);
        assert_eq!(reply["reply"], "At nine.", "{model}");
    }
    assert!(upstream.received().iter().all(|request| request.body["model"] == MODEL));
}

#[tokio::test]
async fn without_it_the_log_names_the_model_and_the_variable() {
    let upstream = local().await;
    let server = Server::of(&program()).env("OPENAI_BASE_URL", upstream.url()).start();
    let client = server.client();
    let agent = client.agent().await;
    let question = json!({ "agent_id": agent, "message": "When?" });
    client.post("/v1/conversations", question).await.refused(503, "model_unavailable");
    let log = server.log_with("answered 404 Not Found").await;
    assert!(log.contains("it was asked for the model `gpt-4o`; `OPENAI_MODEL`"), "{log}");
}

#[tokio::test]
async fn the_error_names_the_setting_of_an_upstream_of_the_file() {
    let upstream = local().await;
    let error = ask(&models(settings(&upstream, json!({}))), true).await.reply.unwrap_err();
    let expected = "upstream `one` answered 404 Not Found: model 'gpt-4o' not found (it was asked for the model \
                    `gpt-4o`; `models.upstreams.one.model`, or `model` of a route, can name another)";
    assert_eq!(error.message, expected);
    let named = models(settings(&upstream, json!({ "model": MODEL })));
    assert_eq!(ask(&named, true).await.reply.unwrap().text, "At nine.");
}

#[tokio::test]
async fn ask_uses_it_too() {
    let upstream = local().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hours.md");
    std::fs::write(&file, "The museum opens at nine.\n").unwrap();
    let run = async |model: &str| -> Output {
        let mut command = program().command(
            folder.path(),
            &["ask", "--source", file.to_str().unwrap(), "When does the museum open?"],
        );
        command.env("OPENAI_BASE_URL", upstream.url()).env("OPENAI_MODEL", model);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    };
    let output = run(MODEL).await;
    let (said, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.starts_with("At nine."), "{said}{errors}");
    let output = run("").await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("asked for the model `gpt-4o`; `OPENAI_MODEL`"), "{errors}");
}

#[test]
fn a_name_that_only_the_upstream_knows_is_refused_with_the_variable_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hours.md");
    std::fs::write(&file, "The museum opens at nine.\n").unwrap();
    let file = file.to_str().unwrap();
    let arguments = ["ask", "--source", file, "--model", MODEL, "When does it open?"];
    let output = program().run(folder.path(), &arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("must be one of") && errors.contains("`OPENAI_MODEL`"), "{errors}");
}

#[test]
fn config_check_shows_it_and_warns_if_it_has_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    let check = |variables: &[(&str, &str)]| {
        let mut command = program().command(folder.path(), &["config", "check"]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    };
    let url = ("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1");
    let (is_valid, settings, errors) = check(&[url, ("OPENAI_MODEL", MODEL)]);
    assert!(is_valid && errors.is_empty(), "{errors}");
    assert!(settings.contains("model = \"llama3.1\""), "{settings}");
    let (is_valid, _, errors) = check(&[("OPENAI_MODEL", MODEL)]);
    assert!(is_valid && errors.contains("`OPENAI_MODEL` is ignored"), "{errors}");
    let (is_valid, _, errors) = check(&[url, ("OPENAI_MODEL", "a\nb")]);
    assert!(!is_valid && errors.contains("`OPENAI_MODEL` must have 1 to 200"), "{errors}");
}
