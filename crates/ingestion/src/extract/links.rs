//! Decides which addresses of links are written next to their text.

/// Extensions of addresses that are downloads rather than pages.
const FILES: [&str; 20] = [
    ".csv", ".doc", ".docx", ".dotx", ".epub", ".ics", ".odp", ".ods", ".odt", ".pdf", ".ppt",
    ".pptx", ".rtf", ".tar.gz", ".vcf", ".xls", ".xlsm", ".xlsx", ".xml", ".zip",
];
/// Words of links that have no meaning without their address, and of links to forms.
const POINTING: [&str; 23] = [
    "antrag",
    "antragsformular",
    "anmeldeformular",
    "aqui",
    "aquí",
    "here",
    "hier",
    "form",
    "formulaire",
    "formular",
    "formulario",
    "formularz",
    "formulário",
    "ici",
    "kontaktformular",
    "modulo",
    "qui",
    "tutaj",
    "здесь",
    "тут",
    "форма",
    "这里",
    "こちら",
];
/// A link with more words describes its target.
const POINTING_WORDS: usize = 4;
/// The maximum length of an address that is written.
const ADDRESS_CHARS: usize = 200;
/// The address of a link, if its text does not contain it: of mail, telephones, files and forms. Addresses of ordinary
/// pages are omitted, because a page has hundreds of them and nobody asks for them.
pub(super) fn target_to_show(href: &str, text: &str) -> Option<String> {
    let href = href.trim();
    let (scheme, rest) = href.split_once(':').unwrap_or_default();
    let shown = if scheme.eq_ignore_ascii_case("mailto") || scheme.eq_ignore_ascii_case("tel") {
        let plain = rest.split('?').next().unwrap_or_default().trim_start_matches("//");
        plain.replace("%40", "@").replace("%20", " ").replace("%2B", "+")
    } else if leads_to_a_file(href) || (is_pointing(text) && is_address(href)) {
        href.to_owned()
    } else {
        return None;
    };
    let shown = shown.trim();
    let letters = |text: &str| {
        text.chars().filter(|char| char.is_alphanumeric()).collect::<String>().to_lowercase()
    };
    let is_said = letters(shown).is_empty()
        || letters(text).contains(&letters(shown))
        || (scheme.eq_ignore_ascii_case("tel") && is_same_number(text, shown));
    let fits = shown.chars().count() <= ADDRESS_CHARS && !shown.chars().any(char::is_control);
    (!is_said && fits).then(|| shown.to_owned())
}

/// Whether a text contains a telephone number, perhaps without its country.
fn is_same_number(text: &str, number: &str) -> bool {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let (shown, number) = (digits(text), digits(number));
    let end = number.get(number.len().saturating_sub(6)..).unwrap_or_default();
    !end.is_empty() && shown.ends_with(end)
}

fn leads_to_a_file(href: &str) -> bool {
    let path = href.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    FILES.iter().any(|ending| path.ends_with(ending))
}

/// Whether it leads anywhere other than within the page or to a script.
fn is_address(href: &str) -> bool {
    let is_other_scheme = href.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.contains('/')
            && !scheme.eq_ignore_ascii_case("http")
            && !scheme.eq_ignore_ascii_case("https")
    });
    !href.is_empty() && !href.starts_with('#') && !is_other_scheme
}

fn is_pointing(text: &str) -> bool {
    let mut words =
        text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    words.clone().nth(POINTING_WORDS).is_none()
        && words.any(|word| POINTING.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::target_to_show;

    #[test]
    fn addresses_that_the_text_does_not_tell_are_told() {
        let target = |href: &str, text: &str| target_to_show(href, text).unwrap_or_default();
        assert_eq!(target("mailto:info@h.example?subject=x", "Write to us"), "info@h.example");
        assert_eq!(target("mailto:info@h.example", "info@h.example"), "");
        assert_eq!(target("tel:+4940123456", "Call us"), "+4940123456");
        assert_eq!(target("tel:+4940123456", "040 / 12 34 56"), "");
        assert_eq!(
            target("/forms/berth.pdf?v=2", "Application for a berth"),
            "/forms/berth.pdf?v=2"
        );
        assert_eq!(target("https://h.example/apply", "the form"), "https://h.example/apply");
        assert_eq!(target("https://h.example/tides", "Tides of the harbour"), "");
        assert_eq!(target("javascript:go()", "here"), "");
        assert_eq!(target("#top", "here"), "");
    }
}
