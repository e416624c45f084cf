//! Waiting for something that happens in the background.

use std::time::{Duration, Instant};

/// The time limit for what should soon be so. It is only reached by a failure, so it is long enough for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Looks again and again until `look` returns `Ok`, and returns its value. After [`PATIENCE`], it panics with what was
/// awaited and what `look` saw last.
pub async fn awaited<T, F>(what: &str, look: impl Fn() -> F) -> T
where
    F: Future<Output = Result<T, String>>,
{
    let deadline = Instant::now() + PATIENCE;
    loop {
        match look().await {
            Ok(value) => return value,
            Err(seen) => {
                let limit = PATIENCE.as_secs();
                assert!(Instant::now() < deadline, "not within {limit} s: {what}; {seen}");
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits until a condition is true.
pub async fn eventually<F: Future<Output = bool>>(what: &str, condition: impl Fn() -> F) {
    let look = async || condition().await.then_some(()).ok_or_else(|| "it is not so".to_owned());
    awaited(what, look).await;
}
