//! Replies: any OpenAI-compatible upstream, and the embedded extractive answerer.
