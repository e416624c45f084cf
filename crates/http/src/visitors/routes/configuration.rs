//! `GET /w/{token}`

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::CACHE_CONTROL;
use cicerone_domain::widget::OpenWidget;
use serde::Serialize;
use utoipa::ToSchema;

use super::of_widget;
use crate::context::{App, Incoming};
use crate::endpoint::Endpoint;
use crate::response::{Answer, JSON};
use crate::visitors::visit::Visit;

pub(crate) fn endpoint() -> Endpoint {
    of_widget(Method::GET, "/w/{token}", handle)
        .named("widgetConfiguration", "Get the public configuration of a widget")
        .gives::<ConfigurationView<'_>>(200)
}

/// The configuration that a page needs to show a widget.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WidgetConfiguration)]
pub(crate) struct ConfigurationView<'a> {
    /// The widget's title, or the agent's name.
    title: &'a str,
    #[schema(required)]
    greeting: Option<&'a str>,
    starters: Vec<&'a str>,
    /// A BCP 47 tag.
    language: &'a str,
    appearance: AppearanceView<'a>,
    /// Texts that replace the widget's own, by key.
    texts: &'a BTreeMap<String, String>,
    show_sources: bool,
    /// Whether visitors have an identity that the site has signed.
    #[schema(pattern = "^(none|optional|required)$")]
    identity: &'static str,
    /// Whether visitors may ask for a person.
    handoff: bool,
    /// Whether visitors may leave contact details.
    lead: bool,
}

/// How a widget looks.
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

impl<'a> From<&'a OpenWidget> for ConfigurationView<'a> {
    fn from(open: &'a OpenWidget) -> Self {
        let (widget, look) = (&open.widget, &open.widget.look);
        Self {
            title: &open.title,
            greeting: look.greeting(),
            starters: look.starters().iter().map(String::as_str).collect(),
            language: look.language(),
            appearance: AppearanceView {
                accent: look.appearance.accent(),
                scheme: look.appearance.scheme.name(),
                position: look.appearance.position.name(),
            },
            texts: look.texts(),
            show_sources: look.show_sources,
            identity: widget.identity.name(),
            handoff: look.handoff,
            lead: look.lead,
        }
    }
}

async fn handle(app: App, incoming: Incoming) -> Answer {
    let visit = Visit::of(&app, &incoming.request).await?;
    Ok(HttpResponse::Ok()
        .content_type(JSON)
        .insert_header((CACHE_CONTROL, "private, max-age=60"))
        .body(visit.view()))
}
