//! `GET /v1/files/{file_id}/content`

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::{
    Charset, ContentDisposition, DispositionParam, DispositionType, ExtendedValue,
    X_CONTENT_TYPE_OPTIONS,
};

use crate::auth::Authorized;
use crate::auth::permission::SourcesRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Files, Method::GET, "/v1/files/{file_id}/content", handle)
        .named("getFileContent", "Download a file")
        .gives_bytes(
            "Returns the bytes of the file with the media type of the file as `Content-Type`.",
        )
}

async fn handle(caller: Authorized<SourcesRead>, app: App, incoming: Incoming) -> Answer {
    caller.context().expect_file(&app).await?;
    let (upload, bytes) = app.uploads.content(caller.scope(), incoming.path_id()?).await?;
    Ok(HttpResponse::Ok()
        .content_type(upload.content_type.media_type())
        .insert_header(ContentDisposition {
            disposition: DispositionType::Attachment,
            parameters: named(upload.filename.as_str()),
        })
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(bytes))
}

/// The name in ASCII, and also unchanged if it has other characters.
fn named(name: &str) -> Vec<DispositionParam> {
    if name.is_ascii() {
        return vec![DispositionParam::Filename(name.to_owned())];
    }
    let ascii = name.replace(|character: char| !character.is_ascii(), "_");
    let whole = ExtendedValue {
        charset: Charset::Ext("UTF-8".to_owned()),
        language_tag: None,
        value: name.as_bytes().to_vec(),
    };
    vec![DispositionParam::Filename(ascii), DispositionParam::FilenameExt(whole)]
}
