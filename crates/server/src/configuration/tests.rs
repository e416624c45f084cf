use std::io::Write as _;

use tempfile::NamedTempFile;

use super::load::unknown_setting;
use super::{Configuration, Environment, LogFormat, load};

fn environment(pairs: &[(&str, &str)]) -> Environment {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn with_file(text: &str, pairs: &[(&str, &str)]) -> Result<Configuration, String> {
    let file = file(text);
    let mut environment = environment(pairs);
    environment.insert("CICERONE_CONFIG".to_owned(), file.path().display().to_string());
    load(&environment)
        .map_err(|error| error.to_string().replace(&*file.path().to_string_lossy(), "FILE"))
}

fn refusal(pairs: &[(&str, &str)]) -> String {
    load(&environment(pairs)).unwrap_err().to_string()
}

#[test]
fn nothing_configured_is_the_embedded_default() {
    let configuration = load(&environment(&[])).unwrap();
    assert_eq!(configuration.settings.bind, "127.0.0.1:8080");
    assert_eq!(configuration.database.to_string(), "sqlite:./data/cicerone.db");
    assert_eq!(configuration.object_store_url, "file:./data/objects");
    assert_eq!(configuration.settings.rate_limit_per_minute, 6_000);
    assert!(configuration.root_key.is_none());
    assert!(configuration.is_embedded());
}

#[test]
fn the_environment_wins_over_the_file_and_the_file_over_the_defaults() {
    let text = "bind = \"0.0.0.0:1\"\ndata_dir = \"/srv\"\n[workers]\nparallel = 7\n";
    let configuration = with_file(text, &[("CICERONE_BIND", "[::1]:2")]).unwrap();
    assert_eq!(configuration.settings.bind, "[::1]:2");
    assert_eq!(configuration.database.to_string(), "sqlite:/srv/cicerone.db");
    assert_eq!(configuration.settings.workers.parallel, 7);
    assert_eq!(configuration.settings.http.replies_at_once, 512);
}

#[test]
fn every_variable_is_read() {
    let key = "12345678901234567890123456789012";
    let configuration = load(&environment(&[
        ("CICERONE_ROOT_KEY", key),
        ("CICERONE_EGRESS_ALLOW", "10.0.0.0/8, ::1, 192.168.7.9/16"),
        ("CICERONE_RATE_LIMIT_PER_MINUTE", "0"),
        ("CICERONE_LOG_FORMAT", "json"),
        ("CICERONE_DATABASE_URL", "postgres://ann:pw@db/c"),
        ("CICERONE_OBJECT_STORE_URL", "file:/srv/files"),
        ("RUST_LOG", "warn,cicerone_http=debug"),
        ("OPENAI_BASE_URL", "http://localhost:11434/v1"),
        ("OPENAI_MODEL", "llama3.1"),
    ]))
    .unwrap();
    assert_eq!(configuration.root_key.unwrap().reveal(), key);
    let ranges = configuration.egress_allow.iter().map(ToString::to_string);
    assert_eq!(ranges.collect::<Vec<_>>(), ["10.0.0.0/8", "::1/128", "192.168.0.0/16"]);
    assert_eq!(configuration.settings.rate_limit_per_minute, 0);
    assert_eq!(configuration.settings.log_format, Some(LogFormat::Json));
    assert_eq!(configuration.database.to_string(), "postgres://ann@db/c");
    assert_eq!(configuration.object_store_url, "file:/srv/files");
    assert_eq!(configuration.settings.log, "warn,cicerone_http=debug");
    let upstream = &configuration.settings.models.upstreams["openai"];
    assert_eq!(upstream.model.as_deref(), Some("llama3.1"));
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let configuration =
        load(&environment(&[("CICERONE_BIND", ""), ("OPENAI_API_KEY", " ")])).unwrap();
    assert_eq!(configuration.settings.bind, "127.0.0.1:8080");
    assert!(configuration.settings.models.upstreams.is_empty());
}

#[test]
fn a_bad_value_names_its_variable() {
    let cases = [
        ("CICERONE_BIND", "8080", "must be an address and port"),
        ("CICERONE_BIND", "localhost:99999", "must be an address and port"),
        ("CICERONE_DATABASE_URL", "mysql://x", "must be `sqlite:PATH`"),
        ("CICERONE_OBJECT_STORE_URL", "ftp://b/p", "must be `file:PATH` or `s3:"),
        ("CICERONE_OBJECT_STORE_URL", "s3://", "must be `file:PATH` or `s3:"),
        ("CICERONE_ROOT_KEY", "short", "at least 32"),
        ("CICERONE_EGRESS_ALLOW", "10.0.0.0/33", "such as `10.0.0.0/8`, not `10.0.0.0/33` (from"),
        ("CICERONE_EGRESS_ALLOW", "::1, localhost", "such as `10.0.0.0/8`, not `localhost` (from"),
        ("CICERONE_RATE_LIMIT_PER_MINUTE", "many", "bad value"),
        ("CICERONE_RATE_LIMIT_PER_MINUTE", "-1", "bad value"),
        ("CICERONE_LOG_FORMAT", "xml", "bad value"),
        ("RUST_LOG", "infoo", "has `infoo`, which is not a level"),
        ("RUST_LOG", "warn,cicerone_http", "such as `cicerone_http=debug`"),
        ("RUST_LOG", "cicerone=loud", "is not a log filter"),
    ];
    for (variable, value, reason) in cases {
        let line = refusal(&[(variable, value)]);
        assert!(line.starts_with(&format!("`{variable}` ")), "{line}");
        assert!(line.contains(reason) && line.ends_with("(from the environment)"), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }
}

#[test]
fn a_bad_value_in_the_file_names_its_key_and_the_file() {
    let cases = [
        ("bnid = \"x\"", "`bnid` is not a setting; the settings here are bind, data_dir"),
        ("[http]\nthread = 1", "`http.thread` is not a setting; the settings here are threads"),
        ("[http]\nthreads = \"many\"", "`http.threads` has a bad value"),
        ("[http]\nthreads = 0", "`http.threads` must be at least 1"),
        ("bind = \"x\"", "`bind` must be an address and port"),
        (
            "[ocr]\ncommand = \"no-such-program\"",
            "`ocr.command` names a program that was not found",
        ),
        ("[ocr]\nlanguages = \"-l\"", "`ocr.languages` must be names such as `eng+deu`, not `-l`"),
        ("[ocr]\nfolders = [\"data\"]", "`ocr.folders` must be absolute paths, not `data`"),
        ("[ocr]\npages = 0", "`ocr.pages` must be from 1 to 10000"),
        ("[models.upstreams.a]\nbase_ur = \"x\"", "`models.upstreams.a.base_ur` is not a setting"),
        ("[models.upstreams.a]\na = \"x\"", "`models.upstreams.a.a` is not a setting"),
    ];
    for (text, start) in cases {
        let line = with_file(text, &[]).unwrap_err();
        assert!(line.starts_with(start), "{line}");
        assert!(line.ends_with("(in the file `FILE`)") && !line.contains('\n'), "{line}");
    }
}

/// Settings with these fields.
macro_rules! settings {
    ($name:ident: $($field:ident),+) => {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[allow(dead_code, reason = "only its fields' names matter")]
        struct $name {
            $($field: Option<u8>),+
        }
    };
}

#[test]
fn the_known_settings_are_listed() {
    settings!(One: a);
    settings!(Two: a, b);
    settings!(Three: a, b, c);
    let messages = [
        toml::from_str::<One>("x = 1").unwrap_err(),
        toml::from_str::<Two>("x = 1").unwrap_err(),
        toml::from_str::<Three>("x = 1").unwrap_err(),
    ];
    for (message, known) in messages.iter().zip(["a", "a, b", "a, b, c"]) {
        assert_eq!(unknown_setting(message.message()), Some(("x", known.to_owned())));
    }
}

#[test]
fn a_file_that_is_no_toml_or_cannot_be_read_says_so() {
    let line = with_file("bind = \n", &[]).unwrap_err();
    assert!(line.starts_with("the file `FILE` is not TOML: ") && line.contains("line 1"), "{line}");
    let line = refusal(&[("CICERONE_CONFIG", "/nowhere/c.toml")]);
    assert!(line.starts_with("`CICERONE_CONFIG` names the file `/nowhere/c.toml`"), "{line}");
}

#[test]
fn secrets_are_masked_wherever_settings_are_shown() {
    let key = "a-root-key-of-more-than-32-characters";
    let pairs = [("CICERONE_ROOT_KEY", key), ("OPENAI_API_KEY", "sk-secret")];
    let configuration = load(&environment(&pairs)).unwrap();
    let shown = toml::to_string(&configuration.settings).unwrap();
    assert!(!shown.contains(key) && !shown.contains("sk-secret"), "{shown}");
    assert!(!format!("{configuration:?}").contains(key));
}

#[test]
fn the_default_limits_of_readers_are_those_of_the_sandbox() {
    let configuration = load(&environment(&[])).unwrap();
    assert_eq!(configuration.settings.sandbox(), cicerone_ingestion::SandboxSettings::default());
    assert_eq!(configuration.settings.workers(), cicerone_processing::WorkerSettings::default());
    assert_eq!(configuration.settings.retention(), cicerone_processing::Retention::default());
}

#[test]
fn variables_that_set_nothing_are_known() {
    let environment = environment(&[
        ("CICERONE_DATADIR", "/srv"),
        ("CICERONE_DATA_DIR", "/srv"),
        ("CICERONE_CONFIG", ""),
        ("CICERONE_API_KEY", "ck_"),
        ("CICERONE_SERVICE_HOST", "10.0.0.1"),
        ("CICERONE_PORT", "tcp://10.0.0.1:8080"),
        ("CICERONE_DB_PORT_5432_TCP_ADDR", "10.0.0.1"),
        ("PATH", "/bin"),
    ]);
    assert_eq!(super::unknown_variables(&environment).collect::<Vec<_>>(), ["CICERONE_DATADIR"]);
}
