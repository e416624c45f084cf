//! Links between pages, and from pages to other files of the repository.

use super::{SOURCES, Source};

/// Where a link of a page leads on this server, `None` if nowhere: the file is in the repository only.
pub(super) fn target(page: &Source, link: &str) -> Option<String> {
    if link.starts_with('#') || link.starts_with("https://") || link.starts_with('/') {
        return Some(link.to_owned());
    }
    let (path, fragment) = match link.split_once('#') {
        Some((path, fragment)) => (path, format!("#{fragment}")),
        None => (link, String::new()),
    };
    let wanted = resolved(page.file, path);
    if wanted == resolved("", "../openapi.json") {
        return Some("/v1/openapi.json".to_owned());
    }
    let source = SOURCES.iter().find(|source| resolved("", source.file) == wanted)?;
    Some(source.address() + &fragment)
}

/// The segments of a path from the root of the repository, given from a file that is given from `docs/book`.
fn resolved<'a>(file: &'a str, path: &'a str) -> Vec<&'a str> {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut segments = vec!["docs", "book"];
    for segment in folder.split('/').chain(path.split('/')) {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            name => segments.push(name),
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_or_to_the_document_or_nowhere() {
        let page = |file: &str| SOURCES.iter().find(|source| source.file == file).unwrap();
        let cases = [
            ("files.md", "keys.md", Some("/docs/keys")),
            ("files.md", "../configuration.md#http", Some("/docs/configuration#http")),
            ("../openai.md", "api-design.md", Some("/docs/api-design")),
            ("../openai.md", "openapi.json", Some("/v1/openapi.json")),
            ("../../SECURITY.md", "docs/reading.md", Some("/docs/reading")),
            ("../deploy.md", "../SECURITY.md", Some("/docs/security")),
            ("../deploy.md", "../deploy/nginx.conf", None),
            ("keys.md", "#top", Some("#top")),
            ("keys.md", "https://www.rfc-editor.org/", Some("https://www.rfc-editor.org/")),
        ];
        for (file, link, expected) in cases {
            assert_eq!(target(page(file), link).as_deref(), expected, "{file} {link}");
        }
    }
}
