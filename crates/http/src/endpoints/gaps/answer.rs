//! `POST /v1/agents/{agent_id}/gaps/{gap_id}/answer`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::gap::unknown_source;
use cicerone_domain::services::NewGapAnswer;
use cicerone_domain::source::QaPair;
use cicerone_domain::{Error, Id, every, kind};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::SourcesWrite;
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, TOO_MANY_OR_FULL, Tag};
use crate::endpoints::sources::{SourceView, kept};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Agents, Method::POST, "/v1/agents/{agent_id}/gaps/{gap_id}/answer", handle)
        .named("answerGap", "Answer a gap")
        .details(
            "Adds a question/answer pair to a `qa` source, which is processed in the background, and closes the gap. \
             Without `source_id`, the pair goes to the agent's own source for gaps, which is created if it is missing \
             or full.",
        )
        .body::<AnswerGap>()
        .keyed()
        .gives::<SourceView<'_>>(200)
        .refuses(
            400,
            "A field is missing or has a bad value, or the source is not of the type `qa`.",
        )
        .refuses(
            409,
            "The source is being processed, or the same request is still being carried out. Try again in a second.",
        )
        .refuses(
            422,
            "The source would have more than 500 pairs or more than 8 MiB of them, or the idempotency key was used for \
             another request.",
        )
        .refuses(429, TOO_MANY_OR_FULL)
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"question": "Is parking free?", "answer": "Yes, behind the museum."})))]
struct AnswerGap {
    /// The question of the pair: the gap's own question, or a better wording of it.
    #[schema(min_length = 1, max_length = 2000, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
    question: String,
    #[schema(
        min_length = 1,
        max_length = 100000,
        pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$"
    )]
    answer: String,
    /// The source that receives the pair; null for the agent's own source for gaps. An unknown id is refused with 400.
    #[schema(pattern = "^src_[0-9A-Za-z]{10}$")]
    source_id: Option<String>,
}

impl Body for AnswerGap {
    /// The pair, and the source that gets it.
    type Checked = (QaPair, Option<Id<kind::Source>>);

    fn check(self, _: &Current<'_>) -> Result<Self::Checked, Error> {
        let source = self.source_id.map(|id| id.parse()).transpose();
        every((QaPair::parse(self.question, self.answer), source.map_err(|_| unknown_source())))
    }
}

async fn handle(caller: Authorized<SourcesWrite>, app: App, mut incoming: Incoming) -> Answer {
    let ((pair, source_id), key) = incoming.keyed_body::<AnswerGap>(&app).await?;
    // The answer contains all pairs of the source.
    caller.context().expect_answer(&app).await?;
    let (agent, gap) = (incoming.path_id(), incoming.second_path_id());
    let request_id = Some(caller.request_id());
    Change::new(&app, &caller, key)
        .answer(
            |source| kept(StatusCode::OK, source),
            move |app, caller, completion| async move {
                let (agent_id, gap_id) = (agent?, gap?);
                let new = NewGapAnswer { agent_id, gap_id, pair, source_id, request_id };
                app.gaps.answer(&caller.scope, new, completion).await
            },
        )
        .await
}
