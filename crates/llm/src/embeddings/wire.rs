//! The wire format of the embeddings endpoint.

use cicerone_domain::content::cut_at_word;
use cicerone_domain::meaning::Vector;
use serde::{Deserialize, Serialize};

/// The longest quotation of an answer that is no list of vectors, in characters.
const QUOTED_CHARS: usize = 300;

#[derive(Serialize)]
pub(super) struct EmbeddingsRequest<'a> {
    pub(super) model: &'a str,
    pub(super) input: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dimensions: Option<u32>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    /// Servers that omit it answer in order.
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<Option<f32>>,
}

/// The `count` vectors of an answer, in the order of their texts. Returns an error unless there is
/// one for each text, all of the same dimension.
pub(super) fn vectors(body: &[u8], count: usize) -> Result<Vec<Vector>, String> {
    let answer: Answer = serde_json::from_slice(body).map_err(|error| {
        // The error quotes what it found.
        let error = error.to_string();
        format!("did not send a list of vectors: {}", cut_at_word(&error, QUOTED_CHARS))
    })?;
    if answer.data.len() != count {
        return Err(format!("sent {} vectors for {count} texts", answer.data.len()));
    }
    let mut placed: Vec<Option<Vector>> = vec![None; count];
    for (number, embedding) in answer.data.into_iter().enumerate() {
        let index = embedding.index.unwrap_or(number);
        let Some(place) = placed.get_mut(index).filter(|place| place.is_none()) else {
            return Err(format!("sent an index {index} that is out of range or repeated"));
        };
        // JSON cannot express NaN: some servers write `null`.
        let numbers = embedding.embedding.into_iter().map(|number| number.unwrap_or(f32::NAN));
        let vector = Vector::new(numbers.collect())
            .map_err(|error| format!("sent an invalid vector: {error}"))?;
        *place = Some(vector);
    }
    let vectors: Vec<Vector> = placed.into_iter().flatten().collect();
    let dimension = vectors.first().map(Vector::dimension);
    if vectors.iter().any(|vector| Some(vector.dimension()) != dimension) {
        return Err("sent vectors of several dimensions".to_owned());
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::vectors;

    fn read(json: &str, count: usize) -> Result<Vec<Vec<f32>>, String> {
        let vectors = vectors(json.as_bytes(), count)?;
        Ok(vectors.iter().map(|vector| vector.numbers().to_vec()).collect())
    }

    #[test]
    fn vectors_come_in_the_order_of_their_texts() {
        let json = r#"{"object": "list", "model": "m", "data": [
            {"object": "embedding", "index": 1, "embedding": [0, 2]},
            {"object": "embedding", "index": 0, "embedding": [3, 0]}]}"#;
        assert_eq!(read(json, 2).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
        let without_index = r#"{"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]}"#;
        assert_eq!(read(without_index, 2).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn nonsense_is_refused_with_what_is_wrong() {
        for (json, count, wrong) in [
            ("[]", 1, "list of vectors"),
            (r#"{"data": []}"#, 1, "0 vectors for 1 texts"),
            (r#"{"data": [{"index": 1, "embedding": [1]}]}"#, 1, "index 1"),
            (
                r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#,
                2,
                "index 0",
            ),
            (r#"{"data": [{"embedding": []}]}"#, 1, "0 dimensions"),
            (r#"{"data": [{"embedding": [0, 0]}]}"#, 1, "cannot be scaled"),
            (r#"{"data": [{"embedding": [1, null]}]}"#, 1, "not finite"),
            (r#"{"data": [{"embedding": [1, 1e999]}]}"#, 1, "no"),
            (r#"{"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}"#, 2, "several dimensions"),
        ] {
            let error = read(json, count).unwrap_err();
            assert!(error.contains(wrong), "{json}: {error}");
        }
    }
}
