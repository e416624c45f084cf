//! Parts of schemas that a derive cannot express, since their values come from the domain.

use utoipa::openapi::schema::{Array, ArrayBuilder, Object, ObjectBuilder, SchemaType, Type};

/// A string, to be narrowed down.
pub(crate) fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// A string or null, to be narrowed down.
pub(crate) fn nullable_string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null]))
}

pub(crate) fn id_pattern(prefix: &str) -> String {
    format!("^{prefix}[0-9A-Za-z]{{10}}$")
}

pub(crate) fn id(prefix: &str) -> Object {
    string().pattern(Some(id_pattern(prefix))).build()
}

/// One of these names.
pub(crate) fn name_of<'a>(names: impl IntoIterator<Item = &'a str>, about: &str) -> Object {
    string().enum_values(Some(names)).description(Some(about)).build()
}

/// One of these names, or null.
pub(crate) fn name_of_or_null<'a>(names: impl IntoIterator<Item = &'a str>, about: &str) -> Object {
    let names = names.into_iter().map(Some).chain([None]);
    nullable_string().enum_values(Some(names)).description(Some(about)).build()
}

/// A list of at least one of these names.
pub(crate) fn names_of<'a>(names: impl IntoIterator<Item = &'a str>, about: &str) -> Array {
    list_of(names, about).build()
}

/// A list of at least one of these names, or null.
pub(crate) fn names_of_or_null<'a>(names: impl IntoIterator<Item = &'a str>, about: &str) -> Array {
    list_of(names, about).schema_type(SchemaType::from_iter([Type::Array, Type::Null])).build()
}

fn list_of<'a>(names: impl IntoIterator<Item = &'a str>, about: &str) -> ArrayBuilder {
    ArrayBuilder::new()
        .items(string().enum_values(Some(names)))
        .min_items(Some(1))
        .description(Some(about))
}
