//! The program that recognises the text of pictures (OCR), for example `tesseract`.
//!
//! A reader cannot start programs, so the parent does: it starts its own program once more, which applies restrictions
//! and then executes the OCR program. The picture is its standard input, and the text its standard output. For each
//! picture, it has the limits of memory, processor time and wall time of a document. It can read only the files of the
//! system's programs and of the folders that the settings name, cannot write, has no network, and cannot start
//! processes. It runs only on Linux, and only if the kernel supports all of that.

mod command;
mod start;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

pub(super) use start::{ordered, start};

use super::settings::SandboxSettings;
use crate::extract::ocr::Recognized;

/// The argument after which an [`Order`] follows.
const ARGUMENT: &str = "--ocr";
/// Where programs that are named without a folder are searched for.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The prefix of the error output of a process that could not execute the program.
const NOT_STARTED: &str = "cicerone: ";

/// The program that recognises text in pictures, and its limits for a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OcrSettings {
    /// The program: a path, or a name that is found in `/usr/local/bin`, `/usr/bin` or `/bin`.
    pub program: String,
    /// The arguments of the program, without its name.
    pub arguments: Vec<String>,
    /// Folders that it may read besides its own file, `/usr`, `/bin` and `/lib`.
    pub folders: Vec<PathBuf>,
    /// The maximum number of pictures of one document.
    pub pictures: u32,
    /// The time limit for all pictures of a document.
    pub wall: Duration,
    /// The longest text of a picture, in bytes.
    pub output: u32,
}

impl OcrSettings {
    /// A program with the arguments of `tesseract`, for texts in these languages (`eng+deu`).
    pub fn like_tesseract(program: &str, languages: &str) -> Self {
        let arguments = ["stdin", "stdout", "-l", languages].map(str::to_owned);
        Self {
            program: program.to_owned(),
            arguments: arguments.into(),
            folders: Vec::new(),
            pictures: 100,
            wall: Duration::from_secs(10 * 60),
            output: 1024 * 1024,
        }
    }

    /// The path of the program; `None` if it does not exist.
    pub fn place(&self) -> Option<PathBuf> {
        let given = PathBuf::from(&self.program);
        if self.program.contains('/') {
            return given.is_file().then_some(given);
        }
        PATH.split(':').map(|folder| PathBuf::from(folder).join(&given)).find(|path| path.is_file())
    }
}

/// What a process becomes.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    program: PathBuf,
    arguments: Vec<String>,
    folders: Vec<PathBuf>,
    /// Bytes of address space.
    memory: u64,
    /// Seconds of processor time.
    seconds: u64,
}

/// The remaining limits for a document's pictures.
pub(super) struct Pictures<'s> {
    sandbox: &'s SandboxSettings,
    settings: &'s OcrSettings,
    left: u32,
    time: Duration,
}

impl<'s> Pictures<'s> {
    pub(super) fn of(sandbox: &'s SandboxSettings, settings: &'s OcrSettings) -> Self {
        Self { sandbox, settings, left: settings.pictures, time: settings.wall }
    }

    /// The text of a picture; `None` if the limit is exceeded, which readers avoid.
    pub(super) async fn text_of(&mut self, picture: Vec<u8>) -> Option<Recognized> {
        self.left = self.left.checked_sub(1)?;
        let began = Instant::now();
        let wall = self.sandbox.wall.min(self.time);
        let outcome = if self.time.is_zero() {
            let seconds = self.settings.wall.as_secs();
            Err(format!("the pictures of the document take longer than {seconds} s in all"))
        } else {
            command::text_of(self.sandbox, self.settings, picture, wall).await
        };
        self.time = self.time.saturating_sub(began.elapsed());
        let label = if outcome.is_ok() { "recognised" } else { "failed" };
        metrics::counter!("cicerone_pictures_recognised_total", "outcome" => label).increment(1);
        metrics::histogram!("cicerone_picture_duration_seconds").record(began.elapsed());
        Some(outcome.map_or_else(Recognized::Failed, Recognized::Text))
    }
}
