//! The fields of an event in a JSON log line.

use std::error::Error;
use std::fmt;

use json_subscriber::FieldWriter;
use serde::Serialize;
use tracing::Event;
use tracing::field::{Field, Visit};

use crate::failure::with_causes;

/// The field in which `json_subscriber` writes them unless it is removed.
pub(super) const NESTED: &str = "fields";

/// Writes the fields of an event into a line. An error is written with its causes, of which `json_subscriber` itself would
/// write none.
pub(super) fn write(event: &Event<'_>, line: &mut FieldWriter<'_>) {
    event.record(&mut Fields(line));
}

struct Fields<'l, 'w>(&'l mut FieldWriter<'w>);

impl Fields<'_, '_> {
    fn write(&mut self, field: &Field, value: impl Serialize) {
        // It fails only for a value that is not JSON, and none of these is.
        let _ = self.0.write_field(field.name(), value);
    }
}

impl Visit for Fields<'_, '_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.write(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.write(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.write(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.write(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.write(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.write(field, with_causes(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.write(field, format_args!("{value:?}"));
    }
}
