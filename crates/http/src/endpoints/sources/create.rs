//! `POST /v1/agents/{agent_id}/sources`
//!
//! The schema is written by hand, with one alternative for each type, because what `content` may hold depends on `type`:
//! serde reads such an enum only by buffering the body, and then names no field in its errors.

use actix_web::http::{Method, StatusCode};
use cicerone_domain::services::NewSource;
use cicerone_domain::{Error, Managed, SourceContent, every, limits};
use serde::Deserialize;
use serde_json::json;
use utoipa::openapi::schema::{
    ArrayBuilder, ObjectBuilder, OneOfBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{SAME_VERSION, SourceView, kept};
use crate::auth::Authorized;
use crate::auth::permission::SourcesWrite;
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, TOO_MANY_OR_FULL, Tag};
use crate::managed::ManagedBody;
use crate::openapi::schema::{id_pattern, string};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Sources, Method::POST, "/v1/agents/{agent_id}/sources", handle)
        .named("addSource", "Add a source")
        .details("Processing starts at once and runs in the background.")
        .body::<CreateSource>()
        .keyed()
        .gives::<SourceView<'_>>(201)
        .refuses(
            422,
            "The content exceeds a limit or is not valid JSON for a `qa` source, or the \
             idempotency key was used for another request.",
        )
        .refuses(409, SAME_VERSION)
        .refuses(429, TOO_MANY_OR_FULL)
}

#[derive(Deserialize)]
struct CreateSource {
    r#type: String,
    content: String,
    crawl_subpages: Option<bool>,
    guarded: Option<bool>,
    managed: Option<ManagedBody>,
}

impl Body for CreateSource {
    /// Content that exceeds its limits is the inner error: unlike the refusal of a malformed
    /// request, that refusal is stored under the idempotency key.
    type Checked = (Result<SourceContent, Error>, bool, Option<Managed>);

    fn check(self, _: &Current<'_>) -> Result<Self::Checked, Error> {
        let managed = self.managed.map(ManagedBody::parse).transpose();
        let crawl_subpages = self.crawl_subpages.unwrap_or_default();
        let guarded = self.guarded.unwrap_or_default();
        let content = match SourceContent::parse(&self.r#type, self.content, crawl_subpages) {
            Err(error @ Error::Validation { .. }) => Ok(Err(error)),
            Err(error) => Err(error),
            Ok(content) => content.check_may_be_guarded(guarded).map(|()| Ok(content)),
        };
        let (content, managed) = every((content, managed))?;
        Ok((content, guarded, managed))
    }
}

impl PartialSchema for CreateSource {
    fn schema() -> RefOr<Schema> {
        let website = string()
            .max_length(Some(limits::WEBSITE_URL_CHARS))
            .format(Some(SchemaFormat::Custom("uri".to_owned())))
            .pattern(Some("^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]"))
            .description(Some("A full http or https URL with a host and without credentials."));
        let text = not_blank()
            .max_length(Some(limits::TEXT_SOURCE_CHARS))
            .description(Some("The text itself."));
        let file = string()
            .pattern(Some(id_pattern("file_")))
            .description(Some("The id of an uploaded file. An unknown id is refused with 400."));
        let crawl_subpages = ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::Boolean, Type::Null]))
            .description(Some("Whether links within the host are followed; null for false."));
        let guarded = ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::Boolean, Type::Null]))
            .description(Some(
                "Whether a crawl replaces the content only if every check of the agent that passes now would still pass; \
                 null for false.",
            ));
        let website = source_of("website", website)
            .property("crawl_subpages", crawl_subpages)
            .property("guarded", guarded);
        OneOfBuilder::new()
            .item(website)
            .item(source_of("text", text))
            .item(source_of("file", file))
            .item(source_of("qa", pairs()))
            .examples([json!({"type": "text", "content": "We are open from nine to five."})])
            .into()
    }
}

impl ToSchema for CreateSource {}

fn source_of(name: &str, content: ObjectBuilder) -> ObjectBuilder {
    let managed = OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .item(Ref::from_schema_name(ManagedBody::name()))
        .description(Some(
            "The entry of a declaration file that manages this object; null if none does.",
        ));
    ObjectBuilder::new()
        .title(Some(name))
        .property("type", string().enum_values(Some([name])))
        .property("content", content)
        .property("managed", managed)
        .required("type")
        .required("content")
}

fn pairs() -> ObjectBuilder {
    let pair = ObjectBuilder::new()
        .property("question", not_blank().max_length(Some(limits::QUESTION_CHARS)))
        .property("answer", not_blank())
        .required("question")
        .required("answer");
    let pairs =
        ArrayBuilder::new().items(pair).min_items(Some(1)).max_items(Some(limits::QA_PAIRS));
    string()
        .content_media_type("application/json")
        .content_schema(Some(RefOr::T(Schema::Array(pairs.build()))))
        .description(Some(format!(
            "A string that contains a JSON array of 1 to {} objects, each with the non-empty \
             strings `question`, of at most {} characters, and `answer`.",
            limits::QA_PAIRS,
            limits::QUESTION_CHARS
        )))
}

/// Text without NUL that contains a character other than white space.
fn not_blank() -> ObjectBuilder {
    string().min_length(Some(1)).pattern(Some("^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$"))
}

async fn handle(caller: Authorized<SourcesWrite>, app: App, mut incoming: Incoming) -> Answer {
    let ((content, guarded, managed), key) = incoming.keyed_body::<CreateSource>(&app).await?;
    let agent_id = incoming.path_id();
    let request_id = Some(caller.request_id());
    Change::new(&app, &caller, key)
        .answer(
            |source| kept(StatusCode::CREATED, source),
            move |app, caller, completion| async move {
                // Values are checked before what is named.
                let content = content?;
                let agent_id = agent_id?;
                let new = NewSource { content, guarded, managed, agent_id, request_id };
                app.sources.create(&caller.scope, new, completion).await
            },
        )
        .await
}

#[cfg(test)]
mod tests {
    use super::CreateSource;
    use crate::body::{Body as _, Current};
    use cicerone_domain::{Error, SourceContent, Timestamp};

    fn read(json: &str) -> Result<Result<SourceContent, Error>, Error> {
        let current = Current { now: Timestamp::from_millis(0), knows_model: &|_| true };
        CreateSource::parse(json.as_bytes(), &current).map(|(content, ..)| content)
    }

    #[test]
    fn only_the_refusal_of_a_content_belongs_to_the_idempotency_key() {
        assert!(matches!(read(r#"{"type": "text", "content": ""}"#), Ok(Err(_))));
        assert!(matches!(read(r#"{"type": "qa", "content": "[]"}"#), Ok(Err(_))));
        assert!(matches!(read(r#"{"type": "book", "content": "x"}"#), Err(Error::Invalid(_))));
        assert!(matches!(read(r#"{"type": "book"}"#), Err(Error::Missing { .. })));
        let crawled_text = r#"{"type": "text", "content": "x", "crawl_subpages": true}"#;
        assert!(matches!(read(crawled_text), Err(Error::Invalid(_))));
        let guarded_text = r#"{"type": "text", "content": "x", "guarded": true}"#;
        assert!(matches!(read(guarded_text), Err(Error::Invalid(_))));
        assert!(matches!(read(r#"{"type": "text", "content": "x"}"#), Ok(Ok(_))));
    }
}
