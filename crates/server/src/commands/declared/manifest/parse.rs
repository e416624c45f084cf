//! Reading the file: YAML, TOML or JSON, by its extension.

use std::path::Path;

use super::Manifest;
use crate::failure::Failure;

/// The largest file of declarations, in bytes (4 MiB).
const MANIFEST_BYTES: u64 = 4 * 1_024 * 1_024;
/// The version of the format that this program reads.
const VERSION: u32 = 1;

/// The notation of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Format {
    Yaml,
    Toml,
    Json,
}

impl Format {
    /// The notation of a file, by its extension.
    pub(in super::super) fn of(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => Ok(Self::Yaml),
            Some("toml") => Ok(Self::Toml),
            Some("json") => Ok(Self::Json),
            _ => Err(Failure::new(format!(
                "`{}`: the name must end with .yaml, .yml, .toml or .json",
                path.display()
            ))),
        }
    }
}

/// Reads a file.
pub(in super::super) fn read(path: &Path) -> Result<Manifest, Failure> {
    let format = Format::of(path)?;
    let shown = path.display();
    let failed = |error| Failure::because(&format!("cannot read `{shown}`"), &error);
    if std::fs::metadata(path).map_err(failed)?.len() > MANIFEST_BYTES {
        return Err(Failure::new(format!(
            "`{shown}` is larger than 4 MiB; put large texts into files of their own"
        )));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let manifest =
        parse(&text, format).map_err(|error| Failure::new(format!("`{shown}`: {error}")))?;
    if manifest.version != VERSION {
        return Err(Failure::new(format!(
            "`{shown}`: `version` must be {VERSION}, the version that this program reads, not {}",
            manifest.version
        )));
    }
    Ok(manifest)
}

/// Parses a text. The error names the line and the column.
pub(super) fn parse(text: &str, format: Format) -> Result<Manifest, String> {
    match format {
        Format::Yaml => serde_saphyr::from_str(text).map_err(|error| {
            let error = error.without_snippet();
            let said = match error {
                serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => {
                    format!("duplicate key `{key}`")
                }
                _ => error.to_string(),
            };
            match error.location() {
                Some(at) if !said.contains(" column ") => {
                    format!("{said} at line {} column {}", at.line(), at.column())
                }
                _ => said,
            }
        }),
        Format::Toml => toml::from_str(text).map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            let (line, column) = place(text, at);
            let said = error.message().replace('\n', ": ");
            format!("{said} at line {line} column {column}")
        }),
        Format::Json => serde_json::from_str(text).map_err(|error| error.to_string()),
    }
}

/// The line and column of a byte, from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::super::{Field, PairsFrom, TextFrom};
    use super::{Format, parse};

    #[test]
    fn the_same_file_in_three_notations() {
        let yaml = "version: 1\nset: s\nagents:\n  a:\n    name: A\n    model: null\n    \
                    system_prompt: {file: p.md}\n    sources:\n      f: {qa: [{question: Q, answer: A}]}\n";
        let toml = "version = 1\nset = \"s\"\n[agents.a]\nname = \"A\"\nsystem_prompt = { file = \"p.md\" }\n\
                    [agents.a.sources.f]\nqa = [{ question = \"Q\", answer = \"A\" }]\n";
        let json = r#"{"$schema": "cicerone.schema.json", "version": 1, "set": "s", "agents": {"a": {"name": "A", "system_prompt": {"file": "p.md"},
            "sources": {"f": {"qa": [{"question": "Q", "answer": "A"}]}}}}}"#;
        for (text, format) in [(yaml, Format::Yaml), (toml, Format::Toml), (json, Format::Json)] {
            let manifest = parse(text, format).unwrap();
            let agent = &manifest.agents.unwrap()["a"];
            assert!(
                matches!(&agent.system_prompt, Field::Value(TextFrom::File(path)) if path == "p.md")
            );
            assert_eq!(matches!(agent.model, Field::Null), format == Format::Yaml);
            assert!(matches!(agent.temperature, Field::Absent));
            let qa = agent.sources.as_ref().unwrap()["f"].qa.as_ref().unwrap();
            assert!(matches!(qa, PairsFrom::Inline(pairs) if pairs.len() == 1));
        }
    }

    #[test]
    fn an_error_names_what_is_wrong_and_where() {
        for (text, format, parts) in [
            ("version: 1\nset: s\nagent: {}\n", Format::Yaml, ["`agent`", "line 3", "column 1"]),
            (
                "version: 1\nset: s\nagents:\n  a: {name: A, tone: x}\n",
                Format::Yaml,
                ["`tone`", "line 4", "column"],
            ),
            (
                "version: 1\nset: s\nset: t\n",
                Format::Yaml,
                ["duplicate key `set`", "line 3", "column 1"],
            ),
            ("version: one\nset: s\n", Format::Yaml, ["line 1", "column 10", ""]),
            ("version: 1\nset: [\n", Format::Yaml, ["line", "column", ""]),
            (
                "version = 1\nset = \"s\"\nagent = {}\n",
                Format::Toml,
                ["`agent`", "line 3", "column 1"],
            ),
            ("{\"version\": 1,\n \"agent\": {}}", Format::Json, ["`agent`", "line 2", "column 8"]),
            (
                "version: 1\nset: s\nagents: {a: {name: A, sources: {f: {text: {path: x}}}}}\n",
                Format::Yaml,
                ["`path`", "line 3", "column"],
            ),
        ] {
            let error = parse(text, format).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{error:?} lacks {part:?}");
            }
            assert!(!error.contains('\n'), "{error:?}");
        }
    }
}
