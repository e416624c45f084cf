//! Widgets that a file asks for.

use std::path::Path;

use cicerone_domain::widget::{
    Appearance, GivenAppearance, GivenLimits, GivenWidget, IdentityRule, Look, Origins,
    WidgetLimits, WidgetPatch,
};
use serde_json::{Map, Value, json};

use super::check::refused;
use super::{WantedObject, check_key, finished};
use crate::commands::declared::manifest::{AppearanceEntry, Field, LimitsEntry, WidgetEntry};
use crate::failure::Failure;

/// A widget of the agent with the key `agent`. Null means a default, which is written out.
pub(super) fn widget(
    agent: &str,
    name: &str,
    entry: WidgetEntry,
    folder: &Path,
) -> Result<WantedObject, Failure> {
    let at = format!("agents.{agent}.widgets.{name}");
    let key = format!("{agent}/{name}");
    check_key(&at, &key, cicerone_domain::limits::MANAGED_KEY_CHARS)?;
    let look = Look::default();
    let given = GivenWidget {
        name: Some(entry.name.unwrap_or_else(|| name.to_owned())),
        is_active: entry.is_active.or(true),
        origins: entry.origins.or(Vec::new()),
        hosted_page: entry.hosted_page.or(true),
        identity: entry.identity.or(IdentityRule::default().name().to_owned()),
        title: entry.title.or_none(),
        greeting: entry.greeting.or_none(),
        starters: entry.starters.or(look.starters().to_vec()),
        language: entry.language.or(look.language().to_owned()),
        appearance: match entry.appearance {
            Field::Absent => None,
            Field::Null => Some(appearance(AppearanceEntry::nulls())),
            Field::Value(entry) => Some(appearance(entry)),
        },
        texts: entry.texts.or(look.texts().clone()),
        show_sources: entry.show_sources.or(look.show_sources),
        handoff: entry.handoff.or(look.handoff),
        lead: entry.lead.or(look.lead),
        limits: match entry.limits {
            Field::Absent => None,
            Field::Null => Some(limits(&LimitsEntry::nulls())),
            Field::Value(entry) => Some(limits(&entry)),
        },
    };
    WidgetPatch::parse(given.clone()).map_err(|error| refused(&at, error))?;
    let fields = fields(given);
    Ok(finished(key, fields, entry.write_to.map(|path| folder.join(path))))
}

/// The fields that are given, as the API names and shows them.
fn fields(given: GivenWidget) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value);
        }
    };
    let origins = given.origins.and_then(|origins| Origins::parse(&origins).ok());
    add("name", given.name.map(Value::from));
    add("is_active", given.is_active.map(Value::from));
    add("origins", origins.map(|origins| json!(origins.as_slice())));
    add("hosted_page", given.hosted_page.map(Value::from));
    add("identity", given.identity.map(Value::from));
    add("title", given.title.map(Value::from));
    add("greeting", given.greeting.map(Value::from));
    add("starters", given.starters.map(Value::from));
    add("language", given.language.map(Value::from));
    add("texts", given.texts.map(|texts| json!(texts)));
    add("show_sources", given.show_sources.map(Value::from));
    add("handoff", given.handoff.map(Value::from));
    add("lead", given.lead.map(Value::from));
    add(
        "appearance",
        given.appearance.map(|given| {
            given_of([
                ("accent", given.accent.map(|accent| json!(accent.to_ascii_lowercase()))),
                ("scheme", given.scheme.map(Value::from)),
                ("position", given.position.map(Value::from)),
            ])
        }),
    );
    add(
        "limits",
        given.limits.map(|given| {
            given_of([
                ("messages_per_day", given.messages_per_day.map(Value::from)),
                (
                    "messages_per_visitor_per_hour",
                    given.messages_per_visitor_per_hour.map(Value::from),
                ),
                (
                    "messages_per_address_per_minute",
                    given.messages_per_address_per_minute.map(Value::from),
                ),
                ("replies_at_once", given.replies_at_once.map(Value::from)),
            ])
        }),
    );
    fields
}

/// An object with the fields that have a value.
fn given_of<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(given.collect())
}

fn appearance(entry: AppearanceEntry) -> GivenAppearance {
    let default = Appearance::default();
    GivenAppearance {
        accent: entry.accent.or(default.accent().to_owned()),
        scheme: entry.scheme.or(default.scheme.name().to_owned()),
        position: entry.position.or(default.position.name().to_owned()),
    }
}

fn limits(entry: &LimitsEntry) -> GivenLimits {
    let default = WidgetLimits::default();
    let or = |field: &Field<i64>, default: u64| match field {
        Field::Absent => None,
        Field::Null => i64::try_from(default).ok(),
        Field::Value(value) => Some(*value),
    };
    GivenLimits {
        messages_per_day: or(&entry.messages_per_day, default.messages_per_day()),
        messages_per_visitor_per_hour: or(
            &entry.messages_per_visitor_per_hour,
            default.messages_per_visitor_per_hour(),
        ),
        messages_per_address_per_minute: or(
            &entry.messages_per_address_per_minute,
            default.messages_per_address_per_minute(),
        ),
        replies_at_once: or(&entry.replies_at_once, default.replies_at_once()),
    }
}

impl AppearanceEntry {
    fn nulls() -> Self {
        Self { accent: Field::Null, scheme: Field::Null, position: Field::Null }
    }
}

impl LimitsEntry {
    fn nulls() -> Self {
        Self {
            messages_per_day: Field::Null,
            messages_per_visitor_per_hour: Field::Null,
            messages_per_address_per_minute: Field::Null,
            replies_at_once: Field::Null,
        }
    }
}

impl<T> Field<T> {
    /// The value to set, if there is one: null is the default.
    fn or(self, default: T) -> Option<T> {
        match self {
            Self::Absent => None,
            Self::Null => Some(default),
            Self::Value(value) => Some(value),
        }
    }

    /// The value to set, if there is one; null means none.
    fn or_none(self) -> Option<Option<T>> {
        match self {
            Self::Absent => None,
            Self::Null => Some(None),
            Self::Value(value) => Some(Some(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::widget;
    use crate::commands::declared::manifest::WidgetEntry;
    use crate::commands::declared::wanted::WantedObject;

    fn parsed(entry: Value) -> Result<WantedObject, String> {
        let entry: WidgetEntry = serde_json::from_value(entry).unwrap();
        widget("guide", "site", entry, Path::new(".")).map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn written_fields_are_as_the_server_shows_them() {
        let wanted = parsed(json!({
            "origins": ["https://Museum.example:443"], "title": null, "identity": null,
            "appearance": { "accent": "#2F5BD7", "scheme": null }, "limits": { "replies_at_once": 3 },
        }))
        .unwrap();
        let expected = json!({
            "name": "site", "origins": ["https://museum.example"], "title": null, "identity": "none",
            "appearance": { "accent": "#2f5bd7", "scheme": "auto" }, "limits": { "replies_at_once": 3 },
        });
        assert_eq!(Value::Object(wanted.fields.clone()), expected);
        assert_eq!(wanted.key, "guide/site");
        let mut live = json!({
            "name": "site", "origins": ["https://museum.example"], "title": null, "identity": "none",
            "appearance": { "accent": "#2f5bd7", "scheme": "auto", "position": "left" },
            "limits": { "replies_at_once": 3, "messages_per_day": 9 }, "starters": ["A", "B"],
        });
        assert!(wanted.differing(&live, |_| None).is_empty());
        live["limits"]["replies_at_once"] = json!(4);
        live["appearance"]["scheme"] = json!("dark");
        assert_eq!(wanted.differing(&live, |_| None), ["appearance", "limits"]);
        let ordered = parsed(json!({ "starters": ["B", "A"] })).unwrap();
        assert_eq!(ordered.differing(&live, |_| None), ["starters"]);
    }

    #[test]
    fn bad_values_are_named_with_their_place() {
        for (entry, place) in [
            (json!({ "origins": ["museum"] }), "`agents.guide.widgets.site.origins[0]`"),
            (
                json!({ "appearance": { "scheme": "blue" } }),
                "`agents.guide.widgets.site.appearance.scheme`",
            ),
            (
                json!({ "limits": { "messages_per_day": 0 } }),
                "`agents.guide.widgets.site.limits.messages_per_day`",
            ),
            (json!({ "texts": { "hello": "x" } }), "`agents.guide.widgets.site.texts"),
        ] {
            let error = parsed(entry).unwrap_err();
            assert!(error.contains(place), "{error}");
        }
    }
}
