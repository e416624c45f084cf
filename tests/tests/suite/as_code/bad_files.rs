//! Messages about files that are wrong.

use super::Place;

#[tokio::test]
async fn an_error_names_the_file_the_place_and_the_reason() {
    for (name, text, parts) in [
        (
            "a.yaml",
            "version: 1\nset: s\nagent: {}\n",
            ["a.yaml", "unknown field `agent`", "line 3"],
        ),
        (
            "a.yaml",
            "version: 1\nset: s\nagents:\n  a:\n    name: A\n    modell: x\n",
            ["a.yaml", "unknown field `modell`", "line 6"],
        ),
        (
            "a.yaml",
            "version: 1\nset: s\nagents: {a: {name: A, temperature: warm}}\n",
            ["a.yaml", "line 3", "column"],
        ),
        (
            "a.yaml",
            "version: 1\nset: s\nagents:\n  a: {}\n",
            ["a.yaml", "missing field `name`", "line 4"],
        ),
        ("a.yaml", "version: 1\nset: s\nset: t\n", ["a.yaml", "duplicate", "line 3"]),
        ("a.yaml", "version: 2\nset: s\n", ["a.yaml", "`version` must be 1", "not 2"]),
        ("a.yaml", "version: 1\nset: a b\n", ["`set`", "must be 1 to 40 characters", ""]),
        (
            "a.toml",
            "version = 1\nset = \"s\"\nagent = 1\n",
            ["a.toml", "unknown field `agent`", "line 3 column 1"],
        ),
        (
            "a.json",
            "{\"version\": 1, \"set\": \"s\", \"agent\": 1}",
            ["a.json", "unknown field `agent`", "line 1 column"],
        ),
        (
            "a.json",
            "{\"version\": 1, \"set\": \"s\",\n\"agents\": {\"a\": {\"name\": \"A\"}, \"a\": {\"name\": \"B\"}}}",
            ["a.json", "duplicate key `a`", "line 2"],
        ),
        (
            "a.yaml",
            "version: 1\nset: s\nagents: {a: {name: A, temperature: .nan}}\n",
            ["agents.a.temperature", "must be between 0.0 and 2.0", ""],
        ),
        (
            "a.yaml",
            "version: 1\nset: s\nwebhooks: {w: {url: 'https://a.example', write_to: s/one}}\n\
             keys: {k: {permissions: [agents:read], write_to: ./s/x/../one}}\n",
            ["keys.k", "webhooks.w", "write_to"],
        ),
        (
            "a.toml",
            "version = 1\nset = \"s\"\n[agents.a]\nname = \"A\"\n[agents.a]\nname = \"B\"\n",
            ["a.toml", "duplicate key", "line 5"],
        ),
        ("a.txt", "version: 1\n", ["a.txt", ".yaml, .yml, .toml or .json", ""]),
        (
            "a.yaml",
            "version: 1\nset: s\nagents: {a: {name: A, sources: {b: {text: x, qa: []}}}}\n",
            ["agents.a.sources.b", "exactly one of", ""],
        ),
        (
            "a.yaml",
            "version: 1\nset: s\nagents: {a: {name: A, sources: {b: {upload: none.pdf}}}}\n",
            ["none.pdf", "cannot read", ""],
        ),
        (
            "a.yaml",
            "version: 1\nset: s\nagents: {a: {name: A, system_prompt: {file: none.md}}}\n",
            ["none.md", "cannot read", ""],
        ),
        (
            "a.yaml",
            "version: 1\nset: s\nkeys: {k: {permissions: [x], agents: [b], write_to: k}}\n",
            ["keys.k.agents", "no agent `b`", ""],
        ),
    ] {
        let place = Place::new(&[(name, text)]);
        for command in ["plan", "apply"] {
            let (out, errors) = place.ends(1, &[command, "-f", name]);
            assert!(out.is_empty() && errors.lines().count() == 1, "{errors}");
            for part in parts {
                assert!(errors.contains(part), "{errors:?} lacks {part:?}");
            }
        }
    }
}

#[tokio::test]
async fn what_the_server_would_refuse_is_refused_before_the_first_step() {
    let place = Place::new(&[(
        "cicerone.yaml",
        "version: 1\nset: s\nagents:\n  a: {name: A}\n  b: {name: B, temperature: 9, max_tokens: 0, answer_floor: x}\n",
    )]);
    for command in ["plan", "apply"] {
        let (_, errors) = place.ends(1, &[command]);
        for field in ["temperature", "max_tokens", "answer_floor"] {
            assert!(errors.contains(&format!("`agents.b.{field}` must be")), "{errors}");
        }
    }
    assert!(place.client.list_all("/v1/agents", 10).await.is_empty(), "nothing was created");
}

#[tokio::test]
async fn bombs_are_refused_soon() {
    let mut laughs = "version: 1\nset: s\na: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (from, to) in
        ["ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"].iter().map(|pair| pair.split_at(1))
    {
        laughs += &format!("{to}: &{to} [{}]\n", vec![format!("*{from}"); 9].join(", "));
    }
    let deep = format!("version: 1\nset: {}\n", "[".repeat(100_000));
    let long = format!("version: 1\nset: s\n# {}\n", "x".repeat(5 * 1_024 * 1_024));
    for text in [laughs, deep, long] {
        let place = Place::new(&[("cicerone.yaml", &text)]);
        place.ends(1, &["plan"]);
    }
}

#[tokio::test]
async fn what_the_server_refuses_names_the_request_and_the_field() {
    let place = Place::new(&[(
        "cicerone.yaml",
        "version: 1\nset: s\nagents: {a: {name: A, model: none}}\n",
    )]);
    let (_, errors) = place.ends(1, &["apply"]);
    assert!(errors.contains("`model` must be one of"), "{errors}");
    place.write(&[
        (
            "cicerone.yaml",
            "version: 1\nset: s\nagents: {a: {name: A, sources: {b: {upload: b.exe}}}}\n",
        ),
        ("b.exe", "MZ\0"),
    ]);
    let (_, errors) = place.ends(1, &["apply"]);
    assert!(errors.contains("source `a/b`: "), "{errors}");
}

#[tokio::test]
async fn a_server_that_is_not_there_and_a_missing_key_are_told() {
    let place = Place::new(&[("cicerone.yaml", "version: 1\nset: s\n")]);
    let output = place.command_at("127.0.0.1:9", &["apply"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("the server at `http://127.0.0.1:9` cannot be reached"), "{errors}");
    let output = place
        .command_at("127.0.0.1:9", &["apply"])
        .env_remove("CICERONE_API_KEY")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("`CICERONE_API_KEY` is not set"), "{errors}");
}
