//! The text that other tools read from PDF files, if they are installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use super::Words;

/// The folder for their output: they are run once for each file.
const KEPT: &str = "target/eval/pdf";

/// A tool that prints the text of a PDF file.
pub(super) struct Tool {
    pub(super) name: &'static str,
    program: &'static str,
    before: &'static [&'static str],
    after: &'static [&'static str],
    /// The arguments with which it is run to see whether it is installed.
    probe: &'static [&'static str],
}

/// Debian's poppler-utils and mupdf-tools; PyPI's pypdf, pdfminer.six and pypdfium2.
const TOOLS: [Tool; 5] = [
    Tool {
        name: "poppler",
        program: "pdftotext",
        before: &["-q", "-enc", "UTF-8"],
        after: &["-"],
        probe: &["-v"],
    },
    Tool {
        name: "mupdf",
        program: "mutool",
        before: &["draw", "-q", "-F", "text"],
        after: &[],
        probe: &["-v"],
    },
    Tool {
        name: "pdfium",
        program: "python3",
        before: &[
            "-c",
            "import sys, pypdfium2\nfor page in pypdfium2.PdfDocument(sys.argv[1]): print(page.get_textpage().get_text_range())",
        ],
        after: &[],
        probe: &["-c", "import pypdfium2"],
    },
    Tool {
        name: "pypdf",
        program: "python3",
        before: &[
            "-c",
            "import sys, pypdf\nfor page in pypdf.PdfReader(sys.argv[1]).pages: print(page.extract_text())",
        ],
        after: &[],
        probe: &["-c", "import pypdf"],
    },
    Tool {
        name: "pdfminer",
        program: "python3",
        before: &["-c", "import sys, pdfminer.high_level as p; print(p.extract_text(sys.argv[1]))"],
        after: &[],
        probe: &["-c", "import pdfminer.high_level"],
    },
];

pub(super) fn installed() -> Vec<Tool> {
    let runs = |tool: &Tool| {
        let mut command = Command::new(tool.program);
        command.args(tool.probe).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    TOOLS.into_iter().filter(runs).collect()
}

impl Tool {
    /// The words that the tool finds in a file; none if it fails.
    pub(super) fn words(&self, path: &Path, name: &str) -> anyhow::Result<Words> {
        let kept = kept(self.name, name);
        if let Ok(text) = std::fs::read_to_string(&kept) {
            return Ok(Words::of(&text));
        }
        let mut command = Command::new("timeout");
        command.arg("20").arg(self.program).args(self.before).arg(path).args(self.after);
        let output = command.stderr(Stdio::null()).output().context("running `timeout`")?;
        let text = String::from_utf8_lossy(&output.stdout);
        if let Some(folder) = kept.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&kept, text.as_bytes())?;
        Ok(Words::of(&text))
    }
}

fn kept(tool: &str, name: &str) -> PathBuf {
    Path::new(KEPT).join(tool).join(name.replace('/', "_"))
}
