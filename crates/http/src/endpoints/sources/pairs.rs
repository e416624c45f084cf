//! `POST /v1/sources/{source_id}/pairs`
//!
//! The body is read by hand, and [`Pair`] declares only the schema, because the domain reads the pairs as they arrive, without
//! keeping anything else, and reports all that are wrong.

use std::fmt;

use actix_web::http::{Method, StatusCode};
use cicerone_domain::Error;
use cicerone_domain::source::{GivenPairs, QaPair};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::error::Category;
use utoipa::ToSchema;

use super::{SourceView, kept};
use crate::auth::Authorized;
use crate::auth::permission::SourcesWrite;
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, TOO_MANY_OR_FULL, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Sources, Method::POST, "/v1/sources/{source_id}/pairs", handle)
        .named("addPairs", "Add pairs to a source")
        .details(
            "Adds question/answer pairs at the end of a `qa` source, which is processed again in the background. Replies \
             use the previous content until it is trained.",
        )
        .body::<AddPairs>()
        .keyed()
        .gives::<SourceView<'_>>(200)
        .refuses(400, "A field is missing or has a bad value, or the source is not of the type `qa`.")
        .refuses(
            409,
            "The source is being processed, or the same request is still being carried out. Try again in a second.",
        )
        .refuses(
            422,
            "A pair exceeds its limits, the source would have more than 500 pairs or more than 8 MiB of them, or the \
             idempotency key was used for another request.",
        )
        .refuses(429, TOO_MANY_OR_FULL)
}

#[derive(ToSchema)]
#[schema(examples(json!({"pairs": [{"question": "Is parking free?", "answer": "Yes, behind the museum."}]})))]
struct AddPairs {
    /// The pairs, in order.
    #[schema(value_type = Vec<Pair>, min_items = 1, max_items = 500)]
    pairs: Option<GivenPairs>,
}

/// A question and its answer.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the schema of what the domain reads")]
struct Pair {
    #[schema(min_length = 1, max_length = 2000, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
    question: String,
    #[schema(min_length = 1, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
    answer: String,
}

impl Body for AddPairs {
    /// Pairs that break their limits are the inner error: unlike the refusal of a malformed request, that refusal is
    /// stored under the idempotency key.
    type Checked = Result<Vec<QaPair>, Error>;

    fn check(self, _: &Current<'_>) -> Result<Self::Checked, Error> {
        let pairs = self.pairs.ok_or_else(|| Error::missing("pairs"))?;
        match pairs.check("pairs") {
            Err(error @ Error::Validation { .. }) => Ok(Err(error)),
            Err(error) => Err(error),
            Ok(pairs) => Ok(Ok(pairs)),
        }
    }

    /// Fields of other bodies are not lists of objects.
    fn parse(text: &[u8], current: &Current<'_>) -> Result<Self::Checked, Error> {
        let body: Self = serde_json::from_slice(text).map_err(|cause| match cause.classify() {
            Category::Data => Error::invalid("body", "must be a JSON object"),
            Category::Io | Category::Syntax | Category::Eof => {
                Error::invalid("body", format!("must be JSON ({cause})"))
            }
        })?;
        body.check(current)
    }
}

impl<'de> Deserialize<'de> for AddPairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

/// Reads the fields. Of a field that is given twice, the last counts.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = AddPairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<AddPairs, A::Error> {
        let mut pairs = None;
        while let Some(IsPairs(is_pairs)) = fields.next_key()? {
            if is_pairs {
                pairs = fields.next_value()?;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(AddPairs { pairs })
    }
}

/// Whether a field is `pairs`.
struct IsPairs(bool);

impl<'de> Deserialize<'de> for IsPairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = IsPairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a field")
            }

            fn visit_str<E>(self, name: &str) -> Result<IsPairs, E> {
                Ok(IsPairs(name == "pairs"))
            }
        }

        deserializer.deserialize_str(Name)
    }
}

async fn handle(caller: Authorized<SourcesWrite>, app: App, mut incoming: Incoming) -> Answer {
    let (pairs, key) = incoming.keyed_body::<AddPairs>(&app).await?;
    // The answer contains all pairs of the source, of which the request may add only a few.
    caller.context().expect_answer(&app).await?;
    let id = incoming.path_id();
    let request_id = Some(caller.request_id());
    Change::new(&app, &caller, key)
        .answer(
            |source| kept(StatusCode::OK, source),
            move |app, caller, completion| async move {
                // Values are checked before what is named.
                let pairs = pairs?;
                app.sources.add_pairs(&caller.scope, id?, pairs, request_id, completion).await
            },
        )
        .await
}
