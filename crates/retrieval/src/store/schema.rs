//! The fields of an index, and how a passage is added.

use std::ops::Range;
use std::sync::Arc;

use cicerone_domain::content::StoredPassage;
use cicerone_domain::{Id, kind};
use cicerone_language::{Language, Term, defined_term, fold, grams, terms};
use serde::{Deserialize, Serialize};
use tantivy::TantivyDocument;
use tantivy::schema::{
    Field, IndexRecordOption, STORED, Schema, SchemaBuilder, TextFieldIndexing, TextOptions,
};

/// Raised whenever the fields, the analysis or the stored data change. An index of another version is rebuilt from the
/// database. Since 3, the version of a source never identifies two contents; since 4, answers and defined terms have
/// their own fields, and the small words of questions are marked; since 5, passages have the ids of their documents;
/// since 6, what is stored of a passage is text; since 7, more words of questions are stop words.
pub(crate) const VERSION: u32 = 7;

/// The fields of an index. Invariant: no field has positions; neighbouring words are in a separate field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    /// The document of a passage and its version. A change replaces all passages with the same value.
    pub(crate) document: Field,
    /// The language in which the passage was analysed.
    pub(crate) language: Field,
    /// The complete question of a pair.
    pub(crate) exact: Field,
    /// The question of a pair.
    pub(crate) question: Field,
    /// The title of anything else.
    pub(crate) title: Field,
    /// The headings.
    pub(crate) heading: Field,
    /// The terms that the text defines: "`--locked`: Asserts that …".
    pub(crate) defined: Field,
    /// The text of anything but a pair.
    pub(crate) body: Field,
    /// The answer of a pair.
    pub(crate) answer: Field,
    /// Neighbouring words in any of the texts of anything but a pair.
    pub(crate) pairs: Field,
    /// Pieces of words in any of the texts of anything but a pair.
    pub(crate) grams: Field,
    /// Pieces of words in the question of a pair.
    pub(crate) question_grams: Field,
    /// The original passage as JSON.
    pub(crate) record: Field,
}

/// The number of scored fields. The following constants are their positions.
pub(crate) const SCORED: usize = 9;
/// The number of scored fields, from the first, that contain whole words.
pub(crate) const WORD_FIELDS: usize = 6;
/// The questions of pairs.
pub(crate) const QUESTIONS: usize = 0;
/// The titles of anything else.
const TITLES: usize = 1;
/// The headings.
const HEADINGS: usize = 2;
/// The defined terms.
const DEFINED: usize = 3;
/// The texts of anything but pairs.
const BODIES: usize = 4;
/// The answers of pairs.
pub(crate) const ANSWERS: usize = 5;
/// Neighbouring words.
pub(crate) const PAIRS: usize = 6;
/// Pieces of words.
pub(crate) const GRAMS: usize = 7;
/// Pieces of words in the questions of pairs.
pub(crate) const QUESTION_GRAMS: usize = 8;

impl Fields {
    /// The scored fields, in their order.
    pub(crate) fn scored(&self) -> [Field; SCORED] {
        [
            self.question,
            self.title,
            self.heading,
            self.defined,
            self.body,
            self.answer,
            self.pairs,
            self.grams,
            self.question_grams,
        ]
    }
}

pub(crate) fn schema() -> (Schema, Fields) {
    let mut schema = SchemaBuilder::new();
    let indexed = |tokenizer, option, norms| {
        let indexing = TextFieldIndexing::default().set_index_option(option).set_fieldnorms(norms);
        TextOptions::default().set_indexing_options(indexing.set_tokenizer(tokenizer))
    };
    let key = indexed("raw", IndexRecordOption::Basic, false);
    // The texts are terms already, separated by spaces.
    let text = indexed("whitespace", IndexRecordOption::WithFreqs, true);
    let fields = Fields {
        document: schema.add_text_field("document", key.clone()),
        language: schema.add_text_field("language", key.clone()),
        exact: schema.add_text_field("exact", key),
        question: schema.add_text_field("question", text.clone()),
        title: schema.add_text_field("title", text.clone()),
        heading: schema.add_text_field("heading", text.clone()),
        defined: schema.add_text_field("defined", text.clone()),
        body: schema.add_text_field("body", text.clone()),
        answer: schema.add_text_field("answer", text.clone()),
        pairs: schema.add_text_field("pairs", text.clone()),
        grams: schema.add_text_field("grams", text.clone()),
        question_grams: schema.add_text_field("question_grams", text),
        // JSON. Text, because tantivy reads stored bytes one by one.
        record: schema.add_text_field("record", STORED),
    };
    (schema.build(), fields)
}

/// The key of a version of a document. Different contents have different keys.
pub(crate) fn document_key(source: Id<kind::Source>, document: i64, version: u64) -> String {
    format!("{source}{DOCUMENT}{document}{VERSION_OF}{version}")
}

/// Precedes the position of a document in its key.
const DOCUMENT: char = '/';
/// The next byte after it.
const AFTER_DOCUMENT: char = '0';
/// Precedes the version of a document in its key.
const VERSION_OF: char = '@';

/// The range of the keys of all documents of a source.
pub(crate) fn keys_of(source: Id<kind::Source>) -> Range<String> {
    format!("{source}{DOCUMENT}")..format!("{source}{AFTER_DOCUMENT}")
}

/// The position and the version in the key of a document.
pub(crate) fn read_document_key(key: &[u8]) -> Option<(i64, u64)> {
    let key = std::str::from_utf8(key).ok()?;
    let (_, document) = key.split_once(DOCUMENT)?;
    let (document, version) = document.split_once(VERSION_OF)?;
    Some((document.parse().ok()?, version.parse().ok()?))
}

/// The key of a question. Questions that differ only in case, diacritics and punctuation have the
/// same key.
pub(crate) fn exact_key(question: &str) -> String {
    let mut key = String::with_capacity(question.len());
    for character in fold(question).chars().filter(|character| character.is_alphanumeric()) {
        if key.len() >= EXACT_KEY_BYTES {
            break;
        }
        key.push(character);
    }
    key
}

/// The longest part of a question that enters its key, in bytes.
const EXACT_KEY_BYTES: usize = 1_000;

/// The code of passages whose language is unknown.
pub(crate) const NO_LANGUAGE: &str = "und";

/// A passage read from the index.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) source: Id<kind::Source>,
    pub(crate) document: Id<kind::Document>,
    pub(crate) position: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) heading: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) page: Option<u32>,
    pub(crate) text: Arc<str>,
    pub(crate) is_pair: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) language: Option<Arc<str>>,
}

impl Record {
    /// The size of its texts in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let optional = [&self.title, &self.heading, &self.url, &self.language];
        self.text.len() + optional.into_iter().flatten().map(|text| text.len()).sum::<usize>()
    }
}

/// A passage that was analysed for indexing, but is in no index yet.
pub(crate) struct Analysed {
    /// The code of the language in which it was analysed.
    pub(crate) language: &'static str,
    /// The key of the question of a pair.
    pub(crate) exact: Option<String>,
    /// The terms of each scored field, each followed by a space.
    pub(crate) terms: [String; SCORED],
    pub(crate) record: Record,
}

/// Analyses a passage of a source.
pub(crate) fn analyse(source: Id<kind::Source>, stored: StoredPassage) -> Analysed {
    let StoredPassage { document_id, passage } = stored;
    let language = passage.language.as_deref().and_then(Language::from_code);
    let exact = passage.title.as_deref().filter(|_| passage.is_pair).map(exact_key);
    let (title_field, text_field, grams_field) = if passage.is_pair {
        (QUESTIONS, ANSWERS, QUESTION_GRAMS)
    } else {
        (TITLES, BODIES, GRAMS)
    };
    let parts = [
        (title_field, passage.title.as_deref()),
        (HEADINGS, passage.heading.as_deref()),
        (text_field, Some(passage.text.as_str())),
    ];
    let mut fields: [Tokens; SCORED] = Default::default();
    for (field, text) in parts {
        let Some(text) = text else { continue };
        let terms = terms(text, language);
        if !passage.is_pair {
            let [.., pairs, _, _] = &mut fields;
            neighbours(&terms, |first, second| pairs.push(&pair(first, second)));
        }
        if field != ANSWERS {
            push_all(&mut fields, grams_field, |tokens| grams(text, |piece| tokens.push(piece)));
        }
        push_all(&mut fields, field, |tokens| {
            for term in &terms {
                if term.is_stop_word && field == QUESTIONS {
                    tokens.push(&small_word(&term.text));
                } else {
                    tokens.push(&term.text);
                }
            }
        });
    }
    if !passage.is_pair {
        push_all(&mut fields, DEFINED, |tokens| {
            for term in passage.text.lines().filter_map(defined_term) {
                terms(term, language).iter().for_each(|term| tokens.push(&term.text));
            }
        });
    }
    let record = Record {
        source,
        document: document_id,
        position: passage.position,
        title: passage.title.map(Into::into),
        heading: passage.heading.map(Into::into),
        url: passage.url.map(Into::into),
        page: passage.page,
        text: passage.text.into(),
        is_pair: passage.is_pair,
        language: passage.language.map(Into::into),
    };
    Analysed {
        language: language.map_or(NO_LANGUAGE, Language::code),
        exact,
        terms: fields.map(|tokens| tokens.0),
        record,
    }
}

fn push_all(fields: &mut [Tokens; SCORED], field: usize, push: impl FnOnce(&mut Tokens)) {
    if let Some(tokens) = fields.get_mut(field) {
        push(tokens);
    }
}

/// The document of a passage in an index on the disk.
pub(crate) fn document(
    fields: &Fields,
    key: &str,
    analysed: Analysed,
) -> Result<TantivyDocument, serde_json::Error> {
    let mut document = TantivyDocument::new();
    document.add_text(fields.document, key);
    document.add_text(fields.language, analysed.language);
    if let Some(exact) = analysed.exact {
        document.add_text(fields.exact, exact);
    }
    for (field, terms) in fields.scored().into_iter().zip(analysed.terms) {
        if !terms.is_empty() {
            document.add_text(field, terms);
        }
    }
    document.add_text(fields.record, serde_json::to_string(&analysed.record)?);
    Ok(document)
}

/// Precedes a small word, such as "what", in the question of a pair.
const SMALL_WORD: char = '\u{1E}';

/// The term of a small word in the question of a pair.
pub(crate) fn small_word(word: &str) -> String {
    format!("{SMALL_WORD}{word}")
}

/// Whether a term in the question of a pair is a small word.
pub(crate) fn is_small_word(term: &[u8]) -> bool {
    term.first().is_some_and(|first| char::from(*first) == SMALL_WORD)
}

/// Calls `each` with all neighbouring content words. Stop words between them are skipped.
pub(crate) fn neighbours<'terms>(
    terms: &'terms [Term],
    mut each: impl FnMut(&'terms Term, &'terms Term),
) {
    let mut before: Option<&Term> = None;
    for term in terms.iter().filter(|term| !term.is_stop_word && !term.is_compound) {
        if let Some(before) = before {
            each(before, term);
        }
        before = Some(term);
    }
}

/// The term of two neighbouring words.
pub(crate) fn pair(first: &Term, second: &Term) -> String {
    let mut pair = String::with_capacity(first.text.len() + second.text.len() + 1);
    pair.push_str(&first.text);
    pair.push('\u{1F}');
    pair.push_str(&second.text);
    pair
}

/// Collects the terms of a field. No term contains white space.
#[derive(Default)]
struct Tokens(String);

impl Tokens {
    fn push(&mut self, term: &str) {
        self.0.push_str(term);
        self.0.push(' ');
    }
}
