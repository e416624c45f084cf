//! From a source's content to passages: extraction, chunking and the processing worker.
