//! Scales of an axis, and where their ticks are.

/// How values are placed along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// In proportion, with round ticks.
    Linear,
    /// Equal ratios are equally far apart.
    Logarithmic,
    /// Like a logarithmic one, with a tick at each value.
    Measured,
}

/// Ticks of an axis, about.
const TICKS: f64 = 5.0;
/// A value that is small enough to represent zero on a logarithmic axis.
const LEAST: f64 = 1e-3;

/// The values between the ends of an axis.
#[derive(Debug)]
pub(super) struct Span {
    scale: Scale,
    /// The least and the greatest value.
    values: (f64, f64),
    /// Where those are.
    places: (f64, f64),
    /// All values, each once, in order.
    all: Vec<f64>,
}

impl Span {
    /// An axis that has room for these values, from one place to another. An axis that `begins_at_zero` does so if its
    /// scale is linear, and ends at a tick.
    pub(super) fn over(
        scale: Scale,
        values: impl Iterator<Item = f64>,
        places: (f64, f64),
        begins_at_zero: bool,
    ) -> Self {
        let mut all: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let (least, greatest) =
            (all.first().copied().unwrap_or_default(), all.last().copied().unwrap_or(1.0));
        let values = match scale {
            Scale::Linear if begins_at_zero => {
                let step = step(greatest.max(LEAST) / TICKS);
                (0.0, (greatest.max(LEAST) / step).ceil() * step)
            }
            Scale::Linear => (least, if greatest > least { greatest } else { least + 1.0 }),
            Scale::Measured => (least.max(LEAST), greatest.max(least.max(LEAST) * 1.001)),
            Scale::Logarithmic => {
                let least = 10_f64.powf(least.max(LEAST).log10().floor());
                (least, 10_f64.powf(greatest.max(LEAST).log10().ceil()).max(least * 10.0))
            }
        };
        Self { scale, values, places, all }
    }

    /// Where a value is.
    pub(super) fn place(&self, value: f64) -> f64 {
        let (least, greatest) = self.values;
        let share = match self.scale {
            Scale::Linear => (value - least) / (greatest - least),
            Scale::Logarithmic | Scale::Measured => {
                (value.max(least) / least).ln() / (greatest / least).ln()
            }
        };
        self.places.0 + share.clamp(0.0, 1.0) * (self.places.1 - self.places.0)
    }

    /// Values with a label.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let (least, greatest) = self.values;
        match self.scale {
            Scale::Measured => self.all.clone(),
            Scale::Linear => {
                let step = step((greatest - least) / TICKS);
                let first = (least / step).ceil();
                let count = ((greatest / step + 1e-9).floor() - first).max(0.0) as u32;
                (0..=count).map(|index| (first + f64::from(index)) * step).collect()
            }
            Scale::Logarithmic => {
                let decades = (greatest / least).log10().round() as i32;
                (0..=decades).map(|decade| least * 10_f64.powi(decade)).collect()
            }
        }
    }
}

/// A round number that is not less than this: 1, 2 or 5 times a power of ten.
fn step(at_least: f64) -> f64 {
    let power = 10_f64.powf(at_least.log10().floor());
    let digits =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|digits| digits * power >= at_least * (1.0 - 1e-9));
    digits.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        let up = Span::over(Scale::Linear, [3.0, 5_434.0].into_iter(), (200.0, 0.0), true);
        assert_eq!(up.ticks(), [0.0, 2_000.0, 4_000.0, 6_000.0]);
        assert!((up.place(0.0) - 200.0).abs() < 1e-9 && up.place(6_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_logarithmic_axis_goes_from_power_to_power_of_ten() {
        let up = Span::over(Scale::Logarithmic, [0.4, 30.0].into_iter(), (0.0, 300.0), true);
        assert_eq!(up.ticks().len(), 4);
        assert!((up.place(1.0) - 100.0).abs() < 1e-6);
    }

    #[test]
    fn measured_values_are_ticks_themselves() {
        let across =
            Span::over(Scale::Measured, [1.0, 2.0, 4.0, 2.0].into_iter(), (0.0, 2.0), false);
        assert_eq!(across.ticks(), [1.0, 2.0, 4.0]);
        assert!((across.place(2.0) - 1.0).abs() < 1e-9);
    }
}
