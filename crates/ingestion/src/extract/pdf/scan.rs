//! Draws the pictures of a page as they are arranged on it: strips of a scan, a scan with its text in a layer above the
//! paper, a rotated page.
//!
//! Text, lines and areas are not drawn, because the pages in question have none.

use hayro_font::kurbo::{Affine, Point, Rect};
use hayro_syntax::content::{Instruction, UntypedIter};
use hayro_syntax::object::{Dict, Name, Object, Stream};
use hayro_syntax::page::{Page, Resources, Rotation};

use super::bounds::{self, Budget};
use super::draft::guarded;
use super::layers::Layers;
use super::picture::{Picture, size};
use super::reader::{content, visible};

/// The maximum number of pictures that are drawn for a page.
const PICTURES: usize = 500;
/// The maximum number of pixels of the drawing: an A4 page at 300 dpi has 8.7 million.
const PIXELS: f64 = 10_000_000.0;
/// All pictures together may cover this many times the area of the page.
const LAYERS: f64 = 12.0;
/// A page with fewer pixels across shows no text.
const SMALLEST: f64 = 16.0;
/// A picture with this many times the pixels of the drawing is averaged.
const FINER: f64 = 1.5;
/// Values that differ by less are one grey value.
const SHADE: u8 = 24;

/// A drawing in shades of grey.
#[derive(Debug)]
pub(super) struct Drawing {
    width: usize,
    height: usize,
    shades: Vec<u8>,
}

/// A picture, and the space whose unit square it fills.
struct Placed<'a> {
    picture: Stream<'a>,
    space: Affine,
}

/// The pictures of a page. `None` if none of them can be decoded.
pub(super) fn of(page: &Page<'_>, layers: &Layers, budget: &mut Budget) -> Option<Drawing> {
    let seen = visible(page)?;
    let (content, _) = content(page);
    let mut finder = Finder { found: Vec::new(), layers, budget };
    finder.read(&content, page.resources(), Affine::IDENTITY, 0);
    let found = finder.found;
    let finest = found.iter().filter_map(Placed::resolution).fold(0.0, f64::max);
    let scale = finest.min((PIXELS / seen.area()).sqrt());
    let upright = upright(page.rotation(), seen, scale);
    let area = upright.transform_rect_bbox(seen);
    if !(area.width() >= SMALLEST && area.height() >= SMALLEST) {
        return None;
    }
    let (width, height) = (area.width() as usize, area.height() as usize);
    let mut drawing = Drawing { width, height, shades: vec![u8::MAX; width * height] };
    let mut left = LAYERS * area.area();
    let mut is_drawn = false;
    for Placed { picture, space } in found {
        let picture = guarded(|| Picture::decoded(&picture, page.resources())).ok().flatten();
        if let Some(picture) = picture {
            is_drawn |= drawing.draw(&picture, upright * space, &mut left);
        }
    }
    is_drawn.then_some(drawing)
}

/// The transformation from the page's space to that of the drawing, whose rows run downwards.
fn upright(rotation: Rotation, seen: Rect, scale: f64) -> Affine {
    let Rect { x0, y0, x1, y1 } = seen;
    // The columns of the matrix, and the corner of the page that becomes the upper left.
    let (matrix, corner) = match rotation {
        Rotation::None => ([1.0, 0.0, 0.0, -1.0], (x0, y1)),
        Rotation::Horizontal => ([0.0, 1.0, 1.0, 0.0], (x0, y0)),
        Rotation::Flipped => ([-1.0, 0.0, 0.0, 1.0], (x1, y0)),
        Rotation::FlippedHorizontal => ([0.0, -1.0, -1.0, 0.0], (x1, y1)),
    };
    let [a, b, c, d] = matrix;
    Affine::scale(scale)
        * Affine::new([a, b, c, d, 0.0, 0.0])
        * Affine::translate((-corner.0, -corner.1))
}

impl Placed<'_> {
    /// The dots per unit of the page.
    fn resolution(&self) -> Option<f64> {
        let (width, height) = size(self.picture.dict())?;
        let [a, b, c, d, ..] = self.space.as_coeffs();
        let (across, down) = (a.hypot(b), c.hypot(d));
        (across > 1e-6 && down > 1e-6)
            .then(|| (width as f64 / across).min(height as f64 / down))
            .filter(|dots| dots.is_finite())
    }
}

impl Drawing {
    /// Whether it has only one grey value.
    pub(super) fn is_blank(&self) -> bool {
        let darkest = self.shades.iter().min().copied().unwrap_or(u8::MAX);
        let lightest = self.shades.iter().max().copied().unwrap_or(u8::MAX);
        lightest - darkest < SHADE
    }

    /// The drawing as a PGM file (Netpbm), which all programs read.
    pub(super) fn into_file(self) -> Vec<u8> {
        let mut file = format!("P5\n{} {}\n255\n", self.width, self.height).into_bytes();
        file.extend_from_slice(&self.shades);
        file
    }

    /// Draws a picture into the unit square of a space, and subtracts the drawn pixels from `left`. Returns whether it
    /// was drawn.
    fn draw(&mut self, picture: &Picture, space: Affine, left: &mut f64) -> bool {
        let whole = Rect::new(0.0, 0.0, self.width as f64, self.height as f64);
        let area = space.transform_rect_bbox(Rect::new(0.0, 0.0, 1.0, 1.0)).intersect(whole);
        let is_sound = space.determinant().abs() > 1e-9 && area.is_finite();
        *left -= area.area();
        if !is_sound || *left < 0.0 {
            return false;
        }
        let back = space.inverse();
        let [a, b, ..] = space.as_coeffs();
        let is_finer = picture.width() as f64 > FINER * a.hypot(b);
        let places: &[(f64, f64)] = if is_finer {
            &[(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)]
        } else {
            &[(0.5, 0.5)]
        };
        let (columns, rows) =
            (area.x0 as usize..area.x1.ceil() as usize, area.y0 as usize..area.y1.ceil() as usize);
        for y in rows {
            let row = self.shades.get_mut(y * self.width..(y + 1) * self.width).unwrap_or_default();
            for x in columns.clone() {
                let Some(shade) = row.get_mut(x) else { break };
                let below = f64::from(*shade);
                let sum: f64 = places
                    .iter()
                    .map(|(right, down)| {
                        let at = back * Point::new(x as f64 + right, y as f64 + down);
                        picture.shade(at.x, 1.0 - at.y, below)
                    })
                    .sum();
                *shade = (sum / places.len() as f64).round() as u8;
            }
        }
        true
    }
}

/// Looks for pictures in content.
struct Finder<'a, 't> {
    found: Vec<Placed<'a>>,
    layers: &'t Layers,
    budget: &'t mut Budget,
}

impl<'a> Finder<'a, '_> {
    fn read(&mut self, content: &[u8], resources: &Resources<'a>, space: Affine, depth: usize) {
        let mut content = UntypedIter::new(content);
        let (mut space, mut spaces) = (space, Vec::new());
        while let Some(instruction) = content.next() {
            if !self.budget.operator() || self.found.len() >= PICTURES {
                return;
            }
            let operator: &[u8] = instruction.operator;
            match operator {
                b"q" if spaces.len() < bounds::STATES => spaces.push(space),
                b"Q" => space = spaces.pop().unwrap_or(space),
                b"cm" => space *= Affine::new(super::content::numbers(&instruction)),
                b"Do" => self.draw(&instruction, resources, space, depth),
                _ => {}
            }
        }
    }

    fn draw(
        &mut self,
        instruction: &Instruction<'_, '_>,
        resources: &Resources<'a>,
        mut space: Affine,
        depth: usize,
    ) {
        let name = instruction.operands().find_map(|object| match object {
            Object::Name(name) => Some(name),
            _ => None,
        });
        let Some(drawn) = name.and_then(|name| resources.get_x_object(name)) else { return };
        let dictionary = drawn.dict();
        let layer = dictionary.get::<Dict<'a>>(b"OC");
        let id = dictionary.get_ref(b"OC").map(Into::into);
        if layer.is_some_and(|layer| !self.layers.are_seen(&layer, id)) {
            return;
        }
        match dictionary.get::<Name<'_>>(b"Subtype").as_deref() {
            Some(b"Image") => self.found.push(Placed { picture: drawn, space }),
            Some(b"Form") if depth < bounds::FORM_DEPTH && self.budget.form() => {
                let Some(content) = bounds::decoded(&drawn) else { return };
                if !self.budget.form_bytes(content.len()) {
                    return;
                }
                if let Some(matrix) = dictionary.get::<[f64; 6]>(b"Matrix") {
                    space *= Affine::new(matrix);
                }
                let own = dictionary.get::<Dict<'a>>(b"Resources").map(Resources::new);
                self.read(&content, own.as_ref().unwrap_or(resources), space, depth + 1);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use hayro_font::kurbo::{Point, Rect};
    use hayro_syntax::page::Rotation;

    use super::upright;

    #[test]
    fn a_page_that_lies_on_its_side_is_turned() {
        let seen = Rect::new(10.0, 20.0, 110.0, 220.0);
        // The corners of the page that are at the upper left and at the lower right of the visible page.
        for (rotation, first, last) in [
            (Rotation::None, (10.0, 220.0), (110.0, 20.0)),
            (Rotation::Horizontal, (10.0, 20.0), (110.0, 220.0)),
            (Rotation::Flipped, (110.0, 20.0), (10.0, 220.0)),
            (Rotation::FlippedHorizontal, (110.0, 220.0), (10.0, 20.0)),
        ] {
            let place = upright(rotation, seen, 2.0);
            assert_eq!(place * Point::from(first), Point::ZERO);
            let end = place * Point::from(last);
            assert!(end.x > 0.0 && end.y > 0.0 && end.x * end.y == 80_000.0, "{end:?}");
        }
    }
}
