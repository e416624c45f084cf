//! How list numbers are written.

/// The last number that Roman numerals can write.
const ROMAN_LAST: i64 = 3_999;
/// How often a letter is repeated at most, as in `aaa`.
const LETTERS: i64 = 5;
const ROMAN: [(i64, &str); 13] = [
    (1_000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
];

/// A number in a format of ST_NumberFormat (ECMA-376, part 1, 17.18.59); decimal if the format is
/// not one of the usual.
pub(super) fn numeral(number: i64, format: &str) -> String {
    match format {
        "lowerRoman" => roman(number),
        "upperRoman" => roman(number).to_uppercase(),
        "lowerLetter" => letters(number),
        "upperLetter" => letters(number).to_uppercase(),
        "decimalZero" => format!("{number:02}"),
        "none" => String::new(),
        _ => number.to_string(),
    }
}

fn roman(number: i64) -> String {
    if !(1..=ROMAN_LAST).contains(&number) {
        return number.to_string();
    }
    let mut left = number;
    let mut text = String::new();
    for (value, letters) in ROMAN {
        while left >= value {
            left -= value;
            text.push_str(letters);
        }
    }
    text
}

/// After `z` comes `aa`, then `bb`.
fn letters(number: i64) -> String {
    let before = number.saturating_sub(1);
    let (round, place) = (before.div_euclid(26), before.rem_euclid(26));
    match u8::try_from(place) {
        Ok(place) if (0..LETTERS).contains(&round) => {
            let letter = char::from(b'a' + place);
            (0..=round).map(|_| letter).collect()
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::numeral;

    #[test]
    fn numbers_without_a_letter_are_decimal() {
        assert_eq!(numeral(28, "lowerLetter"), "bb");
        for number in [i64::MIN, -1, 0, i64::MAX] {
            assert_eq!(numeral(number, "upperLetter"), number.to_string());
        }
    }
}
