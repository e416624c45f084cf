//! Public access to agents: the routes for widgets on other sites and for the page `/chat/{token}`. They require no
//! key, so everything that a stranger sends is limited before it costs anything.
//!
//! A request passes, in this order: the limit of its address; the widget of its token; the origin of its page; the credential
//! of its visitor; its body; how often the visitor may write; how many replies the widget may have in progress; the account's
//! own share and quotas; how many messages the widget may answer in a day.
//!
//! Invariant: a visitor reads and changes only conversations that began by a widget of the same agent with the same
//! visitor. Stores check this in their queries; any other conversation gets the answer of one that does not exist.

mod bounds;
mod credential;
mod jwt;
mod origin;
mod page;
mod refusal;
pub(crate) mod routes;
mod script;
mod visit;

use std::sync::Arc;
use std::time::Duration;

use actix_web::web;
use actix_web::web::Bytes;
use cicerone_domain::Error;
use cicerone_domain::widget::{IdentitySecret, OpenWidget, WidgetToken};

use crate::application::Application;
use crate::fresh::Fresh;
use crate::response::json_bytes;
use crate::routes::Resource;
use bounds::Bounds;
use credential::Credentials;
use routes::configuration::ConfigurationView;
use script::Script;

pub(crate) use bounds::Bound;
pub(crate) use origin::SharedWith;
pub(crate) use visit::preflight;

/// How long a token that was found is considered valid without another lookup. A change of the widget takes effect within this
/// time; the rest of a second is left for requests in progress.
const TOKEN_LIFE: Duration = Duration::from_millis(900);
/// Most bytes of widgets remembered at once.
const REMEMBERED_BYTES: u64 = 4 * 1_024 * 1_024;
/// The approximate size of a widget without its texts.
const WIDGET_BYTES: usize = 1_024;
/// The size of a text without its characters.
const TEXT_BYTES: usize = size_of::<String>();

/// The state that the public routes share.
pub(crate) struct Visitors {
    /// Invariant: it contains only widgets that were found, never a failed lookup.
    found: Fresh<WidgetToken, Found>,
    credentials: Credentials,
    bounds: Bounds,
    script: Script,
}

/// A widget that was found by its token.
struct Found {
    open: OpenWidget,
    /// The configuration for the page, as JSON.
    view: Bytes,
}

impl Found {
    /// About what it takes in memory.
    fn bytes(&self) -> usize {
        let texts = self.open.widget.origins.as_slice().iter().map(String::as_str);
        let secrets = self.open.secrets.iter().map(IdentitySecret::reveal);
        let others: usize = texts.chain(secrets).map(|text| TEXT_BYTES + text.len()).sum();
        // The widget's own texts are as long as the result.
        WIDGET_BYTES + 2 * self.view.len() + others
    }
}

impl Visitors {
    /// The public routes of an application, if they are turned on.
    pub(crate) fn new(application: &Application) -> Option<Self> {
        let settings = &application.settings;
        settings.widgets.then(|| Self {
            found: Fresh::new(REMEMBERED_BYTES, TOKEN_LIFE),
            credentials: Credentials::new(&application.cursor_secret),
            bounds: Bounds::new(settings.visitor_replies),
            script: Script::default(),
        })
    }

    /// The widget with this token, if a request has found it within the last second.
    fn remembered(&self, token: &WidgetToken) -> Option<Arc<Found>> {
        self.found.get(token)
    }

    /// The widget with this token, if there is an active one.
    async fn find(
        &self,
        application: &Application,
        token: &WidgetToken,
    ) -> Result<Option<Arc<Found>>, Error> {
        if let Some(found) = self.remembered(token) {
            return Ok(Some(found));
        }
        let Some(open) = application.widgets.open(token).await? else { return Ok(None) };
        // Without room that it does not need, because it is kept.
        let view = json_bytes(&ConfigurationView::from(&open)).into_boxed_slice().into();
        let found = Arc::new(Found { open, view });
        let bytes = u64::try_from(found.bytes()).unwrap_or(u64::MAX);
        self.found.insert(*token, Arc::clone(&found), bytes);
        Ok(Some(found))
    }
}

/// The script of the widget, and the hosted page. They are not part of the contract: they are clients of it.
pub(crate) fn resources() -> impl Iterator<Item = Resource> {
    let routes = [
        (script::LATEST, web::get().to(script::latest), web::head().to(script::latest)),
        (script::FIXED, web::get().to(script::fixed), web::head().to(script::fixed)),
        (script::ICON, web::get().to(script::icon), web::head().to(script::icon)),
        (page::PATH, web::get().to(page::show), web::head().to(page::show)),
    ];
    routes.into_iter().map(|(path, get, head)| Resource::of_page(path, get, head))
}

#[cfg(test)]
mod tests {
    use actix_web::web::Bytes;
    use cicerone_domain::widget::{
        IdentitySecret, OpenWidget, Origins, Widget, WidgetName, WidgetToken,
    };
    use cicerone_domain::{Id, SystemEntropy, Timestamp};

    use super::{Found, WIDGET_BYTES};

    #[test]
    fn origins_and_secrets_of_a_remembered_widget_count() {
        let owner = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        let token = WidgetToken::generate(&SystemEntropy);
        let name = WidgetName::parse("Shop").unwrap();
        let now = Timestamp::from_millis(0);
        let mut widget = Widget::new(Id::random(&SystemEntropy), owner, name, token, now);
        let label = "a".repeat(60);
        let origins: Vec<_> =
            (0..20).map(|n| format!("https://{label}.{label}.{label}.{n}.example")).collect();
        widget.origins = Origins::parse(&origins).unwrap();
        let secrets = vec![IdentitySecret::generate(&SystemEntropy); 10];
        let open = OpenWidget { widget, title: String::new(), secrets };
        let found = Found { open, view: Bytes::new() };
        assert!(found.bytes() > WIDGET_BYTES + 20 * 190 + 10 * 48, "{}", found.bytes());
    }
}
