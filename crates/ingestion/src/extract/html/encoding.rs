//! The encoding of a page, according to its byte order mark, its server or its `meta` element; otherwise, as detected
//! from its bytes.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use url::Url;

use crate::extract::decode::{is_mostly_utf8, is_mostly_whole};

/// The number of bytes in which the page's encoding declaration is searched for (HTML 13.2.3.2).
const PRESCAN_BYTES: usize = 1_024;

/// The text of a page. Malformed sequences become replacement characters.
///
/// A byte order mark takes precedence over the server, and the server over the page. If the declared encoding does not
/// match the bytes, apart from a few damaged characters, it is detected from the bytes.
pub(super) fn decode<'a>(bytes: &'a [u8], charset: Option<&str>, url: &Url) -> Cow<'a, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or_default()).0;
    }
    let said = charset
        .and_then(|label| Encoding::for_label(label.trim().as_bytes()))
        .or_else(|| stated(bytes));
    let said = said.unwrap_or(UTF_8);
    let (text, is_malformed) = said.decode_without_bom_handling(bytes);
    if !is_malformed {
        return text;
    }
    // Most UTF-8 text also decodes without errors in East Asian encodings.
    if said != UTF_8 && is_mostly_utf8(bytes) {
        return UTF_8.decode_without_bom_handling(bytes).0;
    }
    if is_mostly_whole(&text) {
        return text;
    }
    guessed(bytes, url).decode_without_bom_handling(bytes).0
}

/// The encoding that a page's `meta` element names. A 16-bit encoding cannot be right, because the element was read as
/// ASCII.
fn stated(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes).to_ascii_lowercase();
    let start = String::from_utf8_lossy(&start).into_owned();
    start.split("<meta").skip(1).find_map(|element| {
        let element = element.split_once('>').map_or(element, |(inside, _)| inside);
        let (_, value) = element.split_once("charset")?;
        let value = value.trim_start().strip_prefix('=')?.trim_start_matches([' ', '"', '\'']);
        let label = value.split([' ', '"', '\'', ';', '/']).next()?;
        let encoding = Encoding::for_label(label.as_bytes())?;
        Some(if encoding == UTF_16BE || encoding == UTF_16LE { UTF_8 } else { encoding })
    })
}

/// The encoding detected from the bytes; if that is inconclusive, the one that the page's country suggests.
fn guessed(bytes: &[u8], url: &Url) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    let country = url.domain().and_then(|domain| domain.rsplit('.').next());
    let country = country.filter(|country| country.bytes().all(|byte| byte.is_ascii_lowercase()));
    detector.guess(country.map(str::as_bytes), Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use encoding_rs::{SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
    use url::Url;

    use super::decode;

    fn decoded(bytes: &[u8], charset: Option<&str>) -> String {
        decode(bytes, charset, &Url::parse("https://example.com/").unwrap()).into_owned()
    }

    #[test]
    fn a_page_of_utf_8_that_says_it_were_of_an_east_asian_encoding_is_read_as_utf_8() {
        let text = "DeepMind新电脑已可利用记忆自学 人工智能迈上新台阶，腾讯科技讯。";
        for label in ["gb2312", "big5", "shift_jis", "euc-kr", "euc-jp"] {
            let page = format!("<meta charset={label}><p>{}", text.repeat(20));
            assert_eq!(decoded(page.as_bytes(), None), page, "{label}");
            let mut damaged = page.clone().into_bytes();
            damaged.extend_from_slice(b"\xff");
            assert_eq!(decoded(&damaged, None), format!("{page}\u{fffd}"), "{label}");
        }
    }

    #[test]
    fn the_servers_word_outweighs_the_pages_own_and_a_mark_outweighs_both() {
        let page = "<meta charset=utf-8><p>Привет, как дела?";
        let (cyrillic, ..) = WINDOWS_1251.encode(page);
        assert_eq!(decoded(&cyrillic, Some("windows-1251")), page);
        let marked = [b"\xef\xbb\xbf", page.as_bytes()].concat();
        assert_eq!(decoded(&marked, Some("windows-1251")), page);
    }

    #[test]
    fn a_page_names_its_encoding_in_either_form() {
        for meta in [
            "<meta charset='shift_jis'>",
            r#"<META http-equiv="Content-Type" content="text/html; charset=Shift_JIS" />"#,
        ] {
            let page = format!("<html><head>{meta}<p>営業時間は九時から");
            let (bytes, ..) = SHIFT_JIS.encode(&page);
            assert_eq!(decoded(&bytes, None), page);
        }
    }

    #[test]
    fn what_was_said_wrongly_is_found_out() {
        let page = "<p>Die Öffnungszeiten für Gäste: täglich außer montags.";
        let (latin, ..) = WINDOWS_1252.encode(page);
        assert_eq!(decoded(&latin, Some("utf-8")), page);
        assert_eq!(decoded(&latin, None), page);
        assert_eq!(decoded(page.as_bytes(), Some("utf-9")), page);
    }

    #[test]
    fn a_damaged_character_does_not_damage_the_others() {
        let page = b"<p>Die \xc3\x96ffnungszeiten f\xc3\xbcr G\xc3\xa4ste: t\xc3\xa4glich caf\xe9.";
        let whole = "<p>Die Öffnungszeiten für Gäste: täglich caf\u{fffd}.";
        assert_eq!(decoded(page, Some("utf-8")), whole);
        assert_eq!(decoded(page, None), whole);
    }
}
