//! Compresses responses for clients that accept it. Responses are compressed completely, so that no compressor is kept
//! while a client reads.

use std::io::Write as _;

use actix_web::HttpRequest;
use actix_web::http::header::{AcceptEncoding, Encoding, Header as _};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Answers with fewer bytes are not worth compressing.
pub(crate) const WORTHWHILE_BYTES: usize = 1_024;

/// Whether a client prefers gzip to no compression.
pub(crate) fn prefers_gzip(request: &HttpRequest) -> bool {
    let known = [Encoding::gzip(), Encoding::identity()];
    AcceptEncoding::parse(request)
        .is_ok_and(|accepted| accepted.negotiate(known.iter()) == Some(Encoding::gzip()))
}

/// How thoroughly to compress.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Effort {
    /// Quickly, for an answer that is sent once.
    Once,
    /// Uses the highest level, for a response that is cached.
    Kept,
}

/// Compresses bytes. Returns `None` if the result would not be smaller.
pub(crate) fn gzip(bytes: &[u8], effort: Effort) -> Option<Bytes> {
    let level = match effort {
        Effort::Once => Compression::new(4),
        Effort::Kept => Compression::best(),
    };
    // Text usually shrinks to a fifth.
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    encoder.write_all(bytes).ok()?;
    let compressed = encoder.finish().ok()?;
    (compressed.len() < bytes.len()).then(|| compressed.into_boxed_slice().into())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use actix_web::test::TestRequest;
    use flate2::read::GzDecoder;

    use super::{Effort, gzip, prefers_gzip};

    #[test]
    fn only_clients_that_ask_get_gzip() {
        let asks = |value: &str| {
            prefers_gzip(
                &TestRequest::default().insert_header(("accept-encoding", value)).to_http_request(),
            )
        };
        for value in ["gzip", "gzip, deflate, br", "br, gzip;q=0.5", "identity;q=0.1, gzip;q=0.2"] {
            assert!(asks(value), "{value}");
        }
        for value in ["", "br", "identity", "gzip;q=0", "nonsense;;", "identity, gzip;q=0.5"] {
            assert!(!asks(value), "{value}");
        }
        assert!(!prefers_gzip(&TestRequest::default().to_http_request()));
    }

    #[test]
    fn compressed_text_reads_back_and_noise_is_not_compressed() {
        let text = "The museum opens at nine. ".repeat(99);
        for effort in [Effort::Once, Effort::Kept] {
            let compressed = gzip(text.as_bytes(), effort).unwrap();
            assert!(compressed.len() < text.len() / 5);
            let mut back = String::new();
            GzDecoder::new(&*compressed).read_to_string(&mut back).unwrap();
            assert_eq!(back, text);
        }
        assert_eq!(gzip(b"a", Effort::Once), None);
    }
}
