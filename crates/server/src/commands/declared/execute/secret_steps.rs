//! Objects with a secret: API keys, webhook endpoints and widgets.
//!
//! The server shows a secret once. So the object is created with a hash that means "not written yet", the secret is
//! written to its file, and then the hash is recorded. A run that is interrupted in between leaves an object whose hash
//! tells the next run that nobody has its secret.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::super::observed::ObjectKind;
use super::super::plan::PENDING;
use super::super::secrets;
use super::super::wanted::{WantedObject, identity};
use super::{Executor, Outcome, moved};
use crate::api_client::{Body, managed, text};
use crate::failure::Failure;

/// How long another run gets to write a secret.
const OTHERS: Duration = Duration::from_secs(5);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(200);

impl<'a> Executor<'a> {
    /// Creates a key, a webhook endpoint or a widget, and writes its secret.
    pub(super) async fn create_with_secret(
        &mut self,
        kind: ObjectKind,
        object: &'a WantedObject,
    ) -> Result<Outcome, Failure> {
        let hash = if object.write_to.is_some() { PENDING } else { &object.hash };
        let body = object.body(&self.wanted.set, hash, |key| self.agent_id(key));
        let list = match kind {
            ObjectKind::Widget => {
                let agent = object.key.split_once('/').map_or("", |(agent, _)| agent);
                let Some(id) = self.agent_id(agent) else {
                    return Ok(Outcome::Moved(format!("agent `{agent}` is gone")));
                };
                format!("/v1/agents/{id}/widgets")
            }
            _ => kind.path().to_owned(),
        };
        let made = match self.api.create(&list, Body::Json(&body)).await {
            Ok(made) => made,
            Err(error) => return moved(error),
        };
        let path = format!("{}/{}", kind.path(), text(&made, "id"));
        if object.write_to.is_none() {
            return Ok(Outcome::Done);
        }
        let secret = made.get(secret_of(kind)).and_then(Value::as_str);
        match secret {
            Some(secret) => self.record(object, &path, secret, "created").await,
            // The answer to a repeated request has no key: another run has made it, or an earlier one.
            None if self.is_written(&path).await? => Ok(Outcome::Done),
            None => Ok(Outcome::Moved(format!("the secret of `{}` was not written", object.key))),
        }
    }

    /// Creates a new secret for an object whose secret nobody has.
    pub(super) async fn renew(
        &mut self,
        kind: ObjectKind,
        object: &'a WantedObject,
        path: &str,
        version: &str,
    ) -> Result<Outcome, Failure> {
        if self.is_written(path).await? {
            return Ok(Outcome::Moved(format!("`{}` was written by another run", object.key)));
        }
        if kind == ObjectKind::Key {
            self.api.delete(path).await?;
            return self.create_with_secret(kind, object).await;
        }
        let rotate = format!("{path}/rotate_secret");
        let made = match self.api.change(Method::POST, &rotate, version, Body::None).await {
            Ok(made) => made,
            Err(error) => return moved(error),
        };
        self.record(object, path, text(&made, secret_of(kind)), version).await
    }

    /// Writes a secret to its file, and records this on the server.
    async fn record(
        &self,
        object: &WantedObject,
        path: &str,
        secret: &str,
        version: &str,
    ) -> Result<Outcome, Failure> {
        if let Some(file) = &object.write_to {
            secrets::write(file, secret)?;
        }
        let body = json!({ "managed": identity(&self.wanted.set, &object.key, &object.hash) });
        self.patch(path, version, &body).await
    }

    /// Whether the secret of an object was written: waits a little for another run that is about to do it.
    async fn is_written(&self, path: &str) -> Result<bool, Failure> {
        let end = Instant::now() + OTHERS;
        loop {
            match self.api.get(path).await {
                Ok(object) if managed(&object, "hash") != PENDING => return Ok(true),
                Ok(_) => {}
                // Another run has replaced it.
                Err(error) if error.is(404) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
            if Instant::now() > end {
                return Ok(false);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// The field with the secret of a new object.
const fn secret_of(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Key => "key",
        ObjectKind::Widget => "identity_secret",
        ObjectKind::Agent | ObjectKind::Source | ObjectKind::Webhook => "secret",
    }
}
