//! Plots as SVG, written without a library: a few lines, ticks and labels, in the colours that the reader's system
//! prefers, light or dark.

mod scale;

use std::fmt::Write as _;

pub(crate) use self::scale::Scale;
use self::scale::Span;

/// The size of a panel with its labels, and the margins of its frame.
const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 42.0;
/// Panels beside each other.
const COLUMNS: usize = 2;
/// Points of a line from which on they are not marked one by one.
const MARKED: usize = 20;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#1f2328}.b{fill:#fff}.h{font-weight:600}\
.m{fill:#59636e}.g{stroke:#d1d9e0;stroke-width:1}.w{fill:#818b98;fill-opacity:.18}\
.l{fill:none;stroke-width:2;stroke-linejoin:round}.c0{stroke:#0969da}.c1{stroke:#bc4c00}.c2{stroke:#1a7f37}\
.d0{fill:#0969da}.d1{fill:#bc4c00}.d2{fill:#1a7f37}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.b{fill:#0d1117}.m{fill:#9198a1}.g{stroke:#3d444d}\
.c0{stroke:#4493f8}.c1{stroke:#db6d28}.c2{stroke:#3fb950}.d0{fill:#4493f8}.d1{fill:#db6d28}.d2{fill:#3fb950}}";

/// Some panels under a title for readers who do not see them.
#[derive(Debug)]
pub(crate) struct Plot {
    /// What it shows.
    pub(crate) title: &'static str,
    /// Its panels, in rows of two.
    pub(crate) panels: Vec<Panel>,
}

/// One coordinate system.
#[derive(Debug)]
pub(crate) struct Panel {
    /// What it shows, with the unit of the vertical axis.
    pub(crate) title: &'static str,
    /// What the horizontal axis means.
    pub(crate) across: &'static str,
    /// The scales of the horizontal and of the vertical axis.
    pub(crate) scales: (Scale, Scale),
    /// At most three lines.
    pub(crate) lines: Vec<Line>,
    /// Shaded spans of the horizontal axis.
    pub(crate) bands: Vec<(f64, f64)>,
}

/// A line through points.
#[derive(Debug)]
pub(crate) struct Line {
    /// Its label; empty if the panel's title contains it.
    pub(crate) name: &'static str,
    /// Its points, from left to right.
    pub(crate) points: Vec<(f64, f64)>,
}

impl Plot {
    /// The document.
    pub(crate) fn svg(&self) -> String {
        let columns = self.panels.len().clamp(1, COLUMNS);
        let rows = self.panels.len().div_ceil(COLUMNS).max(1);
        let (width, height) = (WIDTH * columns as f64, HEIGHT * rows as f64);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\"><title>{}</title><style>{STYLE}</style>\
             <rect class=\"b\" width=\"100%\" height=\"100%\"/>\n",
            escaped(self.title)
        );
        for (index, panel) in self.panels.iter().enumerate() {
            let (x, y) = (WIDTH * (index % columns) as f64, HEIGHT * (index / columns) as f64);
            svg += &format!("<g transform=\"translate({x} {y})\">\n{}</g>\n", panel.svg());
        }
        svg + "</svg>\n"
    }
}

impl Panel {
    fn svg(&self) -> String {
        let mut svg = text((LEFT, 18.0), "class=\"h\"", self.title);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let all = || self.lines.iter().flat_map(|line| line.points.iter());
        let across = Span::over(self.scales.0, all().map(|point| point.0), (LEFT, right), false);
        let up = Span::over(self.scales.1, all().map(|point| point.1), (bottom, TOP), true);
        for (from, to) in &self.bands {
            let (from, to) = (across.place(*from), across.place(*to));
            let (wide, high) = (to - from, bottom - TOP);
            svg += &format!(
                "<rect class=\"w\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{wide:.1}\" height=\"{high}\"/>\n"
            );
        }
        for tick in up.ticks() {
            let y = up.place(tick);
            svg += &format!("<path class=\"g\" d=\"M{LEFT} {y:.1}H{right}\"/>");
            svg += &text((LEFT - 6.0, y + 4.0), "class=\"m\" text-anchor=\"end\"", &label(tick));
        }
        for tick in across.ticks() {
            let place = (across.place(tick), bottom + 16.0);
            svg += &text(place, "class=\"m\" text-anchor=\"middle\"", &label(tick));
        }
        let middle = (f64::midpoint(LEFT, right), HEIGHT - 8.0);
        svg += &text(middle, "class=\"m\" text-anchor=\"middle\"", self.across);
        let mut legend = LEFT;
        for (colour, line) in self.lines.iter().enumerate() {
            svg += &line.svg(colour, &across, &up);
            if !line.name.is_empty() {
                svg += &format!(
                    "<rect class=\"d{colour}\" x=\"{legend}\" y=\"28\" width=\"10\" height=\"10\"/>"
                );
                svg += &text((legend + 14.0, 37.0), "class=\"m\"", line.name);
                legend += 30.0 + 6.5 * line.name.chars().count() as f64;
            }
        }
        svg
    }
}

impl Line {
    fn svg(&self, colour: usize, across: &Span, up: &Span) -> String {
        let places: Vec<_> =
            self.points.iter().map(|(x, y)| (across.place(*x), up.place(*y))).collect();
        let mut path = String::new();
        for (index, (x, y)) in places.iter().enumerate() {
            let step = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{step}{x:.1} {y:.1}");
        }
        let mut svg = format!("<path class=\"l c{colour}\" d=\"{path}\"/>\n");
        if places.len() < MARKED {
            for (x, y) in places {
                svg +=
                    &format!("<circle class=\"d{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>");
            }
            svg.push('\n');
        }
        svg
    }
}

fn text((x, y): (f64, f64), attributes: &str, content: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>\n", escaped(content))
}

/// A number without superfluous digits; thousands are abbreviated.
fn label(value: f64) -> String {
    let (value, unit) = match value.abs() {
        1_000_000.0.. => (value / 1_000_000.0, "M"),
        10_000.0.. => (value / 1_000.0, "k"),
        _ => (value, ""),
    };
    let digits = format!("{value:.3}");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}{unit}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_is_small_and_has_its_lines_inside_the_frame() {
        let points: Vec<_> =
            (0..240).map(|index| (f64::from(index), f64::from(index % 7))).collect();
        let panel = |scales| Panel {
            title: "p99 in ms & more",
            across: "seconds",
            scales,
            lines: vec![Line { name: "with <load>", points: points.clone() }],
            bands: vec![(2.0, 9.0)],
        };
        let panels = vec![
            panel((Scale::Linear, Scale::Linear)),
            panel((Scale::Linear, Scale::Logarithmic)),
            panel((Scale::Measured, Scale::Linear)),
        ];
        let svg = Plot { title: "An example", panels }.svg();
        assert!(svg.len() < 32 * 1_024, "{} bytes", svg.len());
        assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("-0"), "{svg}");
        assert!(svg.contains("p99 in ms &amp; more") && svg.contains("with &lt;load&gt;"));
        let path = svg.split("d=\"M58.0").nth(1).and_then(|rest| rest.split('"').next());
        for pair in path.expect("a line").split('L').skip(1) {
            let numbers: Vec<f64> = pair.split(' ').map(|number| number.parse().unwrap()).collect();
            assert!((LEFT..=WIDTH).contains(&numbers[0]) && (TOP..=HEIGHT).contains(&numbers[1]));
        }
    }

    #[test]
    fn labels_are_short() {
        let labels = [0.0, 0.05, 2.5, 512.0, 1_024.0, 10_000.0, 2_500_000.0].map(label);
        assert_eq!(labels, ["0", "0.05", "2.5", "512", "1024", "10k", "2.5M"]);
    }
}
