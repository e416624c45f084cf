//! Annotations of a page: the values of forms, notes with an appearance, and links (ISO 32000-2, 12.5 to 12.7).

use hayro_font::kurbo::{self, Affine, Point, Vec2};
use hayro_syntax::object::{Array, Dict, Name, Object, Rect, Stream, String as Bytes};
use hayro_syntax::page::{Page, Resources};

use super::bounds::{self, Budget};
use super::content::{Interpreter, Shown, Tools};
use super::glyph::{Characters, Glyph};
use super::state::State;
use super::strings::text_string;

/// Annotations of a page that are read.
const ANNOTATIONS: usize = 5_000;
/// The number of ancestors from which a field inherits.
const FIELD_DEPTH: usize = 16;
/// Characters of a value that are read.
const VALUE_CHARS: usize = 20_000;
/// Flags of annotations that are not shown: `Hidden` and `NoView`.
const UNSEEN: u32 = 1 << 1 | 1 << 5;
/// The flag of a password field.
const PASSWORD: u32 = 1 << 13;
/// The font size for a value without an appearance, and its fraction of the field's height.
const VALUE_SIZE: (f64, f64) = (10.0, 0.7);

/// The text for a selected check box or radio button, whose mark may be any symbol or drawing.
const CHECKED: &str = "[x]";
/// The flag of a button that has no state.
const PUSH_BUTTON: u32 = 1 << 16;

/// An area of the page that links to an address.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Link {
    pub(super) place: kurbo::Rect,
    pub(super) address: String,
}

/// Reads the annotations of a page and returns its links.
pub(super) fn read<'a>(
    page: &Page<'a>,
    tools: &mut Tools<'a, '_>,
    shown: &mut Shown,
    visible: Option<kurbo::Rect>,
) -> Vec<Link> {
    let annotations = page.raw().get::<Array<'a>>(b"Annots");
    let annotations = annotations.iter().flat_map(Array::iter::<Dict<'a>>).take(ANNOTATIONS);
    let mut links = Vec::new();
    for annotation in annotations {
        if !tools.budget.annotation() {
            shown.is_cut = true;
            break;
        }
        let kind = annotation.get::<Name<'_>>(b"Subtype");
        let kind: &[u8] = kind.as_ref().map_or(b"", |kind| kind.as_ref());
        let is_unseen = annotation.get::<u32>(b"F").is_some_and(|flags| flags & UNSEEN != 0);
        let Some(place) = annotation.get::<Rect>(b"Rect").map(sorted) else { continue };
        if is_unseen || kind == b"Popup" {
            continue;
        }
        if kind == b"Link" {
            links.extend(address(&annotation).map(|address| Link { place, address }));
        }
        if kind == b"Widget" && is_checked(&annotation) {
            write(CHECKED, place, shown, visible);
            continue;
        }
        let before = shown.bytes;
        draw(&annotation, place, tools, shown, visible);
        if shown.bytes == before {
            let stated = match kind {
                b"Widget" => value(&annotation, tools.budget),
                b"FreeText" | b"Stamp" => {
                    string(annotation.get::<Object<'_>>(b"Contents"), tools.budget)
                }
                _ => None,
            };
            write(stated.as_deref().unwrap_or_default(), place, shown, visible);
        }
    }
    links
}

/// Draws an annotation's appearance.
fn draw<'a>(
    annotation: &Dict<'a>,
    place: kurbo::Rect,
    tools: &mut Tools<'a, '_>,
    shown: &mut Shown,
    visible: Option<kurbo::Rect>,
) {
    let Some(form) = appearance(annotation) else { return };
    let dictionary = form.dict();
    let matrix = dictionary.get::<[f64; 6]>(b"Matrix").map_or(Affine::IDENTITY, Affine::new);
    let stated = dictionary.get::<Rect>(b"BBox").map(sorted);
    // The box, transformed by the matrix, is fitted into the rectangle (algorithm 8.1).
    let fitted = stated.map_or(place, |stated| matrix.transform_rect_bbox(stated));
    let scale = |to: f64, from: f64| if from.abs() > 1e-9 { to / from } else { 1.0 };
    let (x, y) = (scale(place.width(), fitted.width()), scale(place.height(), fitted.height()));
    let to_place =
        Affine::new([x, 0.0, 0.0, y, place.x0 - fitted.x0 * x, place.y0 - fitted.y0 * y]);
    let resources = Resources::new(Dict::empty());
    let mut interpreter = Interpreter::new(tools, shown, visible);
    interpreter.form(&form, &resources, State::new(to_place), 0);
}

/// The normal appearance: a form, or that of the current state.
fn appearance<'a>(annotation: &Dict<'a>) -> Option<Stream<'a>> {
    let appearances = annotation.get::<Dict<'a>>(b"AP")?;
    if let Some(form) = appearances.get::<Stream<'a>>(b"N") {
        return Some(form);
    }
    let states = appearances.get::<Dict<'a>>(b"N")?;
    let state = annotation.get::<Name<'a>>(b"AS")?;
    states.get::<Stream<'a>>(state.as_ref())
}

/// Whether it is a selected check box or radio button.
fn is_checked(field: &Dict<'_>) -> bool {
    let is_button = inherited::<Name<'_>>(field, b"FT").is_some_and(|kind| kind.as_ref() == b"Btn");
    let flags = inherited::<u32>(field, b"Ff").unwrap_or(0);
    let state = field.get::<Name<'_>>(b"AS").or_else(|| inherited::<Name<'_>>(field, b"V"));
    is_button
        && flags & PUSH_BUTTON == 0
        && state.is_some_and(|state| !matches!(state.as_ref(), b"Off" | b""))
}

/// The value of a text or choice field.
fn value(field: &Dict<'_>, budget: &mut Budget) -> Option<String> {
    let kind = inherited::<Name<'_>>(field, b"FT")?;
    let flags = inherited::<u32>(field, b"Ff").unwrap_or(0);
    if !matches!(kind.as_ref(), b"Tx" | b"Ch") || flags & PASSWORD != 0 {
        return None;
    }
    match inherited::<Object<'_>>(field, b"V")? {
        Object::Array(values) => {
            let values = values.iter::<Object<'_>>();
            let values = values.filter_map(|value| string(Some(value), budget));
            Some(values.collect::<Vec<_>>().join("\n"))
        }
        value => string(Some(value), budget),
    }
}

/// An entry of a field, or of the nearest field above it that has it.
fn inherited<'a, T>(field: &Dict<'a>, key: &[u8]) -> Option<T>
where
    T: TryFrom<Object<'a>>,
{
    let mut field = field.clone();
    for _ in 0..FIELD_DEPTH {
        if let Some(found) = field.get::<Object<'a>>(key) {
            return T::try_from(found).ok();
        }
        field = field.get::<Dict<'a>>(b"Parent")?;
    }
    None
}

/// A text; `None` if the values of the document have more bytes than the limit.
fn string(object: Option<Object<'_>>, budget: &mut Budget) -> Option<String> {
    let object = object.filter(|_| budget.has_value_bytes())?;
    let mut text = |bytes: &[u8]| budget.value_bytes(bytes.len()).then(|| text_string(bytes));
    match object {
        Object::String(string) => text(string.as_bytes()),
        Object::Stream(stream) => text(&bounds::decoded(&stream)?),
        _ => None,
    }
}

/// Adds lines in a rectangle, as if they were shown there.
fn write(text: &str, place: kurbo::Rect, shown: &mut Shown, visible: Option<kurbo::Rect>) {
    let text: String = text.chars().take(VALUE_CHARS).collect();
    let lines: Vec<&str> =
        text.split(['\r', '\n']).filter(|line| !line.trim().is_empty()).collect();
    let height = place.height() / lines.len().max(1) as f64;
    let size = (VALUE_SIZE.1 * height).clamp(1.0, VALUE_SIZE.0);
    for (index, line) in lines.iter().enumerate() {
        let line: String = line.chars().filter(|char| !char.is_control()).collect();
        let Some(text) = Characters::of(&line) else { continue };
        let start = Point::new(place.x0, place.y1 - height * (index as f64 + 0.5) - size / 3.0);
        let glyph = Glyph {
            text,
            start,
            end: start + Vec2::new(place.width().max(size), 0.0),
            along: Vec2::new(1.0, 0.0),
            spacing: 0.0,
            size,
            is_bold: false,
            string: shown.next_string(),
        };
        shown.collect(glyph, visible);
    }
}

/// The address that a link opens; `None` for links within the document.
fn address(link: &Dict<'_>) -> Option<String> {
    let action = link.get::<Dict<'_>>(b"A")?;
    let address = text_string(action.get::<Bytes<'_>>(b"URI")?.as_bytes());
    let address = address.trim();
    let is_sound = ["http://", "https://", "mailto:", "tel:"].iter().any(|scheme| {
        address.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme))
    }) && address.len() <= cicerone_domain::limits::WEBSITE_URL_CHARS
        && !address.contains(|char: char| char.is_whitespace() || char.is_control());
    is_sound.then(|| address.to_owned())
}

fn sorted(rect: Rect) -> kurbo::Rect {
    kurbo::Rect::new(rect.x0, rect.y0, rect.x1, rect.y1).abs()
}
