//! `/v1/files`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use cicerone_domain::idempotency::{StoredResponse, Subject};
use cicerone_domain::services::NewUpload;
use cicerone_domain::{Error, Upload};
use sha2::{Digest as _, Sha256};

use crate::auth::Authorized;
use crate::auth::permission::{SourcesRead, SourcesWrite};
use crate::change::{Change, IDEMPOTENCY_KEY};
use crate::context::{App, Incoming};
use crate::failure::Failure;
use crate::multipart::ReceivedFile;
use crate::response::{Answer, keep, keep_nothing, ok};
use crate::views::UploadView;

/// `POST /v1/files`
pub(crate) async fn create(
    caller: Authorized<SourcesWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let permit =
        Arc::clone(&app.upload_permits).try_acquire_owned().map_err(|_| Error::Overloaded)?;
    let file = incoming.file(&app.settings).await?;
    let filename = file.filename.clone();
    let is_keyed = incoming.request.headers().contains_key(IDEMPOTENCY_KEY);
    let (upload, digest) = inspect(&app, file, is_keyed).await?;
    let change = Change::new(&app, &caller, incoming.keyed(&[filename.as_bytes(), &digest])?);
    change
        .answer(created, move |app, caller, completion| async move {
            let created = app.uploads.create(&caller.scope, upload?, completion).await;
            drop(permit);
            created
        })
        .await
}

/// `GET /v1/files/{file_id}`
pub(crate) async fn find(caller: Authorized<SourcesRead>, app: App, incoming: Incoming) -> Answer {
    let upload = app.uploads.find(caller.scope(), incoming.path_id()?).await?;
    Ok(ok(&UploadView::from(&upload)))
}

/// `DELETE /v1/files/{file_id}`
pub(crate) async fn delete(
    caller: Authorized<SourcesWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let body = incoming.any_body(&app).await?;
    let id = incoming.path_id()?;
    let change = Change::new(&app, &caller, incoming.keyed(&[&body])?);
    change
        .answer(keep_nothing, move |app, caller, completion| async move {
            app.uploads.delete(&caller.scope, id, completion).await
        })
        .await
}

/// Checks a file and takes its digest, on a blocking thread: both look at every byte. What is
/// wrong with the file itself comes as the inner error, as it belongs to the idempotency key.
async fn inspect(
    app: &App,
    file: ReceivedFile,
    is_keyed: bool,
) -> Result<(Result<NewUpload, Error>, Vec<u8>), Failure> {
    let detect = Arc::clone(&app.detect_upload_type);
    let ReceivedFile { filename, bytes } = file;
    let work = move || {
        let digest = if is_keyed { Sha256::digest(&bytes).to_vec() } else { Vec::new() };
        let detected = detect(&bytes);
        (NewUpload::parse(&filename, bytes, detected), digest)
    };
    Ok(app.runtime.spawn_blocking(work).await.map_err(Error::internal)?)
}

fn created(upload: &Upload) -> StoredResponse {
    let subject = Subject { id: upload.id.to_string(), agent_id: None };
    keep(StatusCode::CREATED, &UploadView::from(upload), Some(subject))
}
