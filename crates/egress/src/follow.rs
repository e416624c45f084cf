//! Following of redirects.

use reqwest::header::LOCATION;
use reqwest::{Method, StatusCode};
use url::Url;

use crate::answer::Answer;
use crate::client::{Egress, deadline};
use crate::error::EgressError;
use crate::request::Request;

impl Egress {
    /// Sends a request and follows redirects, each of which is checked like the first address. Redirects are followed
    /// for GET and HEAD only; the response to another method is returned unchanged.
    ///
    /// `may_follow` decides before each hop, so that a caller can stay within its scope.
    ///
    /// # Errors
    ///
    /// [`EgressError::Redirected`] with the target that `may_follow` refused,
    /// [`EgressError::TooManyRedirects`], [`EgressError::BadRedirect`], and those of
    /// [`Egress::send`].
    pub async fn get_following(
        &self,
        mut request: Request,
        max_redirects: usize,
        may_follow: impl Fn(&Url) -> bool,
    ) -> Result<Answer, EgressError> {
        let deadline = deadline(request.total);
        for _ in 0..=max_redirects {
            let answer = self.send_until(request.clone(), deadline).await?;
            let is_followed = matches!(request.method, Method::GET | Method::HEAD);
            let target = if is_followed { target(&answer)? } else { None };
            let Some(to) = target else { return Ok(answer) };
            if !may_follow(&to) {
                return Err(EgressError::Redirected { status: answer.status, to: Box::new(to) });
            }
            request = request.redirected(to);
        }
        Err(EgressError::TooManyRedirects { limit: max_redirects })
    }
}

/// The target, if the response is a redirect.
fn target(answer: &Answer) -> Result<Option<Url>, EgressError> {
    let is_redirect = matches!(
        answer.status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let Some(location) = answer.headers.get(LOCATION).filter(|_| is_redirect) else {
        return Ok(None);
    };
    let location =
        std::str::from_utf8(location.as_bytes()).map_err(|_| EgressError::BadRedirect)?;
    answer.url.join(location).map(Some).map_err(|_| EgressError::BadRedirect)
}
