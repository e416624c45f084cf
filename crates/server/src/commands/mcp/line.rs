//! Lines of bounded length.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its text, without the line end.
    Text(Vec<u8>),
    /// It was longer than allowed, and was skipped.
    TooLong,
}

/// The next line of at most `most` bytes, and `None` at the end of the input. Lines without text are skipped.
pub(super) async fn next(
    input: &mut (impl AsyncBufRead + Unpin),
    most: usize,
) -> std::io::Result<Option<Line>> {
    loop {
        let mut line = Vec::new();
        let bytes = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        (&mut *input).take(bytes).read_until(b'\n', &mut line).await?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.len() > most && !line.ends_with(b"\n") {
            skip(input).await?;
            return Ok(Some(Line::TooLong));
        }
        if !line.trim_ascii().is_empty() {
            line.truncate(line.trim_ascii_end().len());
            return Ok(Some(Line::Text(line)));
        }
    }
}

/// Skips the rest of a line.
async fn skip(input: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<()> {
    loop {
        let piece = input.fill_buf().await?;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let (skipped, is_over) = match end {
            Some(end) => (end + 1, true),
            None => (piece.len(), piece.is_empty()),
        };
        input.consume(skipped);
        if is_over {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, next};

    #[tokio::test]
    async fn lines_are_bounded_and_blank_ones_are_skipped() {
        let mut input = &b"one\n\n  \r\ntwo\r\n123456\nabcdef\n1234567\n\nrest"[..];
        let mut lines = Vec::new();
        while let Some(line) = next(&mut input, 6).await.unwrap() {
            lines.push(line);
        }
        let text = |text: &str| Line::Text(text.as_bytes().to_vec());
        let all = ["one", "two", "123456", "abcdef"].map(text);
        assert_eq!(lines[..4], all);
        assert_eq!(lines[4..], [Line::TooLong, text("rest")]);
    }

    #[tokio::test]
    async fn a_long_line_without_an_end_is_skipped_to_the_end_of_the_input() {
        let long = [b'x'; 10_000];
        let mut input = &long[..];
        assert_eq!(next(&mut input, 100).await.unwrap(), Some(Line::TooLong));
        assert_eq!(next(&mut input, 100).await.unwrap(), None);
    }
}
