//! Writes stored figures into `docs/performance.md`, and their plots beside it.
//!
//! Each section of figures is between two comments, `<!-- NAME -->` and `<!-- end of NAME -->`. What is outside of them
//! is written by hand.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::figures::{Figures, Measured};

/// Stores figures and shows them on the page.
pub(super) fn save<F: Figures>(measured: &Measured<F>) -> anyhow::Result<()> {
    let folder = folder();
    fs::create_dir_all(&folder).with_context(|| format!("creating `{}`", folder.display()))?;
    let text = serde_json::to_string_pretty(measured)? + "\n";
    write(&folder.join(F::NAME).with_extension("json"), &text)?;
    show(measured)
}

/// Shows the stored figures of this kind on the page, if there are any.
pub(super) fn refresh<F: Figures>() -> anyhow::Result<()> {
    let path = folder().join(F::NAME).with_extension("json");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("`{}` is not measured", F::NAME);
            return Ok(());
        }
        Err(error) => return Err(error).context(format!("reading `{}`", path.display())),
    };
    let measured: Measured<F> = serde_json::from_str(&text)
        .with_context(|| format!("`{}` has figures of another version", path.display()))?;
    show(&measured)
}

/// Writes the plot, and the section of the page.
fn show<F: Figures>(measured: &Measured<F>) -> anyhow::Result<()> {
    let name = F::NAME;
    let mut section = format!(
        "Measured on {} with `{}` on {}.\n\n{}",
        measured.day,
        measured.command,
        measured.machine,
        measured.figures.text().trim_end()
    );
    if let Some(plot) = measured.figures.plot() {
        write(&folder().join(name).with_extension("svg"), &plot.svg())?;
        section += &format!("\n\n![{}](performance/{name}.svg)", plot.title);
    }
    let path = docs().join("performance.md");
    let page =
        fs::read_to_string(&path).with_context(|| format!("reading `{}`", path.display()))?;
    let page = replaced(&page, name, &section)
        .with_context(|| format!("`{}` has no place for `{name}`", path.display()))?;
    write(&path, &page)
}

/// The page with another text between the comments of this name; `None` if it does not have them.
fn replaced(page: &str, name: &str, section: &str) -> Option<String> {
    let (opening, closing) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&opening)?;
    let (_, after) = rest.split_once(&closing)?;
    Some(format!("{before}{opening}\n{section}\n\n{closing}{after}"))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("writing `{}`", path.display()))
}

/// The folder of stored figures and plots.
fn folder() -> PathBuf {
    docs().join("performance")
}

fn docs() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).join("docs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_section_of_that_name_is_replaced() {
        let page = "A\n<!-- a -->\nold\n<!-- end of a -->\nB\n<!-- b -->\n<!-- end of b -->\n";
        let new = "A\n<!-- a -->\n\nnew\n\n<!-- end of a -->\nB\n<!-- b -->\n<!-- end of b -->\n";
        assert_eq!(replaced(page, "a", "new").as_deref(), Some(new));
        assert_eq!(replaced(new, "a", "new").as_deref(), Some(new));
        assert_eq!(replaced(page, "c", "new"), None);
    }
}
