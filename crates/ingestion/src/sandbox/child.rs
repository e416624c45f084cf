//! The child's side: a loop that reads documents under restrictions.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use url::Url;

use super::{ocr, walls};
use cicerone_domain::{UploadType, limits};

use super::outline::Outline;
use super::wire::{
    ANSWER_BYTES, Answer, DOCUMENT_BYTES, HEADER_BYTES, Header, PICTURE_BYTES, RECOGNIZED_BYTES,
    Request, read_frame, write_frame,
};
use crate::extract::ocr::{Ocr, Recognized};
use crate::extract::{Prepared, Reading, Unreadable, csv, html, text};

/// The stack size for reading documents: parsers recurse as deeply as documents are nested.
const STACK_BYTES: usize = 64 * 1024 * 1024;
/// What the child writes to standard error if system calls cannot be filtered.
pub(super) const NO_FILTER: &str = "system calls are not filtered";

/// Reads documents from standard input and responds on standard output until the input ends. This is the entire work of
/// the program that [`SandboxSettings`](super::SandboxSettings) names.
///
/// It also starts the OCR program if the last arguments request it.
///
/// It first gives up permanently what a reader does not need: files, network, other programs. Call it first; the
/// process cannot do anything else afterwards.
pub fn serve_reader() -> ExitCode {
    if let Some(order) = ocr::ordered() {
        return ocr::start(&order);
    }
    match serve_behind_walls() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The parent also sees the status.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve_behind_walls() -> io::Result<()> {
    walls::put_up()?;
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(|| {
        serve(&mut io::stdin().lock(), &mut io::stdout().lock(), &mut |header, document, ocr| {
            walls::limit_memory(header.memory)?;
            walls::allow_processor_time(header.seconds)?;
            let most = usize::try_from(header.output).unwrap_or(usize::MAX);
            let mut ocr = Renewed { ocr, seconds: header.seconds };
            let ocr = (header.pictures > 0).then_some(&mut ocr as &mut dyn Ocr);
            read(&header.request, document, most, ocr)
        })
    })?;
    thread.join().unwrap_or_else(|_| Err(io::Error::other("the loop panicked")))
}

/// Serves requests, one after the other.
fn serve(
    input: &mut impl Read,
    output: &mut impl Write,
    read: &mut impl FnMut(&Header<Request>, &[u8], &mut dyn Ocr) -> io::Result<(Answer, String)>,
) -> io::Result<()> {
    while let Some(header) = read_frame(input, HEADER_BYTES)? {
        let header: Header<Request> = serde_json::from_slice(&header)?;
        let document = read_frame(input, DOCUMENT_BYTES)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut line = Line { input, output, left: header.pictures, failure: None };
        // A reader that panicked leaves no state for the next document.
        let (mut answer, text) =
            match catch_unwind(AssertUnwindSafe(|| read(&header, &document, &mut line))) {
                Ok(answer) => answer?,
                Err(_) => (Answer::Panicked, String::new()),
            };
        if let Some(error) = line.failure {
            return Err(error);
        }
        drop(document);
        let mut frame = serde_json::to_vec(&answer)?;
        if u32::try_from(frame.len()).map_or(true, |length| length > ANSWER_BYTES) {
            let reason =
                "the document has more headings and links than can be kept; add it in parts";
            answer = Answer::Unreadable(reason.to_owned());
            frame = serde_json::to_vec(&answer)?;
        }
        write_frame(output, &frame)?;
        if answer.has_text() {
            write_frame(output, text.as_bytes())?;
        }
    }
    Ok(())
}

/// Reads a document and cuts its text, which has at most `most` bytes.
fn read(
    request: &Request,
    document: &[u8],
    most: usize,
    ocr: Option<&mut dyn Ocr>,
) -> io::Result<(Answer, String)> {
    let cut = |reading: Reading| reading.cut(most.min(limits::DOCUMENT_TEXT_BYTES));
    let file = |prepared: Prepared| {
        let (outline, text) = Outline::of(prepared);
        (Answer::File(outline), text)
    };
    let whole = |kind| crate::extract::file::read_with(kind, document, ocr).and_then(cut).map(file);
    let answer = match request {
        Request::Page { url, charset } => {
            let url = Url::parse(url).map_err(io::Error::other)?;
            let page = html::read(document, charset.as_deref(), &url);
            page.and_then(|page| {
                let mut text = String::new();
                let page = page.try_map(|reading| {
                    let (outline, of_page) = Outline::of(cut(reading)?);
                    text = of_page;
                    Ok::<_, Unreadable>(outline)
                })?;
                Ok((Answer::Page(page), text))
            })
        }
        Request::Text { charset } => {
            text::read(document, charset.as_deref()).and_then(cut).map(file)
        }
        Request::Csv { charset } => csv::read(document, charset.as_deref()).and_then(cut).map(file),
        Request::Pdf => whole(UploadType::Pdf),
        Request::Docx => whole(UploadType::Docx),
        Request::Xlsx => whole(UploadType::Xlsx),
        Request::Ods => whole(UploadType::Ods),
        Request::Xls => whole(UploadType::Xls),
        Request::Pptx => whole(UploadType::Pptx),
        Request::Odt => whole(UploadType::Odt),
        Request::Epub => whole(UploadType::Epub),
        Request::Rtf => whole(UploadType::Rtf),
        Request::Eml => whole(UploadType::Eml),
        // The OCR program detects its type.
        Request::Picture => whole(UploadType::Png),
    };
    let unreadable = |Unreadable(reason)| (Answer::Unreadable(reason), String::new());
    Ok(answer.unwrap_or_else(unreadable))
}

/// The connection through which pictures are sent and their texts are received.
struct Line<'p, I, O> {
    input: &'p mut I,
    output: &'p mut O,
    /// The number of pictures that are still accepted.
    left: u32,
    /// The connection is broken: the process must end.
    failure: Option<io::Error>,
}

impl<I: Read, O: Write> Ocr for Line<'_, I, O> {
    fn text_of(&mut self, picture: &[u8]) -> Recognized {
        let is_small = u32::try_from(picture.len()).is_ok_and(|length| length <= PICTURE_BYTES);
        if !is_small {
            return Recognized::Failed("it is too large".to_owned());
        }
        let Some(left) = self.left.checked_sub(1) else {
            let reason = "the document has more pictures than the setting `ocr.pages` allows";
            return Recognized::Failed(reason.to_owned());
        };
        self.left = left;
        self.ask(picture).unwrap_or_else(|error| {
            let reason = Recognized::Failed(error.to_string());
            self.failure = Some(error);
            reason
        })
    }
}

impl<I: Read, O: Write> Line<'_, I, O> {
    fn ask(&mut self, picture: &[u8]) -> io::Result<Recognized> {
        if self.failure.is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        write_frame(self.output, &serde_json::to_vec(&Answer::Picture)?)?;
        write_frame(self.output, picture)?;
        let answer =
            read_frame(self.input, RECOGNIZED_BYTES)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(serde_json::from_slice(&answer)?)
    }
}

/// Grants the processor time of a document again after each picture, because a scan of many pages needs time to decode
/// each. The parent's limit of wall time still covers all of them.
struct Renewed<'l> {
    ocr: &'l mut dyn Ocr,
    seconds: u64,
}

impl Ocr for Renewed<'_> {
    fn text_of(&mut self, picture: &[u8]) -> Recognized {
        let recognised = self.ocr.text_of(picture);
        match walls::allow_processor_time(self.seconds) {
            Ok(()) => recognised,
            Err(error) => Recognized::Failed(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::{ANSWER_BYTES, Answer, Header, Request, read_frame, write_frame};
    use super::{read, serve};

    #[test]
    fn a_text_follows_its_outline_and_is_refused_beyond_its_limit() {
        let request = Request::Text { charset: None };
        let (answer, text) = read(&request, b"# A\n\nlittle text", 16, None).unwrap();
        assert!(answer.has_text() && text == "# A\n\nlittle text");
        let (answer, text) = read(&request, b"# A\n\nlittle text", 15, None).unwrap();
        assert!(matches!(answer, Answer::Unreadable(reason) if reason.contains("15 bytes")));
        assert_eq!(text, "");
    }

    #[test]
    fn a_panic_and_too_long_an_answer_cost_one_document_each() {
        let mut input = Vec::new();
        for document in ["panic", "long", "fine"] {
            let header =
                Header { memory: 0, seconds: 0, output: 200, pictures: 1, request: Request::Pdf };
            write_frame(&mut input, &serde_json::to_vec(&header).unwrap()).unwrap();
            write_frame(&mut input, document.as_bytes()).unwrap();
        }
        let mut output = Vec::new();
        serve(&mut input.as_slice(), &mut output, &mut |_, document, _| match document {
            b"panic" => panic!("as a parser does"),
            b"long" => {
                let reason = "x".repeat(usize::try_from(ANSWER_BYTES).unwrap());
                Ok((Answer::Unreadable(reason), String::new()))
            }
            _ => Ok((Answer::Unreadable("read".to_owned()), String::new())),
        })
        .unwrap();
        let mut output = output.as_slice();
        let mut next = || {
            read_frame(&mut output, 1_000)
                .unwrap()
                .map(|frame| serde_json::from_slice(&frame).unwrap())
        };
        assert!(matches!(next(), Some(Answer::Panicked)));
        assert!(
            matches!(next(), Some(Answer::Unreadable(reason)) if reason.contains("more headings"))
        );
        assert!(matches!(next(), Some(Answer::Unreadable(reason)) if reason == "read"));
        assert!(next().is_none());
    }
}
