//! Searches by tantivy alone: its own tokenizer, BM25, and the texts of the best passages.

use std::path::Path;

use anyhow::Context as _;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, Schema, TEXT, Value as _};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, IndexReader, IndexWriter, TantivyDocument, Term, doc};

/// Characters of a passage, about as many as the server's passages have.
const PASSAGE_CHARS: usize = 1_600;
/// Passages that a question finds at most.
const FOUND: usize = 5;
/// The least memory that tantivy's writer takes.
const BUFFER: usize = 15_000_000;

/// Indexed passages.
pub(super) struct Passages {
    reader: IndexReader,
    tokenizer: TextAnalyzer,
    text: Field,
}

impl Passages {
    /// Divides the texts into passages and indexes them in this folder, in one segment.
    pub(super) fn index(folder: &Path, texts: &[String]) -> anyhow::Result<Self> {
        let mut schema = Schema::builder();
        let text = schema.add_text_field("text", TEXT | STORED);
        std::fs::create_dir_all(folder).context("making the folder of the index")?;
        let index = Index::create_in_dir(folder, schema.build())?;
        let mut writer: IndexWriter = index.writer_with_num_threads(1, BUFFER)?;
        for whole in texts {
            let mut rest = whole.as_str();
            while !rest.is_empty() {
                let end = rest.char_indices().nth(PASSAGE_CHARS).map_or(rest.len(), |(at, _)| at);
                let (passage, after) = rest.split_at(end);
                writer.add_document(doc!(text => passage))?;
                rest = after;
            }
        }
        writer.commit()?;
        let tokenizer = index.tokenizer_for_field(text)?;
        Ok(Self { reader: index.reader()?, tokenizer, text })
    }

    /// The texts of the passages that fit best.
    pub(super) fn best(&self, question: &str) -> tantivy::Result<Vec<String>> {
        let mut terms: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let mut tokenizer = self.tokenizer.clone();
        let mut tokens = tokenizer.token_stream(question);
        while let Some(token) = tokens.next() {
            let term = Term::from_field_text(self.text, &token.text);
            terms.push((
                Occur::Should,
                Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)),
            ));
        }
        let searcher = self.reader.searcher();
        let best = TopDocs::with_limit(FOUND).order_by_score();
        let hits = searcher.search(&BooleanQuery::new(terms), &best)?;
        let text = |(_, address)| {
            let document: TantivyDocument = searcher.doc(address)?;
            let text = document.get_first(self.text).and_then(|value| value.as_str());
            Ok(text.unwrap_or_default().to_owned())
        };
        hits.into_iter().map(text).collect()
    }
}
