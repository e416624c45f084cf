//! The text that other programs read from files, if they are installed: Debian's
//! `libreoffice-writer`, `-calc`, `-impress` with `poppler-utils`, and `pandoc`. Each is run once
//! for a file; its output is kept.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

/// The folder for their output.
const KEPT: &str = "target/eval/formats";
/// The time limit in seconds for one file, and for all files that LibreOffice converts at once.
const SECONDS: &str = "30";
const SECONDS_AT_ONCE: &str = "900";

/// A program that converts files of a format to text.
pub(super) enum Reference {
    /// LibreOffice's export with this filter, whose files have this extension.
    Office { filter: &'static str, extension: &'static str },
    /// pandoc's plain text.
    Pandoc,
}

/// Text in UTF-8; spreadsheets as comma-separated values in UTF-8, with all sheets, as displayed.
const TEXT: Reference = Reference::Office { filter: "txt:Text (encoded):UTF8", extension: "txt" };
const SHEETS: Reference = Reference::Office {
    filter: "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1",
    extension: "csv",
};
const SLIDES: Reference = Reference::Office { filter: "pdf", extension: "pdf" };

impl Reference {
    /// The installed programs that read a format.
    pub(super) fn of(format: &str) -> Vec<Self> {
        let known = match format {
            "xlsx" | "xls" | "ods" => vec![SHEETS],
            "pptx" => vec![SLIDES],
            "odt" | "rtf" => vec![TEXT, Self::Pandoc],
            "epub" => vec![Self::Pandoc],
            _ => Vec::new(),
        };
        known.into_iter().filter(Self::is_installed).collect()
    }

    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Office { .. } => "libreoffice",
            Self::Pandoc => "pandoc",
        }
    }

    fn is_installed(&self) -> bool {
        let program = match self {
            Self::Office { .. } => "soffice",
            Self::Pandoc => "pandoc",
        };
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Lets LibreOffice convert all unconverted files at once, because it takes seconds to start.
    pub(super) fn prepare(&self, data: &Path, paths: &[PathBuf]) -> anyhow::Result<()> {
        let Self::Office { filter, .. } = self else { return Ok(()) };
        let folder = tempfile::tempdir()?;
        let mut copies = Vec::new();
        for path in paths.iter().filter(|path| !self.mark(data, path).exists()) {
            let copy = folder.path().join(flat(data, path));
            std::fs::copy(path, &copy)?;
            std::fs::create_dir_all(self.folder())?;
            // A file on which it fails is not tried again.
            std::fs::write(self.mark(data, path), "")?;
            copies.push(copy);
        }
        if copies.is_empty() {
            return Ok(());
        }
        let profile = format!("-env:UserInstallation=file://{}/profile", folder.path().display());
        let mut command = Command::new("timeout");
        command.args([SECONDS_AT_ONCE, "soffice", &profile, "--headless", "--convert-to", filter]);
        command.arg("--outdir").arg(self.folder()).args(&copies);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().context("running `timeout`")?;
        Ok(())
    }

    /// The text that the program reads from a file; `None` if it fails.
    pub(super) fn text(&self, data: &Path, path: &Path) -> Option<String> {
        let text = match self {
            Self::Office { extension, .. } => self.converted(data, path, extension),
            Self::Pandoc => self.pandoc(data, path),
        };
        text.filter(|text| !text.trim().is_empty())
    }

    /// LibreOffice's output: one file, or one for each sheet, with the sheet's name after the
    /// file's.
    fn converted(&self, data: &Path, path: &Path, extension: &str) -> Option<String> {
        let flat = flat(data, path);
        let stem = Path::new(&flat).file_stem()?.to_string_lossy().into_owned();
        let mut texts = Vec::new();
        for entry in std::fs::read_dir(self.folder()).ok()?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(rest) = name.strip_prefix(&stem) else { continue };
            let is_sheet = rest.starts_with('-') && extension == "csv";
            if !rest.ends_with(&format!(".{extension}")) || !(rest.starts_with('.') || is_sheet) {
                continue;
            }
            if extension == "pdf" {
                let output = Command::new("pdftotext").arg(entry.path()).arg("-").output().ok()?;
                texts.push(String::from_utf8_lossy(&output.stdout).into_owned());
            } else {
                texts
                    .push(String::from_utf8_lossy(&std::fs::read(entry.path()).ok()?).into_owned());
            }
        }
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    fn pandoc(&self, data: &Path, path: &Path) -> Option<String> {
        let kept = self.folder().join(format!("{}.txt", flat(data, path)));
        if let Ok(text) = std::fs::read_to_string(&kept) {
            return Some(text);
        }
        let mut command = Command::new("timeout");
        command.args([SECONDS, "pandoc", "--to", "plain", "--wrap", "none"]).arg(path);
        let output = command.stderr(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        std::fs::create_dir_all(self.folder()).ok()?;
        std::fs::write(&kept, &text).ok()?;
        Some(text)
    }

    fn folder(&self) -> PathBuf {
        Path::new(KEPT).join(self.name())
    }

    /// The file that marks that LibreOffice was run on another one.
    fn mark(&self, data: &Path, path: &Path) -> PathBuf {
        self.folder().join(format!("{}.asked", flat(data, path)))
    }
}

/// A file's path below the folder as a single name.
fn flat(data: &Path, path: &Path) -> String {
    path.strip_prefix(data).unwrap_or(path).to_string_lossy().replace(['/', ' '], "_")
}
