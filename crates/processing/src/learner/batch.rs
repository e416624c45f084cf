//! Makes the vectors of a batch of passages, even if the model refuses some of them.

use cicerone_domain::Passage;
use cicerone_domain::meaning::Vector;
use cicerone_domain::ports::{EmbedError, EmbedFailure, Embedder, Purpose};

/// A refused passage is halved and tried again as long as its half has at least this many
/// characters.
const FEWEST_CHARS: usize = 200;

/// A vector for each passage, with its position; `None` if the model refuses the passage at any
/// length.
///
/// A refused batch is halved, so that one passage that is too long for the model does not affect
/// the others.
pub(super) async fn make(
    embedder: &dyn Embedder,
    passages: &[Passage],
) -> Result<Vec<(i64, Option<Vector>)>, EmbedError> {
    let texts: Vec<(i64, String)> =
        passages.iter().map(|passage| (passage.position, text(passage))).collect();
    let mut made = Vec::with_capacity(texts.len());
    // Pieces that remain to be done, in reverse order.
    let mut pieces = vec![texts];
    while let Some(mut piece) = pieces.pop() {
        let sent: Vec<String> = piece.iter().map(|(_, text)| text.clone()).collect();
        match embedder.embed(&sent, Purpose::Passage).await {
            Ok(vectors) => {
                let positions = piece.into_iter().map(|(position, _)| position);
                made.extend(positions.zip(vectors.into_iter().map(Some)));
            }
            Err(EmbedError { failure: EmbedFailure::Texts, .. }) if piece.len() > 1 => {
                let second = piece.split_off(piece.len() / 2);
                pieces.extend([second, piece]);
            }
            Err(EmbedError { failure: EmbedFailure::Texts, message, .. }) => {
                for (position, text) in piece {
                    let chars = text.chars().count();
                    if chars / 2 >= FEWEST_CHARS {
                        pieces.push(vec![(position, text.chars().take(chars / 2).collect())]);
                    } else {
                        tracing::debug!(error = message, "the embedding model refuses a passage");
                        made.push((position, None));
                    }
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(made)
}

/// The text of a passage that is embedded: its subject, then its content.
fn text(passage: &Passage) -> String {
    let about = [passage.title.as_deref(), passage.heading.as_deref()];
    let mut text = String::new();
    for part in about.into_iter().flatten().filter(|part| !passage.text.starts_with(part)) {
        text.push_str(part);
        text.push('\n');
    }
    text.push_str(&passage.text);
    text
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use cicerone_domain::Passage;
    use cicerone_domain::meaning::Vector;
    use cicerone_domain::ports::{EmbedError, EmbedFailure, Embedder, Purpose};

    use super::make;

    /// Refuses texts of more than 300 characters, and texts that contain "bad".
    struct Picky;

    #[async_trait]
    impl Embedder for Picky {
        fn model(&self) -> &str {
            "picky"
        }

        fn batch(&self) -> usize {
            8
        }

        async fn embed(&self, texts: &[String], _: Purpose) -> Result<Vec<Vector>, EmbedError> {
            if texts.iter().any(|text| text.contains("bad") || text.len() > 300) {
                let message = "refused".to_owned();
                return Err(EmbedError { failure: EmbedFailure::Texts, message, source: None });
            }
            let vector = |text: &String| Vector::new(vec![1.0, text.len() as f32]).unwrap();
            Ok(texts.iter().map(vector).collect())
        }
    }

    #[tokio::test]
    async fn one_refused_passage_does_not_keep_the_others_from_their_vectors() {
        let texts = ["one", "two bad", "three", &"four ".repeat(100)];
        let passages: Vec<Passage> = (0..)
            .zip(texts)
            .map(|(position, text)| Passage {
                position,
                title: None,
                heading: None,
                url: None,
                page: None,
                text: text.to_owned(),
                is_pair: false,
                language: None,
            })
            .collect();
        let mut made = make(&Picky, &passages).await.unwrap();
        made.sort_by_key(|(position, _)| *position);
        let has: Vec<bool> = made.iter().map(|(_, vector)| vector.is_some()).collect();
        assert_eq!(has, [true, false, true, true]);
        assert_eq!(made.iter().map(|(position, _)| *position).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
