//! Pages that are large in one dimension.

use super::{Dimension, SENTENCES, Shape, words};

pub(super) fn page(shape: Shape) -> String {
    format!(
        "<!doctype html><html><head><title>Large</title></head><body><main>{}<p>The museum opens \
         at nine.</p></main></body></html>",
        body(shape)
    )
}

fn body(shape: Shape) -> String {
    let Shape { count, chars, .. } = shape;
    let long = words(chars);
    let each = |one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    match shape.dimension {
        Dimension::Headings => {
            format!("<h1>{long}</h1>{}", each(&|at| format!("<h2>{at}</h2>{at}")))
        }
        Dimension::Cells => format!(
            "<table><tr>{}</tr><tr><td colspan=\"{count}\" rowspan=\"{chars}\">{long}</td></tr></table>",
            each(&|_| format!("<td>{}</td>", short(&long)))
        ),
        Dimension::Links => each(&|at| format!("<a href=\"/{at}/{}\">{at}</a> ", short(&long))),
        Dimension::Lines => each(&|_| format!("{}<br>\n", short(&long))) + &long,
        Dimension::Pairs => {
            format!("<dl>{}</dl>", each(&|at| format!("<dt>{at}?</dt><dd>{}</dd>", short(&long))))
        }
        Dimension::Names => {
            let name = "n".repeat(chars);
            each(&|at| format!("<x{at}{0}>a</x{at}{0}>", short(&name)))
        }
        Dimension::Attributes => {
            format!("<p{} title=\"{long}\">a</p>", each(&|at| format!(" a{at}=\"{at}\"")))
        }
        Dimension::Pages => {
            each(&|at| format!("<article><h1>{at}</h1><p>{}</p></article>", short(&long)))
        }
        Dimension::Nesting => {
            format!("{}{long}{}", "<div><ul><li>".repeat(count), "</li></ul></div>".repeat(count))
        }
        Dimension::Fonts => each(&|at| format!("<font face=\"f{at}\">{}</font>", short(&long))),
        Dimension::Languages => each(&|at| {
            let sentence = SENTENCES[at % SENTENCES.len()];
            format!("<p lang=\"l{at}\">{sentence}{}</p>", sentence.repeat(chars / 100))
        }),
    }
}

/// The part of a long text that each of many things contains, so that the page keeps its size.
fn short(text: &str) -> &str {
    text.get(..text.len().min(2_000)).unwrap_or(text)
}
