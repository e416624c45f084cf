//! The child's side: a loop that reads documents behind walls.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use url::Url;

use super::walls;
use super::wire::{Answer, DOCUMENT_BYTES, HEADER_BYTES, Header, Request, read_frame, write_frame};
use crate::extract::{Unreadable, docx, html, pdf};

/// The stack that documents are read on: parsers recurse as deep as documents are nested.
const STACK_BYTES: usize = 64 * 1024 * 1024;
/// What the child says on standard error where system calls cannot be filtered.
pub(super) const NO_FILTER: &str = "system calls are not filtered";

/// Reads documents that come over standard input, and answers over standard output, until there
/// are no more: what a program does that [`SandboxSettings`](super::SandboxSettings) name.
///
/// It first takes from its process what a reader has no use for (files, network, other programs),
/// for good: it is to be called before anything else, and nothing else can be done after it.
pub fn serve_reader() -> ExitCode {
    match serve_behind_walls() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The parent sees the status too.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve_behind_walls() -> io::Result<()> {
    walls::put_up()?;
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(|| {
        serve(&mut io::stdin().lock(), &mut io::stdout().lock(), &mut |header, document| {
            walls::limit_memory(header.memory)?;
            walls::allow_processor_time(header.seconds)?;
            read(&header.request, document)
        })
    })?;
    thread.join().unwrap_or_else(|_| Err(io::Error::other("the loop panicked")))
}

/// Answers one request after the other.
fn serve(
    input: &mut impl Read,
    output: &mut impl Write,
    read: &mut impl FnMut(&Header<Request>, &[u8]) -> io::Result<Answer>,
) -> io::Result<()> {
    while let Some(header) = read_frame(input, HEADER_BYTES)? {
        let header: Header<Request> = serde_json::from_slice(&header)?;
        let document = read_frame(input, DOCUMENT_BYTES)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        // A reader that panicked leaves nothing behind that the next document could meet.
        let answer = match catch_unwind(AssertUnwindSafe(|| read(&header, &document))) {
            Ok(answer) => answer?,
            Err(_) => Answer::Panicked,
        };
        drop(document);
        let mut frame = serde_json::to_vec(&answer)?;
        drop(answer);
        if u32::try_from(frame.len()).map_or(true, |length| length > header.output) {
            let reason = "the document holds more text than can be read; add it in parts";
            frame = serde_json::to_vec(&Answer::Unreadable(reason.to_owned()))?;
        }
        write_frame(output, &frame)?;
    }
    Ok(())
}

fn read(request: &Request, document: &[u8]) -> io::Result<Answer> {
    let answer = match request {
        Request::Page { url, charset } => {
            let url = Url::parse(url).map_err(io::Error::other)?;
            html::read(document, charset.as_deref(), &url).map(Answer::Page)
        }
        Request::Pdf => pdf::read(document).map(Answer::File),
        Request::Docx => docx::read(document).map(Answer::File),
    };
    Ok(answer.unwrap_or_else(|Unreadable(reason)| Answer::Unreadable(reason)))
}

#[cfg(test)]
mod tests {
    use super::super::wire::{Answer, Header, Request, read_frame, write_frame};
    use super::serve;

    #[test]
    fn a_panic_and_too_long_an_answer_cost_one_document_each() {
        let mut input = Vec::new();
        for document in ["panic", "long", "fine"] {
            let header = Header { memory: 0, seconds: 0, output: 200, request: Request::Pdf };
            write_frame(&mut input, &serde_json::to_vec(&header).unwrap()).unwrap();
            write_frame(&mut input, document.as_bytes()).unwrap();
        }
        let mut output = Vec::new();
        serve(&mut input.as_slice(), &mut output, &mut |_, document| match document {
            b"panic" => panic!("as a parser does"),
            b"long" => Ok(Answer::Unreadable("x".repeat(201))),
            _ => Ok(Answer::Unreadable("read".to_owned())),
        })
        .unwrap();
        let mut output = output.as_slice();
        let mut next = || {
            read_frame(&mut output, 1_000)
                .unwrap()
                .map(|frame| serde_json::from_slice(&frame).unwrap())
        };
        assert!(matches!(next(), Some(Answer::Panicked)));
        assert!(matches!(next(), Some(Answer::Unreadable(reason)) if reason.contains("more text")));
        assert!(matches!(next(), Some(Answer::Unreadable(reason)) if reason == "read"));
        assert!(next().is_none());
    }
}
