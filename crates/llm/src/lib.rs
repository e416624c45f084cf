//! Replies: any OpenAI-compatible upstream, and the embedded extractive answerer.
//!
//! [`Models`] routes each model name of an agent to an upstream and its fallbacks, or to the
//! embedded [`Extractive`] answerer if no upstream is configured. The prompt, citation marks,
//! attribution and the choice of sentences are pure functions; only the upstreams do input and
//! output.

mod attribution;
mod citations;
mod client;
mod config;
mod embeddings;
mod extractive;
mod models;
mod prompt;
#[cfg(test)]
mod testing;
mod upstream;

pub use client::connect_from_this_thread;
pub use config::{
    ConfigError, EMBEDDED, MaxTokensField, ModelsConfig, RouteConfig, Secret, TargetConfig,
    TokenizerName, UpstreamConfig,
};
pub use embeddings::{Embeddings, EmbeddingsConfig};
pub use extractive::Extractive;
pub use models::Models;
