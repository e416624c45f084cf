//! The pages of the repository: their links lead somewhere, and every decision is listed.
#![expect(clippy::unwrap_used, reason = "a failed setup is a failed test")]

use std::path::{Path, PathBuf};

use crate::program::Workplace;

#[test]
fn the_picture_of_the_readme_shows_what_the_program_answers() {
    let picture = std::fs::read_to_string(root().join("docs/picture/answer.svg")).unwrap();
    let picture = picture.replace("&#160;", " ");
    let place = Workplace::new();
    for page in files(&root().join("docs/picture/museum")) {
        let name = page.file_name().unwrap().to_str().unwrap();
        place.write(&format!("museum/{name}"), &std::fs::read_to_string(&page).unwrap());
    }
    let questions: Vec<&str> = picture.split("&quot;").filter(|text| text.ends_with('?')).collect();
    assert_eq!(questions.len(), 2, "{picture}");
    for question in questions {
        let run = place.run(&["ask", "--source", "museum", question]);
        for line in run.stdout.lines() {
            assert!(picture.contains(line), "draw it again with docs/picture/draw.py: {line}");
        }
    }
}

#[test]
fn every_link_of_the_documentation_leads_to_a_page_and_its_heading() {
    let pages = pages();
    assert!(pages.len() > 40, "{pages:?}");
    let mut broken = Vec::new();
    for page in &pages {
        let text = prose(page);
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
        for link in links.filter(|link| !link.contains(':')) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = page.parent().unwrap();
            let target = if path.is_empty() { page.clone() } else { folder.join(path) };
            let is_there = target.exists() && (heading.is_empty() || has_heading(&target, heading));
            if !is_there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_decision_is_listed_and_has_a_number_of_its_own() {
    let folder = root().join("docs/decisions");
    let list = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut numbers = Vec::new();
    for page in files(&folder).into_iter().filter(|page| !page.ends_with("README.md")) {
        let name = page.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(list.contains(&format!("]({name})")), "docs/decisions/README.md lacks {name}");
        let text = std::fs::read_to_string(&page).unwrap();
        let number = name.split('-').next().unwrap().to_owned();
        assert!(text.starts_with(&format!("# {number}: ")), "{name} begins with another number");
        numbers.push(number);
    }
    numbers.sort();
    let count = numbers.len();
    numbers.dedup();
    assert_eq!(numbers.len(), count, "two decisions have the same number");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Markdown pages of the repository.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let crates = std::fs::read_dir(root.join("crates")).unwrap();
    let folders = crates.map(|entry| entry.unwrap().path());
    let folders = folders.chain([root.join("docs"), root.join("docs/decisions"), root]);
    let mut pages: Vec<PathBuf> = folders.flat_map(|folder| files(&folder)).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A page without its blocks of code.
fn prose(page: &Path) -> String {
    let text = std::fs::read_to_string(page).unwrap();
    text.split("```").step_by(2).collect()
}

/// Whether a page has a heading with this anchor, as forges make them.
fn has_heading(page: &Path, anchor: &str) -> bool {
    prose(page).lines().filter(|line| line.starts_with('#')).any(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).eq(anchor.chars())
    })
}
