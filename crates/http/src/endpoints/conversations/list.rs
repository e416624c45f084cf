//! `GET /v1/agents/{agent_id}/conversations`

use cicerone_domain::conversation::{
    Channel, ConversationFilter, ListedConversation, RatingValue, SearchWords,
};
use cicerone_domain::{Error, Page, PageRequest, every};
use utoipa::openapi::path::Parameter;

use super::ConversationView;
use crate::auth::Authorized;
use crate::auth::permission::ConversationsRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::openapi::parameters::{metadata, moment, one_of, searched_text, text};
use crate::openapi::schema::id;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<Conversations>(Tag::Conversations, "/v1/agents/{agent_id}/conversations")
        .named("listConversations", "List conversations")
        .details("Newest first, without their messages.")
        .query(filters())
        .query([searched_text()])
}

/// The parameters that choose conversations.
pub(super) fn filters() -> [Parameter; 7] {
    [
        moment("created_after", "Return only conversations created after this time."),
        moment("created_before", "Return only conversations created before this time."),
        metadata(),
        one_of(
            "rating",
            &RatingValue::ALL.map(RatingValue::name),
            "Return only conversations that have a reply with this rating.",
        ),
        one_of(
            "unanswered",
            &["true"],
            "Return only conversations with a reply that is based on no source.",
        ),
        one_of(
            "channel",
            &Channel::ALL.map(Channel::name),
            "Return only conversations that began through this interface.",
        ),
        text("visitor_id", "Return only conversations of this visitor of a widget.", id("vis_")),
    ]
}

/// Reads the parameters that choose conversations.
pub(super) fn filter(query: &Query) -> Result<ConversationFilter, Error> {
    let (created_after, created_before, metadata, rating, unanswered, channel, visitor) = every((
        query.moment("created_after"),
        query.end("created_before"),
        query.metadata(),
        query.one_of("rating", RatingValue::from_name, "`up`, `down`"),
        query.one_of("unanswered", |text| (text == "true").then_some(true), "`true`"),
        query.one_of("channel", Channel::from_name, "`api`, `openai`, `mcp`, `widget`"),
        query.id("visitor_id"),
    ))?;
    let unanswered = unanswered.unwrap_or_default();
    Ok(ConversationFilter {
        created_after,
        created_before,
        metadata,
        rating,
        unanswered,
        channel,
        visitor,
    })
}

struct Conversations;

impl List for Conversations {
    type Permission = ConversationsRead;
    type Item = ListedConversation;
    type View<'a> = ConversationView<'a>;
    /// Which conversations, and what is searched for in them.
    type Filter = (ConversationFilter, Option<SearchWords>);
    const NAME: &'static str = "conversations";

    fn filter(query: &Query) -> Result<Self::Filter, Error> {
        every((filter(query), query.parsed("text", SearchWords::parse)))
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<ConversationsRead>,
        incoming: &Incoming,
        (filter, words): Self::Filter,
        page: PageRequest,
    ) -> Result<Page<ListedConversation>, Error> {
        let (scope, agent) = (caller.scope(), incoming.path_id()?);
        match words {
            Some(words) => app.conversations.search(scope, agent, filter, &words, page).await,
            None => {
                let page = app.conversations.list(scope, agent, filter, page).await?;
                Ok(page.map(ListedConversation::from))
            }
        }
    }
}
