//! One picture of a PDF file in shades of grey.

use hayro_syntax::object::dict::Dict;
use hayro_syntax::object::stream::{FilterResult, ImageColorSpace, ImageDecodeParams};
use hayro_syntax::object::{Array, Object, Stream};
use hayro_syntax::page::Resources;

use super::bounds;

/// The maximum number of pixels of a picture: an A4 page at 600 dpi has 35 million.
const PIXELS: usize = 40_000_000;
/// Components of a colour.
const COMPONENTS: usize = 32;
/// The maximum nesting depth of colour spaces.
const DEPTH: usize = 3;

#[derive(Debug)]
pub(super) struct Picture {
    /// Its grey values; `None` for a stencil, which is black.
    shades: Option<Plane>,
    /// The opacity of each pixel; `None` if all pixels are opaque.
    cover: Option<Plane>,
}

/// A value for each pixel of a picture, row by row from the top.
#[derive(Debug)]
struct Plane {
    width: usize,
    height: usize,
    values: Vec<u8>,
}

impl Picture {
    /// A decoded picture; `None` if it is damaged or too large.
    pub(super) fn decoded(picture: &Stream<'_>, resources: &Resources<'_>) -> Option<Self> {
        let dictionary = picture.dict();
        if is_stencil(dictionary) {
            let mut cover = Plane::decoded(picture, resources)?;
            // It paints where its value is 0.
            cover.values.iter_mut().for_each(|value| *value = !*value);
            return Some(Self { shades: None, cover: Some(cover) });
        }
        let shades = Plane::decoded(picture, resources)?;
        let soft = dictionary.get::<Stream<'_>>(b"SMask");
        let cover = match soft {
            Some(soft) => Plane::decoded(&soft, resources),
            None => dictionary.get::<Stream<'_>>(b"Mask").and_then(|mask| {
                let mut cover = Plane::decoded(&mask, resources)?;
                cover.values.iter_mut().for_each(|value| *value = !*value);
                Some(cover)
            }),
        };
        Some(Self { shades: Some(shades), cover })
    }

    /// The places across.
    pub(super) fn width(&self) -> usize {
        let planes = [&self.shades, &self.cover];
        planes.into_iter().flatten().map(|plane| plane.width).max().unwrap_or(0)
    }

    /// The grey value at a position, from 0 to 1 across and down, blended with what is below.
    pub(super) fn shade(&self, across: f64, down: f64, below: f64) -> f64 {
        let is_inside = (0.0..1.0).contains(&across) && (0.0..1.0).contains(&down);
        if !is_inside {
            return below;
        }
        let at = |plane: &Plane| f64::from(plane.at(across, down));
        let own = self.shades.as_ref().map_or(0.0, at);
        let cover = self.cover.as_ref().map_or(1.0, |cover| at(cover) / 255.0);
        cover * own + (1.0 - cover) * below
    }
}

/// The stated size of a picture, if it is within the limit.
pub(super) fn size(dictionary: &Dict<'_>) -> Option<(usize, usize)> {
    let side = |long: &[u8], short: &[u8]| {
        dictionary.get::<u32>(long).or_else(|| dictionary.get::<u32>(short))
    };
    bounded(side(b"Width", b"W")?, side(b"Height", b"H")?)
}

fn bounded(width: u32, height: u32) -> Option<(usize, usize)> {
    let (width, height) = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
    let pixels = width.checked_mul(height)?;
    (1..=PIXELS).contains(&pixels).then_some((width, height))
}

fn is_stencil(dictionary: &Dict<'_>) -> bool {
    dictionary.get::<bool>(b"ImageMask").unwrap_or(false)
}

impl Plane {
    fn decoded(picture: &Stream<'_>, resources: &Resources<'_>) -> Option<Self> {
        let dictionary = picture.dict();
        let (width, height) = size(dictionary)?;
        if bounds::is_too_large(picture) {
            return None;
        }
        let is_stencil = is_stencil(dictionary);
        let space = dictionary.get::<Object<'_>>(b"ColorSpace");
        let space = space.and_then(|space| Colors::of(&space, resources, 0));
        let stated_bits = dictionary.get::<u8>(b"BitsPerComponent");
        let params = ImageDecodeParams {
            is_indexed: matches!(space, Some(Colors::Listed(_))),
            bpc: stated_bits,
            num_components: space.as_ref().and_then(|space| u8::try_from(space.components()).ok()),
            target_dimension: None,
            width: u32::try_from(width).ok()?,
            height: u32::try_from(height).ok()?,
        };
        let FilterResult { data, image_data } = picture.decoded_image(&params).ok()?;
        let (mut width, mut height) = (width, height);
        let mut bits = if is_stencil { 1 } else { stated_bits.unwrap_or(8) };
        let mut own = None;
        if let Some(stated) = image_data {
            (width, height) = bounded(stated.width, stated.height)?;
            bits = stated.bits_per_component;
            own = stated.color_space;
        }
        let colors = match (space, own) {
            (Some(Colors::Listed(shades)), _) => Colors::Listed(shades),
            (Some(space), Some(own)) if space.components() == components(own) => space,
            (_, Some(own)) => Colors::of_number(components(own))?,
            (Some(space), None) => space,
            (None, None) => Colors::Grey,
        };
        let inverted = dictionary.get::<Array<'_>>(b"Decode").is_some_and(|decode| {
            let mut ends = decode.iter::<Object<'_>>().filter_map(Object::into_f32);
            matches!((ends.next(), ends.next()), (Some(first), Some(last)) if first > last)
        });
        let rows = Rows { data: &data, width, height, bits, inverted };
        Some(Self { width, height, values: rows.shades(&colors)? })
    }

    fn at(&self, across: f64, down: f64) -> u8 {
        let column = ((across * self.width as f64) as usize).min(self.width.saturating_sub(1));
        let row = ((down * self.height as f64) as usize).min(self.height.saturating_sub(1));
        self.values.get(row * self.width + column).copied().unwrap_or(u8::MAX)
    }
}

fn components(space: ImageColorSpace) -> usize {
    match space {
        ImageColorSpace::Gray => 1,
        ImageColorSpace::Rgb => 3,
        ImageColorSpace::Cmyk => 4,
        ImageColorSpace::Unknown(components) => usize::from(components),
    }
}

/// Colour spaces, as far as needed for grey values.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Colors {
    Grey,
    Light,
    Ink,
    /// A number of inks; more ink is darker.
    Inks(usize),
    /// Indices of a palette of grey values.
    Listed(Vec<u8>),
}

impl Colors {
    fn of(space: &Object<'_>, resources: &Resources<'_>, depth: usize) -> Option<Self> {
        if depth > DEPTH {
            return None;
        }
        match space {
            Object::Name(name) => match &**name {
                b"DeviceGray" | b"G" | b"CalGray" => Some(Self::Grey),
                b"DeviceRGB" | b"RGB" | b"CalRGB" => Some(Self::Light),
                b"DeviceCMYK" | b"CMYK" => Some(Self::Ink),
                _ => Self::of(&resources.get_color_space(name)?, resources, depth + 1),
            },
            Object::Array(parts) => Self::of_array(parts, resources, depth),
            _ => None,
        }
    }

    fn of_array(space: &Array<'_>, resources: &Resources<'_>, depth: usize) -> Option<Self> {
        let mut parts = space.iter::<Object<'_>>();
        let name = parts.next()?.into_name()?;
        let second = parts.next();
        match &*name {
            b"ICCBased" => {
                let number = second?.into_stream()?.dict().get::<u32>(b"N")?;
                Self::of_number(usize::try_from(number).ok()?)
            }
            b"Indexed" | b"I" => {
                let base = Self::of(&second?, resources, depth + 1)?;
                let _last = parts.next()?;
                let colors = match parts.next()? {
                    Object::String(colors) => colors.as_bytes().to_vec(),
                    Object::Stream(colors) => bounds::decoded(&colors)?.into_owned(),
                    _ => return None,
                };
                let shades = colors.chunks_exact(base.components()).take(256);
                Some(Self::Listed(shades.map(|color| base.shade(color)).collect()))
            }
            b"Separation" => Some(Self::Inks(1)),
            b"DeviceN" => {
                let inks = second?.into_array()?.iter::<Object<'_>>().take(COMPONENTS + 1).count();
                (1..=COMPONENTS).contains(&inks).then_some(Self::Inks(inks))
            }
            // Lightness and two colour components.
            b"Lab" | b"CalRGB" => Some(Self::Light),
            _ => Self::of(&Object::Name(name), resources, depth + 1),
        }
    }

    /// The usual colour space for a number of components.
    fn of_number(components: usize) -> Option<Self> {
        match components {
            1 => Some(Self::Grey),
            3 => Some(Self::Light),
            4 => Some(Self::Ink),
            2..=COMPONENTS => Some(Self::Inks(components)),
            _ => None,
        }
    }

    const fn components(&self) -> usize {
        match self {
            Self::Grey | Self::Listed(_) => 1,
            Self::Light => 3,
            Self::Ink => 4,
            Self::Inks(inks) => *inks,
        }
    }

    /// The grey value of a colour.
    fn shade(&self, color: &[u8]) -> u8 {
        let light = |red: u8, green: u8, blue: u8| {
            let sum = 77 * u32::from(red) + 150 * u32::from(green) + 29 * u32::from(blue);
            u8::try_from(sum >> 8).unwrap_or(u8::MAX)
        };
        match (self, color) {
            (Self::Grey, [shade, ..]) => *shade,
            (Self::Listed(shades), [number, ..]) => {
                shades.get(usize::from(*number)).copied().unwrap_or(u8::MAX)
            }
            (Self::Light, [red, green, blue, ..]) => light(*red, *green, *blue),
            (Self::Ink, [cyan, magenta, yellow, black, ..]) => {
                let shade =
                    u32::from(light(!*cyan, !*magenta, !*yellow)) * u32::from(!*black) / 255;
                u8::try_from(shade).unwrap_or(u8::MAX)
            }
            (Self::Inks(_), inks) => !inks.iter().copied().max().unwrap_or(0),
            _ => u8::MAX,
        }
    }
}

/// The rows of a picture. Each begins at a byte boundary.
struct Rows<'d> {
    data: &'d [u8],
    width: usize,
    height: usize,
    bits: u8,
    inverted: bool,
}

impl Rows<'_> {
    /// The grey value of each pixel; missing data is white.
    fn shades(&self, colors: &Colors) -> Option<Vec<u8>> {
        if !matches!(self.bits, 1 | 2 | 4 | 8 | 16) {
            return None;
        }
        let components = colors.components();
        let samples = self.width.checked_mul(components)?;
        let bytes = samples.checked_mul(usize::from(self.bits))?.div_ceil(8);
        let mut shades = Vec::with_capacity(self.width * self.height);
        let mut row = Vec::with_capacity(samples);
        for data in self.data.chunks(bytes).take(self.height) {
            row.clear();
            self.samples(data, matches!(colors, Colors::Listed(_)), &mut row);
            row.truncate(samples);
            let end = shades.len() + self.width;
            shades.extend(row.chunks_exact(components).map(|color| colors.shade(color)));
            shades.resize(end, u8::MAX);
        }
        shades.resize(self.width * self.height, u8::MAX);
        Some(shades)
    }

    /// The samples of a row, from 0 to 255, or the numbers that they are.
    fn samples(&self, data: &[u8], are_numbers: bool, row: &mut Vec<u8>) {
        let flip = if self.inverted { u8::MAX } else { 0 };
        match self.bits {
            8 if self.inverted => row.extend(data.iter().map(|value| !value)),
            8 => row.extend_from_slice(data),
            16 => row.extend(data.iter().step_by(2).map(|value| value ^ flip)),
            bits => {
                let most = (1_u8 << bits) - 1;
                let factor = if are_numbers { 1 } else { u8::MAX / most };
                for byte in data {
                    for shift in (0..8).step_by(usize::from(bits)).rev() {
                        row.push((((byte >> shift) & most) ^ (flip & most)) * factor);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Colors, PIXELS, Picture, Plane, Rows, bounded};

    fn rows(data: &[u8], width: usize, bits: u8, inverted: bool) -> Rows<'_> {
        Rows { data, width, height: 2, bits, inverted }
    }

    #[test]
    fn shades_of_all_depths_are_read_row_by_row() {
        let read = |data: &[u8], width, bits, inverted, colors: &Colors| {
            rows(data, width, bits, inverted).shades(colors).unwrap()
        };
        assert_eq!(
            read(&[0b1010_0000, 0b0100_0000], 3, 1, false, &Colors::Grey),
            [255, 0, 255, 0, 255, 0]
        );
        assert_eq!(
            read(&[0b1010_0000, 0b0100_0000], 3, 1, true, &Colors::Grey),
            [0, 255, 0, 255, 0, 255]
        );
        assert_eq!(read(&[0x0f, 0x80], 2, 4, false, &Colors::Grey), [0, 255, 136, 0]);
        assert_eq!(read(&[9, 200, 7, 8], 1, 16, false, &Colors::Grey), [9, 7]);
        assert_eq!(read(&[255, 255, 255, 0, 0, 0], 1, 8, false, &Colors::Light), [255, 0]);
        assert_eq!(read(&[0, 0, 0, 255, 0, 0, 0, 0], 1, 8, false, &Colors::Ink), [0, 255]);
        let listed = Colors::Listed(vec![7, 9]);
        assert_eq!(read(&[0b0100_0000, 0b1000_0000], 2, 1, false, &listed), [7, 9, 9, 7]);
    }

    #[test]
    fn what_the_data_lack_is_white_and_what_they_have_more_is_left_out() {
        assert_eq!(rows(&[1, 2, 3], 2, 8, false).shades(&Colors::Grey).unwrap(), [1, 2, 3, 255]);
        assert_eq!(rows(&[1; 9], 2, 8, false).shades(&Colors::Grey).unwrap(), [1; 4]);
        assert_eq!(rows(&[], 2, 8, false).shades(&Colors::Light).unwrap(), [255; 4]);
        assert!(rows(&[1; 9], 2, 7, false).shades(&Colors::Grey).is_none());
    }

    #[test]
    fn a_picture_larger_than_any_is_not_read() {
        assert!(bounded(0, 5).is_none() && bounded(u32::MAX, u32::MAX).is_none());
        let most = u32::try_from(PIXELS).unwrap();
        assert!(bounded(most, 1).is_some() && bounded(most + 1, 1).is_none());
    }

    #[test]
    fn a_stencil_is_black_where_it_covers() {
        let plane = |values: &[u8]| Plane { width: 2, height: 1, values: values.to_vec() };
        let stencil = Picture { shades: None, cover: Some(plane(&[255, 0])) };
        assert_eq!((stencil.shade(0.2, 0.5, 200.0), stencil.shade(0.7, 0.5, 200.0)), (0.0, 200.0));
        assert_eq!(stencil.shade(1.0, 0.5, 200.0), 200.0);
        let picture = Picture { shades: Some(plane(&[10, 20])), cover: None };
        assert_eq!((picture.shade(0.2, 0.5, 200.0), picture.shade(0.7, 0.5, 200.0)), (10.0, 20.0));
    }
}
