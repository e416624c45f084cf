//! The command line.

use std::fs;
use std::path::Path;
use std::process::Output;

use cicerone_tests::Server;
use serde_json::Value;
use tempfile::TempDir;

use crate::world::{own_server, program, server};

fn run(arguments: &[&str]) -> (Output, String, String) {
    run_with(arguments, &[])
}

fn run_with(arguments: &[&str], variables: &[(&str, &str)]) -> (Output, String, String) {
    let data = TempDir::new().unwrap();
    let mut command = program().command(data.path(), arguments);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    (output, out, errors)
}

/// Runs a command line that must fail with one line on standard error; returns the line.
fn refused(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let (output, _, errors) = run_with(arguments, variables);
    assert!(!output.status.success(), "{arguments:?} {variables:?} succeeded");
    assert_eq!(errors.trim_end().lines().count(), 1, "one clear line: {errors}");
    errors
}

#[test]
fn without_a_subcommand_help_is_printed() {
    let (_, out, errors) = run(&[]);
    let help = out + &errors;
    for command in ["serve", "ask", "account", "key", "migrate", "config", "openapi", "completions"]
    {
        assert!(help.contains(command), "`{command}` is not in {help}");
    }
}

#[test]
fn help_teaches_with_examples() {
    for arguments in [["--help"].as_slice(), &["ask", "--help"], &["key", "create", "--help"]] {
        let (output, out, _) = run(arguments);
        assert!(output.status.success());
        assert!(out.contains("Example"), "{out}");
        assert!(out.contains("cicerone "), "{out}");
    }
}

#[test]
fn the_version_is_printed() {
    let (output, out, _) = run(&["--version"]);
    assert!(output.status.success());
    assert_eq!(out.trim_end(), format!("cicerone {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_unknown_command_is_refused() {
    let (output, _, errors) = run(&["serv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.contains("serv"), "{errors}");
}

#[test]
fn completions_are_printed_for_each_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let (output, out, _) = run(&["completions", shell]);
        assert!(output.status.success());
        assert!(out.contains("cicerone"), "{out}");
    }
}

#[test]
fn config_check_prints_what_is_in_effect_with_secrets_masked() {
    let variables = [
        ("CICERONE_BIND", "127.0.0.1:7777"),
        ("CICERONE_ROOT_KEY", "root-secret-0123456789-0123456789-abc"),
        ("OPENAI_API_KEY", "model-secret-0123456789"),
        ("CICERONE_DATABASE_URL", "postgres://guide:database-secret@db.example/cicerone"),
        ("CICERONE_RATE_LIMIT_PER_MINUTE", "77"),
    ];
    let (output, out, errors) = run_with(&["config", "check"], &variables);
    assert!(output.status.success(), "{errors}");
    for shown in ["127.0.0.1:7777", "77", "db.example"] {
        assert!(out.contains(shown), "`{shown}` is not in {out}");
    }
    for secret in ["root-secret", "model-secret", "database-secret"] {
        assert!(!out.contains(secret) && !errors.contains(secret), "{out}{errors}");
    }
}

#[test]
fn settings_come_from_a_file_and_the_environment_wins() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cicerone.toml");
    fs::write(&file, "bind = \"127.0.0.1:7001\"\nrate_limit_per_minute = 71\n").unwrap();
    let file = file.to_str().unwrap();
    let (output, out, errors) = run_with(&["config", "check"], &[("CICERONE_CONFIG", file)]);
    assert!(output.status.success(), "{errors}");
    assert!(out.contains("127.0.0.1:7001") && out.contains("71"), "{out}");
    let variables = [("CICERONE_CONFIG", file), ("CICERONE_BIND", "127.0.0.1:7002")];
    let (_, out, _) = run_with(&["config", "check"], &variables);
    assert!(out.contains("127.0.0.1:7002") && !out.contains("127.0.0.1:7001"), "{out}");
}

#[test]
fn an_unknown_setting_in_the_file_stops_the_start_by_name() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cicerone.toml");
    fs::write(&file, "bint = \"127.0.0.1:7001\"\n").unwrap();
    let file = file.to_str().unwrap();
    for command in [["serve"].as_slice(), &["config", "check"]] {
        let line = refused(command, &[("CICERONE_CONFIG", file)]);
        assert!(line.contains("bint"), "{line}");
    }
}

#[test]
fn a_bad_value_in_the_file_stops_the_start_by_name() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cicerone.toml");
    let of_embeddings = |line: &str| format!("[embeddings]\nbase_url = \"http://x/v1\"\n{line}");
    let bad = [
        ("embeddings.base_url", "[embeddings]\nbase_url = \"nowhere\"\nmodel = \"m\"".to_owned()),
        ("embeddings.model", of_embeddings("")),
        ("embeddings.api_key_variable", of_embeddings("model = \"m\"\napi_key_variable = \"NO\"")),
        ("embeddings.weight", of_embeddings("model = \"m\"\nweight = nan")),
        ("http.threads", "[http]\nthreads = 1025".to_owned()),
    ];
    for (name, text) in bad {
        fs::write(&file, text).unwrap();
        for command in [["serve"].as_slice(), &["config", "check"]] {
            let line = refused(command, &[("CICERONE_CONFIG", file.to_str().unwrap())]);
            assert!(line.contains(name), "{line}");
        }
    }
}

#[test]
fn a_variable_that_is_no_setting_is_named() {
    let variables = [("CICERONE_DATADIR", "/srv")];
    let (output, _, errors) = run_with(&["config", "check"], &variables);
    assert!(output.status.success() && errors.contains("`CICERONE_DATADIR`"), "{errors}");
}

#[test]
fn a_bad_value_stops_the_start_by_name() {
    let bad = [
        ("CICERONE_BIND", "nowhere"),
        ("CICERONE_RATE_LIMIT_PER_MINUTE", "many"),
        ("CICERONE_RATE_LIMIT_PER_MINUTE", "-1"),
        ("CICERONE_DATABASE_URL", "mysql://localhost/cicerone"),
        ("CICERONE_OBJECT_STORE_URL", "ftp://localhost/files"),
        ("CICERONE_ROOT_KEY", "short"),
        ("CICERONE_EGRESS_ALLOW", "10.0.0.0/99"),
        ("CICERONE_LOG_FORMAT", "xml"),
        ("RUST_LOG", "infoo"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "foo"),
        ("OPENAI_BASE_URL", "not a url"),
        ("CICERONE_CONFIG", "/nonexistent/cicerone.toml"),
    ];
    for (name, value) in bad {
        for command in [["serve"].as_slice(), &["config", "check"]] {
            let line = refused(command, &[(name, value)]);
            assert!(line.contains(name), "`{name}={value}`: {line}");
        }
    }
}

#[test]
fn a_database_that_is_newer_than_the_program_stops_the_start() {
    let mut server = own_server();
    server.kill();
    let data = server.data();
    let file = fs::read_dir(data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"SQLite format 3")))
        .expect("the database is a file in the data directory");
    mark_as_newer(&file);
    let output = program().command(data, &["serve"]).env("CICERONE_BIND", "127.0.0.1:0").output();
    let output = output.unwrap();
    assert!(!output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("newer"), "{errors}");
}

/// Records a migration that this program does not have.
fn mark_as_newer(database: &Path) {
    use diesel::connection::SimpleConnection as _;
    use diesel::{Connection as _, SqliteConnection};
    let mut connection = SqliteConnection::establish(database.to_str().unwrap()).unwrap();
    connection
        .batch_execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101000000')")
        .unwrap();
}

#[test]
fn the_first_start_prints_a_key_once_and_never_logs_it() {
    let mut server = Server::of(&program()).without_root_key().start();
    let first = server.stdout_with("/docs");
    let is_key = |word: &&str| word.starts_with("ck_") && word.len() == 52;
    let words = |text: &str| -> Vec<String> {
        let split = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        split.filter(is_key).map(str::to_owned).collect()
    };
    let keys = words(&first);
    assert!(!keys.is_empty() && keys.iter().all(|key| *key == keys[0]), "{first}");
    assert!(first.contains("curl"), "commands to try: {first}");
    assert!(!server.stderr().contains(&keys[0]), "{}", server.stderr());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        server.client().with_key(&keys[0]).get("/v1/agents").await.expect(200);
    });
    server.restart();
    assert_eq!(words(&server.stdout()), Vec::<String>::new());
    runtime.block_on(async {
        server.client().with_key(&keys[0]).get("/v1/agents").await.expect(200);
    });
}

#[test]
fn the_commands_of_the_first_start_can_be_pasted_as_they_stand() {
    if std::process::Command::new("curl").arg("--version").output().is_err() {
        #[expect(clippy::disallowed_methods, reason = "whether a test may be skipped")]
        let must_run = std::env::var_os("CI").is_some();
        assert!(!must_run, "curl is not installed");
        eprintln!("curl is not installed, the commands of the first start were not tried");
        return;
    }
    let server = Server::of(&program()).without_root_key().start();
    let printed = server.stdout_with("/docs");
    let lines = printed.lines().skip_while(|line| !line.starts_with("KEY="));
    let script: String =
        lines.take_while(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect();
    let output = std::process::Command::new("sh").args(["-euc", &script]).output().unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    assert!(answer.contains("nine in the morning"), "{script}\n{answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["sources_used"].as_array().unwrap().len(), 1, "{answer}");
}

#[cfg(unix)]
#[test]
fn the_data_directory_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    program().succeed(&data, &["migrate", "run"]);
    assert_eq!(fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn accounts_are_created_once_and_listed() {
    let data = TempDir::new().unwrap();
    program().succeed(data.path(), &["migrate", "run"]);
    program().succeed(data.path(), &["account", "create", "Köln"]);
    let listed = program().succeed(data.path(), &["account", "list"]);
    assert!(listed.contains("Köln"), "{listed}");
    let again = program().run(data.path(), &["account", "create", "Köln"]);
    assert!(!again.status.success());
}

#[test]
fn accounts_and_keys_are_not_managed_in_a_database_that_does_not_exist() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("mistyped");
    let key = ["key", "create", "--account", "default", "--permission", "*"];
    for command in [&["account", "create", "Köln"][..], &["account", "list"], &key] {
        let output = program().run(&data, command);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("there is no database at `"), "{said}");
        assert!(!data.exists(), "nothing is created");
    }
}

#[test]
fn keys_need_an_account_and_permissions_that_exist() {
    let past = ["--expires-at", "2020-01-01T00:00:00Z"];
    let bad = [
        vec!["key", "create", "--account", "nobody", "--permission", "*"],
        vec!["key", "create", "--account", "default", "--permission", "agents:fly"],
        vec!["key", "create", "--account", "default"],
        vec!["key", "create", "--permission", "*"],
        [&["key", "create", "--account", "default", "--permission", "*"][..], &past].concat(),
        vec!["key", "revoke", "key_0000000000"],
        vec!["key", "revoke", "7"],
    ];
    for arguments in bad {
        let output = server().command(&arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn migrations_can_be_looked_at_and_run() {
    let data = TempDir::new().unwrap();
    program().succeed(data.path(), &["migrate", "run"]);
    let status = program().succeed(data.path(), &["migrate", "status"]);
    assert!(!status.trim().is_empty());
    program().succeed(data.path(), &["migrate", "redo"]);
    program().succeed(data.path(), &["migrate", "revert"]);
    program().succeed(data.path(), &["migrate", "run"]);
}

#[test]
fn the_contract_is_printed() {
    let (output, out, _) = run(&["openapi"]);
    assert!(output.status.success());
    let document: Value = serde_json::from_str(&out).unwrap();
    assert!(document["paths"]["/v1/agents"]["post"].is_object(), "{out:.300}");
}

fn library() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("hours.md"),
        "# Opening hours\n\nThe museum opens at nine o'clock. On Mondays it is closed.\n",
    )
    .unwrap();
    fs::create_dir(folder.path().join("more")).unwrap();
    fs::write(folder.path().join("more/prices.txt"), "A ticket costs twelve euros.\n").unwrap();
    folder
}

#[test]
fn ask_answers_from_a_file_with_its_sources() {
    let folder = library();
    let file = folder.path().join("hours.md");
    let (output, out, errors) =
        run(&["ask", "--source", file.to_str().unwrap(), "When does the museum open?"]);
    assert!(output.status.success(), "{errors}");
    assert!(out.contains("nine o'clock"), "{out}");
    assert!(out.contains("hours.md"), "{out}");
}

#[test]
fn the_first_command_of_the_readme_is_answered_from_the_readme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let line = readme.lines().find(|line| line.starts_with("cargo run --release -- ask")).unwrap();
    let question = line.split('"').nth(1).unwrap();
    let arguments = ["ask", "--json", "--source", "README.md", question];
    let data = TempDir::new().unwrap();
    let output = program().command(data.path(), &arguments).current_dir(root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reply = answer["reply"].as_str().unwrap();
    assert!(reply.contains("replies in whole sentences of your sources"), "{answer}");
    assert_eq!(answer["sources"][0]["title"], "README.md", "{answer}");
}

#[test]
fn ask_reads_saved_pages_as_browsers_do() {
    let folder = TempDir::new().unwrap();
    let page = "<!doctype html><title>Hours</title><main><h1>Hours</h1>\
                <p>The museum <em>opens</em> at <b>nine</b> &ndash; daily.</p></main>";
    std::fs::write(folder.path().join("hours.html"), page).unwrap();
    let source = folder.path().to_str().unwrap();
    let (output, out, errors) = run(&["ask", "--source", source, "When does the museum open?"]);
    assert!(output.status.success(), "{errors}");
    assert!(out.contains("The museum opens at nine – daily."), "{out}");
    assert!(!out.contains('<'), "{out}");
}

#[test]
fn ask_prints_json_for_scripts() {
    let folder = library();
    let source = folder.path().to_str().unwrap();
    let (output, out, errors) =
        run(&["ask", "--json", "--source", source, "How much does a ticket cost?"]);
    assert!(output.status.success(), "{errors}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert!(answer["reply"].as_str().unwrap().contains("twelve euros"), "{answer}");
    let sources = answer["sources"].as_array().unwrap();
    assert_eq!(sources.len(), 1, "{answer}");
    assert_eq!(sources[0]["number"], 1, "{answer}");
    assert!(sources[0]["title"].as_str().unwrap().contains("prices.txt"), "{answer}");
}

#[test]
fn ask_says_honestly_what_it_does_not_know() {
    let folder = library();
    let source = folder.path().to_str().unwrap();
    let question = "Which volcano erupted in Iceland last winter?";
    let (output, out, errors) = run(&["ask", "--json", "--source", source, question]);
    assert!(output.status.success(), "{errors}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["sources"], serde_json::json!([]));
}

#[test]
fn ask_keeps_what_it_indexed_where_it_is_told_to() {
    let folder = library();
    let kept = TempDir::new().unwrap();
    let kept = kept.path().join("kept");
    let (source, kept) = (folder.path().to_str().unwrap(), kept.to_str().unwrap());
    let question = "When does the museum open?";
    let (output, _, errors) = run(&["ask", "--source", source, "--data-dir", kept, question]);
    assert!(output.status.success(), "{errors}");
    let (output, out, errors) = run(&["ask", "--data-dir", kept, question]);
    assert!(output.status.success(), "{errors}");
    assert!(out.contains("nine o'clock"), "{out}");
}

#[test]
fn ask_names_a_file_that_is_not_there() {
    let (output, _, errors) = run(&["ask", "--source", "/nonexistent/hours.md", "When?"]);
    assert!(!output.status.success());
    assert!(errors.contains("/nonexistent/hours.md"), "{errors}");
}
