//! The command line as a person uses it: the program itself, with an environment of its own.

mod documentation;
mod program;
mod reading;

use program::Workplace;

const LIGHT: &str = "# The light\n\nThe harbour light was built in 1854 of local stone.\n";

#[test]
fn ask_answers_from_a_file_and_names_it() {
    let place = Workplace::new();
    place.write("light.md", LIGHT);
    let run = place.run(&["ask", "--source", "light.md", "When was the harbour light built?"]);
    assert!(run.stdout.contains("1854"), "{run:?}");
    assert!(run.stdout.ends_with("\nSources:\n[1] light.md\n"), "{run:?}");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}

#[test]
fn ask_prints_json_for_scripts() {
    let place = Workplace::new();
    place.write("light.md", LIGHT);
    let run = place.run(&["ask", "-s", "light.md", "--json", "When was the harbour light built?"]);
    let reply: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(reply["reply"].as_str().unwrap().contains("1854"), "{run:?}");
    assert_eq!(reply["sources"][0]["title"], "light.md");
    assert_eq!(reply["sources"][0]["number"], 1);
}

#[test]
fn a_question_that_the_sources_do_not_cover_gets_an_honest_reply() {
    let place = Workplace::new();
    place.write("light.md", LIGHT);
    let run = place.run(&["ask", "-s", "light.md", "--json", "Which wines suit oysters?"]);
    let reply: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(reply["sources"], serde_json::json!([]), "{run:?}");
    assert_eq!(run.status, 0);
}

#[test]
fn ask_reads_the_prose_of_a_folder_and_reports_the_rest() {
    let place = Workplace::new();
    place.write("docs/light.md", LIGHT);
    place.write("docs/deep/boat.txt", "The lifeboat is called Marie.");
    place.write("docs/plan.pdf", "%PDF-1.7 ...");
    place.write("docs/tool.rs", "fn main() {}");
    let run = place.run(&["ask", "-s", "docs", "What is the lifeboat called?"]);
    assert!(run.stdout.contains("Marie") && run.stdout.contains("docs/deep/boat.txt"), "{run:?}");
    assert!(run.stderr.contains("skipped `docs/plan.pdf`: the PDF is damaged"), "{run:?}");
    assert!(run.stderr.contains("skipped 1 files"), "{run:?}");
    assert_eq!(run.status, 0);
}

#[test]
fn a_file_beyond_the_size_of_a_text_source_is_read_whole() {
    let place = Workplace::new();
    let filler = "Gulls sit on the wall and watch the tide.\n\n".repeat(4_000);
    place.write("long.txt", &format!("{filler}The lifeboat is called Marie."));
    let run = place.run(&["ask", "-s", "long.txt", "What is the lifeboat called?"]);
    assert!(run.stdout.contains("Marie"), "{run:?}");
}

#[test]
fn a_data_directory_keeps_what_was_indexed_and_follows_the_files() {
    let place = Workplace::new();
    place.write("docs/light.md", LIGHT);
    place.write("docs/boat.md", "The lifeboat is called Marie.");
    let ask = |question: &str| {
        let run = place.run(&["ask", "-s", "docs", "--data-dir", "kept", "--json", question]);
        serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()
    };
    let first = ask("When was the harbour light built?");
    let again = ask("When was the harbour light built?");
    assert_eq!(first["sources"][0]["id"], again["sources"][0]["id"], "added once");

    place.write("docs/light.md", &LIGHT.replace("1854", "1902"));
    let changed = ask("When was the harbour light built?");
    assert!(changed["reply"].as_str().unwrap().contains("1902"), "{changed}");
    assert!(!changed["reply"].as_str().unwrap().contains("1854"), "{changed}");

    place.remove("docs/boat.md");
    assert_eq!(ask("What is the lifeboat called?")["sources"], serde_json::json!([]));

    let run = place.run(&["ask", "--data-dir", "kept", "When was the harbour light built?"]);
    assert!(run.stdout.contains("1902"), "without naming the files again: {run:?}");
}

#[test]
fn what_ask_cannot_read_fails_with_a_line_that_says_why() {
    let place = Workplace::new();
    place.write("plan.pdf", "%PDF-1.7 ...");
    place.write("image.png", "\u{89}PNG\0");
    place.write("empty.txt", " \n");
    let cases = [
        ("http://127.0.0.1:9/docs", 1, "not a public web address"),
        ("ftp://example.com", 2, "must be an http or https URL"),
        ("plan.pdf", 1, "the PDF"),
        ("image.png", 1, "HTML or text file"),
        ("empty.txt", 1, "the file contains no text"),
        ("missing.txt", 1, "cannot read `missing.txt`"),
    ];
    for (source, status, reason) in cases {
        let run = place.run(&["ask", "-s", source, "Anything?"]);
        assert_eq!(run.status, status, "{run:?}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(reason), "{run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
    let run = place.run(&["ask", "Anything?"]);
    assert!(run.status == 2 && run.stderr.contains("nothing to answer from"), "{run:?}");
    let run = place.run(&["ask", "-s", "empty.txt", " "]);
    assert!(run.status == 2 && run.stderr.contains("`QUESTION` must not be empty"), "{run:?}");
}

#[test]
fn accounts_and_keys_are_managed_without_a_server() {
    let place = Workplace::new();
    let nowhere = place.run(&["account", "create", "ann"]);
    assert!(nowhere.status == 1 && nowhere.stderr.contains("there is no database"), "{nowhere:?}");
    assert_eq!(place.run(&["migrate", "run"]).status, 0);
    let account = place.run(&["account", "create", "ann"]);
    assert!(
        account.stdout.starts_with("acct_") && account.stdout.ends_with(" ann\n"),
        "{account:?}"
    );
    assert_eq!(place.run(&["account", "create", "ann"]).status, 1);
    assert!(place.run(&["account", "list"]).stdout.ends_with(" ann\n"));

    let create = ["key", "create", "--account", "ann", "--permission", "agents:read"];
    let key = place.run(&create);
    assert!(key.stdout.starts_with("ck_") && key.stdout.len() == 53, "the secret alone: {key:?}");
    let id = key.stderr.split([' ', ';']).nth(1).unwrap();
    assert_eq!(place.run(&["key", "revoke", id]).stdout, format!("revoked {id}\n"));
    assert_eq!(place.run(&["key", "revoke", id]).status, 1);

    let nobody = place.run(&["key", "create", "--account", "bob", "--permission", "*"]);
    assert!(
        nobody.status == 2 && nobody.stderr.contains("no account is named `bob`"),
        "{nobody:?}"
    );
    let unknown = place.run(&["key", "create", "--account", "ann", "--permission", "fly"]);
    assert!(unknown.status == 2 && unknown.stderr.contains("`fly` is not"), "{unknown:?}");
}

#[test]
fn migrations_are_shown_applied_and_taken_back() {
    let place = Workplace::new();
    assert!(place.run(&["migrate", "status"]).stdout.starts_with("pending "));
    assert!(place.run(&["migrate", "run"]).stdout.starts_with("applied "));
    assert_eq!(place.run(&["migrate", "run"]).stdout, "");
    assert!(place.run(&["migrate", "redo"]).stdout.starts_with("redone "));
    assert!(place.run(&["migrate", "revert"]).stdout.starts_with("reverted "));
    assert!(place.run(&["migrate", "status"]).stdout.contains("pending "));
}

#[test]
fn the_settings_in_effect_are_a_file_that_can_be_used_again() {
    let place = Workplace::new();
    let shown = place.run(&["config", "check"]).stdout;
    assert!(shown.contains("bind = \"127.0.0.1:8080\""), "{shown}");
    place.write("again.toml", &shown);
    let again = place.run(&["--config", "again.toml", "config", "check"]);
    assert_eq!(again.stdout, shown, "{again:?}");
    place.write("bad.toml", "bnid = 1\n");
    let bad = place.run(&["--config", "bad.toml", "config", "check"]);
    assert!(bad.status == 2 && bad.stderr.contains("`bnid` is not a setting"), "{bad:?}");
    place.write("models.toml", "[models.default]\nupstream = \"nowhere\"\n");
    let bad = place.run(&["--config", "models.toml", "config", "check"]);
    assert!(bad.status == 2 && bad.stderr.contains("`models.default.upstream`"), "{bad:?}");
}

#[test]
fn the_program_explains_itself() {
    let place = Workplace::new();
    let help = place.run(&[]);
    assert_eq!(help.status, 0);
    assert_eq!(help.stdout, place.run(&["--help"]).stdout);
    assert!(help.stdout.contains("cicerone ask --source README.md"));
    assert!(place.run(&["--version"]).stdout.starts_with("cicerone "));
    let document: serde_json::Value =
        serde_json::from_str(&place.run(&["openapi"]).stdout).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.run(&["completions", shell]).stdout.contains("cicerone"));
    }
}

#[test]
fn a_taken_address_stops_the_start_with_a_line_that_names_the_setting() {
    let place = Workplace::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = place.run_with(&[("CICERONE_BIND", &address)], &["serve"]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.starts_with("error: `CICERONE_BIND`: cannot listen on"), "{run:?}");
}

#[test]
fn the_reference_of_the_settings_is_up_to_date_and_its_examples_can_be_used() {
    let place = Workplace::new();
    let page = place.run(&["config", "reference"]).stdout;
    let written = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let written = std::fs::read_to_string(written).unwrap();
    assert!(page == written, "run: cargo run -- config reference > docs/configuration.md");
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() > 1, "{page}");
    for example in examples {
        place.write("example.toml", example);
        let environment = [("OFFICIAL_KEY", "sk-1")];
        let run = place.run_with(&environment, &["--config", "example.toml", "config", "check"]);
        assert_eq!(run.status, 0, "{example}\n{run:?}");
    }
}

#[test]
fn every_setting_in_effect_is_explained_in_the_reference() {
    let place = Workplace::new();
    let page = place.run(&["config", "reference"]).stdout;
    let shown = place.run(&["config", "check"]).stdout;
    for (name, _) in shown.lines().filter_map(|line| line.split_once(" = ")) {
        assert!(page.contains(&format!("\n| `{name}`")), "{name}");
    }
    for name in ["base_url", "api_key_variable", "fallbacks]]", "upstream", "bytes"] {
        assert!(page.contains(name), "{name}");
    }
}

#[test]
fn health_tells_whether_a_server_is_ready() {
    let place = Workplace::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let run = place.run_with(&[("CICERONE_BIND", &address)], &["health"]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.starts_with("error: the server does not answer"), "{run:?}");
}
