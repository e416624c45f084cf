//! `/v1/files`.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use cicerone_domain::audit::AuditAction;
use cicerone_domain::fairness::Urgency;
use cicerone_domain::idempotency::{StoredResponse, Subject};
use cicerone_domain::services::NewUpload;
use cicerone_domain::upload::Filename;
use cicerone_domain::{Error, Upload};

use crate::auth::Authorized;
use crate::auth::permission::{SourcesRead, SourcesWrite};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::multipart::ReceivedFile;
use crate::response::{Answer, keep, keep_nothing, ok};
use crate::views::UploadView;

/// How long a file that has arrived waits for its turn in memory.
const PATIENCE: Duration = Duration::from_secs(30);

/// `POST /v1/files`
pub(crate) async fn create(
    caller: Authorized<SourcesWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let account = caller.scope().account;
    let permit = app.uploads_arriving.try_acquire(account, 1).ok_or(Error::Overloaded)?;
    let received = incoming.file(&app).await?;
    let digest = received.file.digest().unwrap_or_default();
    let keyed = incoming.keyed(&[received.filename.as_bytes(), &digest])?;
    Change::new(&app, &caller, keyed)
        .answer(created, move |app, caller, completion| async move {
            let _arriving = permit;
            let turn = app.uploads_in_memory.acquire(account, 1, Urgency::Question);
            let turn = tokio::time::timeout(PATIENCE, turn);
            let _in_memory = turn.await.map_err(|_| Error::Overloaded)?;
            let new = inspect(&app, received).await?;
            app.uploads.create(&caller.scope, new, completion).await
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
    let id = incoming.path_id();
    let change = Change::of_path(&app, &caller, &mut incoming)
        .await?
        .audited(AuditAction::FileDeleted, Some(incoming.path_text().to_owned()));
    change
        .answer(keep_nothing, move |app, caller, completion| async move {
            app.uploads.delete(&caller.scope, id?, completion).await
        })
        .await
}

/// Looks at every byte of a file, on a blocking thread.
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
    keep(StatusCode::CREATED, &UploadView::from(upload), Some(Subject::of_account(upload.id)))
}
