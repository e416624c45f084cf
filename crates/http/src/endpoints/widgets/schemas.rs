//! The schemas of fields that a derive cannot describe, because it has no limits for the items of a list or for the values of
//! a map, and no list of names that includes null.

use cicerone_domain::limits;
use cicerone_domain::widget::{IdentityRule, Scheme, Side, TEXT_KEYS};
use utoipa::openapi::schema::{
    AdditionalProperties, Array, ArrayBuilder, Object, ObjectBuilder, SchemaType, Type,
};

use crate::openapi::schema::{name_of_or_null, string};

/// A text that is not blank and has no NUL.
const SHOWN: &str = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$";

pub(super) fn scheme() -> Object {
    let about =
        "Whether it is light or dark; null for `auto`, which follows the visitor's preference.";
    name_of_or_null(Scheme::ALL.map(Scheme::name), about)
}

pub(super) fn position() -> Object {
    name_of_or_null(
        Side::ALL.map(Side::name),
        "The side of the page that the widget is on; null for `right`.",
    )
}

pub(super) fn identity() -> Object {
    let about =
        "Whether visitors are users of the owner's site, whose identity it signs; null for `none`.";
    name_of_or_null(IdentityRule::ALL.map(IdentityRule::name), about)
}

fn list(items: Object, most: usize, about: &str) -> Array {
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .items(items)
        .max_items(Some(most))
        .description(Some(about))
        .build()
}

pub(super) fn origins() -> Array {
    let origin = string()
        .max_length(Some(limits::WIDGET_ORIGIN_BYTES))
        .pattern(Some("^(\\*|[Hh][Tt][Tt][Pp][Ss]?://(\\*\\.)?[^\\s/\\\\?#@*]+)$"))
        .build();
    let about = "The sites that may embed it: `https://site.example`, `https://*.site.example` for every subdomain, \
        or `*` for any; null for none except its own page.";
    list(origin, limits::WIDGET_ORIGINS, about)
}

pub(super) fn starters() -> Array {
    let starter = string()
        .min_length(Some(1))
        .max_length(Some(limits::WIDGET_STARTER_CHARS))
        .pattern(Some(SHOWN))
        .build();
    list(
        starter,
        limits::WIDGET_STARTERS,
        "Suggested questions that a visitor can ask with a click; null for none.",
    )
}

pub(super) fn texts() -> Object {
    let text = || {
        string()
            .min_length(Some(1))
            .max_length(Some(limits::WIDGET_TEXT_CHARS))
            .pattern(Some(SHOWN))
            .build()
    };
    let schema = ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Object, Type::Null]))
        .description(Some("Texts that replace the widget's own, by key. They replace all texts that were set before; \
            null for none."))
        .additional_properties(Some(AdditionalProperties::FreeForm(false)));
    TEXT_KEYS.into_iter().fold(schema, |schema, key| schema.property(key, text())).build()
}
