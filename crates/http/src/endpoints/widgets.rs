//! Widgets: what their endpoints share.

pub(super) mod create;
pub(super) mod delete;
pub(super) mod get;
pub(super) mod list;
pub(super) mod rotate_secret;
pub(super) mod rotate_token;
mod schemas;
pub(super) mod update;

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use cicerone_domain::idempotency::Subject;
use cicerone_domain::widget::{
    Appearance, GivenAppearance, GivenLimits, IssuedWidget, WidgetLimits,
};
use cicerone_domain::{Id, Timestamp, Widget, kind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body::Given;
use crate::managed::{ManagedBody, ManagedView};
use crate::response::{StoredResponse, keep};

/// The condition under which a widget is refused.
const TOO_MUCH: &str = "The widget would take more than 32 KiB.";

/// A widget, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Widget)]
pub(super) struct WidgetView<'a> {
    #[schema(value_type = String, pattern = "^wgt_[0-9A-Za-z]{10}$")]
    id: Id<kind::Widget>,
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_id: Id<kind::Agent>,
    /// A name that only the owner sees.
    name: &'a str,
    /// The public token that embedding pages contain.
    #[schema(pattern = "^pub_[0-9A-Za-z]{24}$")]
    token: String,
    /// Whether visitors can use it.
    is_active: bool,
    /// The sites that may embed it, as browsers write them.
    #[schema(value_type = Vec<String>)]
    origins: &'a [String],
    /// Whether it has a page at `/chat/{token}`.
    hosted_page: bool,
    /// Whether visitors are users of the owner's site: `none`, `optional` or `required`.
    #[schema(pattern = "^(none|optional|required)$")]
    identity: &'static str,
    /// Null for the agent's name.
    #[schema(required = true)]
    title: Option<&'a str>,
    /// The text that is shown before the first question.
    #[schema(required = true)]
    greeting: Option<&'a str>,
    /// Suggested questions that a visitor can ask with a click.
    #[schema(value_type = Vec<String>)]
    starters: &'a [String],
    /// A BCP 47 tag.
    language: &'a str,
    appearance: AppearanceView<'a>,
    /// Texts that replace the widget's own, by key.
    texts: &'a BTreeMap<String, String>,
    /// Whether replies show their sources.
    show_sources: bool,
    /// Whether visitors may ask for a person.
    handoff: bool,
    /// Whether visitors may leave contact details.
    lead: bool,
    limits: LimitsView,
    /// The entry of a declaration file that manages this object; null if none does.
    #[schema(value_type = Option<ManagedBody>, required = true)]
    managed: Option<ManagedView<'a>>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// A widget with its new secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IssuedWidget)]
struct IssuedWidgetView<'a> {
    #[serde(flatten)]
    resource: WidgetView<'a>,
    /// The secret whose bytes sign the identities of visitors (HS256).
    #[schema(pattern = "^wids_[0-9A-Za-z_-]{43}$")]
    identity_secret: &'a str,
}

/// Colours and place of a widget.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WidgetAppearance)]
struct AppearanceView<'a> {
    #[schema(pattern = "^#[0-9a-f]{6}$")]
    accent: &'a str,
    #[schema(pattern = "^(auto|light|dark)$")]
    scheme: &'static str,
    #[schema(pattern = "^(right|left)$")]
    position: &'static str,
}

/// How many messages visitors may send.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WidgetLimits)]
struct LimitsView {
    /// Messages of the widget per UTC day.
    messages_per_day: u64,
    messages_per_visitor_per_hour: u64,
    messages_per_address_per_minute: u64,
    /// Replies in progress.
    replies_at_once: u64,
}

impl From<WidgetLimits> for LimitsView {
    fn from(limits: WidgetLimits) -> Self {
        Self {
            messages_per_day: limits.messages_per_day(),
            messages_per_visitor_per_hour: limits.messages_per_visitor_per_hour(),
            messages_per_address_per_minute: limits.messages_per_address_per_minute(),
            replies_at_once: limits.replies_at_once(),
        }
    }
}

impl<'a> From<&'a Widget> for WidgetView<'a> {
    fn from(widget: &'a Widget) -> Self {
        let look = &widget.look;
        Self {
            id: widget.id,
            agent_id: widget.agent_id,
            name: widget.name.as_str(),
            token: widget.token.to_string(),
            is_active: widget.is_active,
            origins: widget.origins.as_slice(),
            hosted_page: widget.hosted_page,
            identity: widget.identity.name(),
            title: look.title(),
            greeting: look.greeting(),
            starters: look.starters(),
            language: look.language(),
            appearance: AppearanceView {
                accent: look.appearance.accent(),
                scheme: look.appearance.scheme.name(),
                position: look.appearance.position.name(),
            },
            texts: look.texts(),
            show_sources: look.show_sources,
            handoff: look.handoff,
            lead: look.lead,
            limits: widget.limits.into(),
            managed: widget.managed.as_ref().map(ManagedView::from),
            created_at: widget.created_at,
            updated_at: widget.updated_at,
        }
    }
}

impl<'a> From<&'a IssuedWidget> for IssuedWidgetView<'a> {
    fn from(issued: &'a IssuedWidget) -> Self {
        let identity_secret = issued.secret.reveal();
        Self { resource: WidgetView::from(&issued.widget), identity_secret }
    }
}

/// The answer to a change that made a secret.
fn kept_with_secret(status: StatusCode, issued: &IssuedWidget) -> StoredResponse {
    let subject = Subject::of_agent(issued.widget.id, issued.widget.agent_id).with_secret();
    keep(status, &IssuedWidgetView::from(issued), Some(subject))
}

/// The answer to another change.
fn kept(widget: &Widget) -> StoredResponse {
    let subject = Subject::of_agent(widget.id, widget.agent_id);
    keep(StatusCode::OK, &WidgetView::from(widget), Some(subject))
}

/// Colours and position. Only the fields that are given change; null means the default.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(as = GivenWidgetAppearance)]
struct AppearanceBody {
    /// The colour of buttons and links, with a contrast of at least 3:1 to `#ffffff` and to `#131516`; null for `#2f5bd7`.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^#[0-9A-Fa-f]{6}$", examples("#2f5bd7"))]
    accent: Given<String>,
    #[serde(default)]
    #[schema(schema_with = schemas::scheme)]
    scheme: Given<String>,
    #[serde(default)]
    #[schema(schema_with = schemas::position)]
    position: Given<String>,
}

impl AppearanceBody {
    fn given(self) -> GivenAppearance {
        let default = Appearance::default();
        GivenAppearance {
            accent: self.accent.or(default.accent().to_owned()),
            scheme: self.scheme.or(default.scheme.name().to_owned()),
            position: self.position.or(default.position.name().to_owned()),
        }
    }

    /// All defaults.
    fn nulls() -> Self {
        Self { accent: Given::Null, scheme: Given::Null, position: Given::Null }
    }
}

/// Limits. Only those that are given change; null means the default.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(as = GivenWidgetLimits)]
struct LimitsBody {
    /// Messages of the widget per UTC day; null for 2,000.
    #[serde(default)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 1_000_000)]
    messages_per_day: Given<i64>,
    /// Null for 60.
    #[serde(default)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 10_000)]
    messages_per_visitor_per_hour: Given<i64>,
    /// Null for 20.
    #[serde(default)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 10_000)]
    messages_per_address_per_minute: Given<i64>,
    /// Replies in progress; null for 20.
    #[serde(default)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 1_000)]
    replies_at_once: Given<i64>,
}

impl LimitsBody {
    fn given(self) -> GivenLimits {
        let default = WidgetLimits::default();
        let or =
            |given: Given<i64>, default: u64| given.or(i64::try_from(default).unwrap_or(i64::MAX));
        GivenLimits {
            messages_per_day: or(self.messages_per_day, default.messages_per_day()),
            messages_per_visitor_per_hour: or(
                self.messages_per_visitor_per_hour,
                default.messages_per_visitor_per_hour(),
            ),
            messages_per_address_per_minute: or(
                self.messages_per_address_per_minute,
                default.messages_per_address_per_minute(),
            ),
            replies_at_once: or(self.replies_at_once, default.replies_at_once()),
        }
    }

    /// All defaults.
    fn nulls() -> Self {
        Self {
            messages_per_day: Given::Null,
            messages_per_visitor_per_hour: Given::Null,
            messages_per_address_per_minute: Given::Null,
            replies_at_once: Given::Null,
        }
    }
}

/// A body with the fields of a widget. A derive cannot share them, since `name` is required in one body alone.
macro_rules! widget_body {
    ($(#[$about:meta])* struct $body:ident { $(#[$name:meta])* name: $type:ty }) => {
        #[derive(serde::Deserialize, utoipa::ToSchema)]
        $(#[$about])*
        struct $body {
            /// A name that only the owner sees.
            #[schema(min_length = 1, max_length = 100, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
            $(#[$name])*
            name: $type,
            /// Whether visitors can use it; null for true.
            #[serde(default)]
            #[schema(value_type = Option<bool>)]
            is_active: $crate::body::Given<bool>,
            #[serde(default)]
            #[schema(schema_with = super::schemas::origins)]
            origins: $crate::body::Given<Vec<String>>,
            /// Whether it has a page at `/chat/{token}`; null for true.
            #[serde(default)]
            #[schema(value_type = Option<bool>)]
            hosted_page: $crate::body::Given<bool>,
            #[serde(default)]
            #[schema(schema_with = super::schemas::identity)]
            identity: $crate::body::Given<String>,
            /// Null for the agent's name.
            #[serde(default)]
            #[schema(value_type = Option<String>, min_length = 1, max_length = 60, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
            title: $crate::body::Given<String>,
            /// The text that is shown before the first question.
            #[serde(default)]
            #[schema(value_type = Option<String>, min_length = 1, max_length = 500, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
            greeting: $crate::body::Given<String>,
            #[serde(default)]
            #[schema(schema_with = super::schemas::starters)]
            starters: $crate::body::Given<Vec<String>>,
            /// A BCP 47 tag; null for `en`.
            #[serde(default)]
            #[schema(value_type = Option<String>, max_length = 35, pattern = "^[A-Za-z]{2,8}(-[0-9A-Za-z]{1,8})*$")]
            language: $crate::body::Given<String>,
            /// Colours and position; null for the defaults.
            #[serde(default)]
            #[schema(value_type = Option<super::AppearanceBody>)]
            appearance: $crate::body::Given<super::AppearanceBody>,
            #[serde(default)]
            #[schema(schema_with = super::schemas::texts)]
            texts: $crate::body::Given<std::collections::BTreeMap<String, String>>,
            /// Whether replies show their sources; null for true.
            #[serde(default)]
            #[schema(value_type = Option<bool>)]
            show_sources: $crate::body::Given<bool>,
            /// Whether visitors may ask for a person; null for false.
            #[serde(default)]
            #[schema(value_type = Option<bool>)]
            handoff: $crate::body::Given<bool>,
            /// Whether visitors may leave contact details; null for false.
            #[serde(default)]
            #[schema(value_type = Option<bool>)]
            lead: $crate::body::Given<bool>,
            /// Limits; null for the defaults.
            #[serde(default)]
            #[schema(value_type = Option<super::LimitsBody>)]
            limits: $crate::body::Given<super::LimitsBody>,
            /// The entry of a declaration file that manages this object; null if none does.
            #[serde(default)]
            #[schema(value_type = Option<$crate::managed::ManagedBody>)]
            managed: $crate::body::Given<$crate::managed::ManagedBody>,
        }

        impl $body {
            /// The fields except the name.
            fn settings(self) -> Result<cicerone_domain::widget::WidgetPatch, cicerone_domain::Error> {
                use cicerone_domain::widget::{GivenWidget, IdentityRule, Look, WidgetPatch};
                let look = Look::default();
                let given = GivenWidget {
                    name: None,
                    is_active: self.is_active.or(true),
                    origins: self.origins.or(Vec::new()),
                    hosted_page: self.hosted_page.or(true),
                    identity: self.identity.or(IdentityRule::default().name().to_owned()),
                    title: self.title.or_none(Ok::<_, cicerone_domain::Error>)?,
                    greeting: self.greeting.or_none(Ok::<_, cicerone_domain::Error>)?,
                    starters: self.starters.or(Vec::new()),
                    language: self.language.or(look.language().to_owned()),
                    appearance: self.appearance.or(super::AppearanceBody::nulls()).map(super::AppearanceBody::given),
                    texts: self.texts.or(std::collections::BTreeMap::new()),
                    show_sources: self.show_sources.or(look.show_sources),
                    handoff: self.handoff.or(look.handoff),
                    lead: self.lead.or(look.lead),
                    limits: self.limits.or(super::LimitsBody::nulls()).map(super::LimitsBody::given),
                };
                let managed = self.managed.or_none($crate::managed::ManagedBody::parse);
                let (patch, managed) = cicerone_domain::every((WidgetPatch::parse(given), managed))?;
                Ok(patch.managed_as(managed))
            }
        }
    };
}
use widget_body;
