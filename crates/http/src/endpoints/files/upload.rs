//! `POST /v1/files`

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::{Method, StatusCode};
use cicerone_domain::idempotency::Subject;
use cicerone_domain::services::NewUpload;
use cicerone_domain::upload::Filename;
use cicerone_domain::{Error, Upload};
use utoipa::ToSchema;

use super::UploadView;
use crate::auth::Authorized;
use crate::auth::permission::SourcesWrite;
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, TOO_MANY_OR_FULL, Tag};
use crate::multipart::ReceivedFile;
use crate::response::{Answer, StoredResponse, keep};
use crate::room::Tenant;

/// How long a file that has arrived waits for its turn in memory.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Files, Method::POST, "/v1/files", handle)
        .named("uploadFile", "Upload a file")
        .details(
            "A PDF, DOCX, ODT, RTF, PPTX, XLSX, XLS, ODS, CSV, EPUB, EML, HTML or text file of at most 10 MiB, for a \
             source of type `file`; a PNG, JPEG, TIFF or WebP file if the server recognises text in pictures \
             (`ocr.command`). A file that no source uses is removed after 24 hours.",
        )
        .multipart::<UploadFile>()
        .keyed()
        .gives::<UploadView<'_>>(201)
        .refuses(400, "The part `file` is missing or given twice, or the body is incomplete.")
        .refuses(
            422,
            "The file is empty, larger than 10,485,760 bytes or of another type, or the idempotency \
             key was used for another request.",
        )
        .refuses(429, TOO_MANY_OR_FULL)
}

/// Declares the multipart body, which [`Incoming::file`] reads part by part as it arrives.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[schema(description = "A multipart body with one file.")]
struct UploadFile {
    /// A PDF, DOCX, ODT, RTF, PPTX, XLSX, XLS, ODS, CSV, EPUB, EML, HTML or text file (the type is detected from the
    /// content) of at most 10,485,760 bytes.
    #[schema(value_type = String, format = Binary, content_media_type = "application/octet-stream")]
    file: Vec<u8>,
}

async fn handle(caller: Authorized<SourcesWrite>, app: App, mut incoming: Incoming) -> Answer {
    let account = caller.scope().account;
    let permit = app.uploads_arriving.try_acquire(account, 1).ok_or(Error::Overloaded)?;
    let received = incoming.file(&app).await?;
    let digest = received.file.digest().unwrap_or_default();
    let key = incoming.keyed(&[received.filename.as_bytes(), &digest])?;
    Change::new(&app, &caller, key)
        .answer(created, move |app, caller, completion| async move {
            let _arriving = permit;
            let turn = app.rooms.file(Tenant::Keys(account));
            let turn = tokio::time::timeout(PATIENCE, turn);
            let _in_memory = turn.await.map_err(|_| Error::Overloaded)?;
            let new = inspect(&app, received).await?;
            app.uploads.create(&caller.scope, new, completion).await
        })
        .await
}

/// Reads every byte of a file, on a blocking thread, to find its type.
async fn inspect(app: &App, received: ReceivedFile) -> Result<NewUpload, Error> {
    let ReceivedFile { filename, file } = received;
    let bytes = file.into_bytes().await?;
    let detect = Arc::clone(&app.detect_upload_type);
    let work = move || {
        let detected = detect(&bytes);
        NewUpload::parse(Filename::clean(&filename), bytes, detected)
    };
    app.runtime.spawn_blocking(work).await.map_err(Error::internal)?
}

fn created(upload: &Upload) -> StoredResponse {
    let subject = Subject::of_account(upload.id);
    keep(StatusCode::CREATED, &UploadView::from(upload), Some(subject))
}
