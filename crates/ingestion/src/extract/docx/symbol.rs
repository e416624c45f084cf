//! Characters of symbol fonts, as Unicode.

/// The Symbol font from 0x20 to 0x7E.
const SYMBOL: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
/// The Symbol font from 0xA0 to 0xE5.
const SYMBOL_HIGH: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑";

/// The character that a font of symbols shows for a code. `None` if Unicode has no such character.
///
/// The codes of such fonts are in the private range from U+F000.
pub(super) fn character(font: &str, code: u32) -> Option<char> {
    let low = if (0xf000..=0xf0ff).contains(&code) { code - 0xf000 } else { code };
    if font.starts_with("Wingdings") {
        return wingding(low);
    }
    let at = |table: &str, first: u32| table.chars().nth(usize::try_from(low - first).ok()?);
    match low {
        0x20..=0x7e if font == "Symbol" || code != low => at(SYMBOL, 0x20),
        0xa0..=0xe5 if font == "Symbol" || code != low => at(SYMBOL_HIGH, 0xa0),
        _ if code == low => char::from_u32(code).filter(|char| !char.is_control()),
        _ => None,
    }
}

fn wingding(code: u32) -> Option<char> {
    Some(match code {
        0x4a => '☺',
        0x4c => '☹',
        0x6c | 0x9f | 0xb7 => '•',
        0x6e | 0xa7 => '▪',
        0x6f | 0x71 | 0xa8 => '☐',
        0x78 | 0xfd => '☒',
        0xdf | 0xe7 => '←',
        0xe0 | 0xe8 | 0xf0 => '→',
        0xfb => '✗',
        0xfc => '✓',
        0xfe => '☑',
        _ => return None,
    })
}
