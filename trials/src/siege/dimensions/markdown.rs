//! Texts that are large in one dimension.

use super::{Dimension, SENTENCES, Shape, words};

pub(super) fn text(shape: Shape) -> String {
    let Shape { count, chars, .. } = shape;
    let long = words(chars);
    let each = |one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    let large = match shape.dimension {
        Dimension::Headings => {
            format!("# {long}\n\n{}", each(&|at| format!("## {at}\n\n{at}\n\n")))
        }
        Dimension::Cells => format!("|{}\n|{}\n|{long}|\n", "a|".repeat(count), "-|".repeat(count)),
        Dimension::Links => each(&|at| format!("[{at}](https://example.com/{long}) ")),
        Dimension::Lines => each(&|_| format!("{long}\n")),
        Dimension::Pairs => each(&|at| format!("Q: {at}?\nA: {long}\n\n")),
        Dimension::Names => each(&|at| format!("<{at}{long}>\n\n")),
        Dimension::Attributes => each(&|at| format!("<p a{at}=\"{long}\"> ")),
        Dimension::Pages => each(&|_| format!("{long}\u{c}")),
        Dimension::Nesting => {
            each(&|at| format!("{}- {at}\n", "  ".repeat(at % chars))) + &"> ".repeat(count)
        }
        Dimension::Fonts => each(&|_| format!("**_`{long}`_** ")),
        Dimension::Languages => each(&|at| SENTENCES[at % SENTENCES.len()].repeat(chars / 20 + 1)),
    };
    large + "\n\nThe museum opens at nine.\n"
}
