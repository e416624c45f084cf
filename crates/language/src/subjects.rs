//! What a question for a definition asks for ("What is X?", "What does X do?"), and what defines it: "X is …".

use memchr::memchr2_iter;

use crate::definitions::defined_term;

/// The beginnings of such questions, with the space before the subject.
const OPENINGS: [&str; 17] = [
    "what is ",
    "what's ",
    "what are ",
    "who is ",
    "who are ",
    "was ist ",
    "was sind ",
    "wer ist ",
    "qu'est-ce que ",
    "qui est ",
    "qué es ",
    "quién es ",
    "o que é ",
    "che cos'è ",
    "cos'è ",
    "wat is ",
    "что такое ",
];
/// The beginnings and ends of questions about what something is for, with the space beside the subject.
const PURPOSES: [(&str, &str); 10] = [
    ("what does ", " do"),
    ("what do ", " do"),
    ("what does ", " control"),
    ("what does ", " mean"),
    ("what do ", " mean"),
    ("what does ", " stand for"),
    ("what is ", " used for"),
    ("what is ", " for"),
    ("what's ", " for"),
    ("what are ", " for"),
];
/// Words after such a question that say when it is asked: "What does X do in Y?".
const CIRCUMSTANCES: [&str; 7] = ["in", "when", "if", "with", "on", "at", "during"];
/// The beginnings of requests for a definition.
const REQUESTS: [&str; 5] = [
    "meaning of ",
    "definition of ",
    "define ",
    "what is the meaning of ",
    "what is the definition of ",
];
/// Words before a subject that are not part of its name.
const ARTICLES: [&str; 17] = [
    "a", "an", "the", "ein", "eine", "der", "die", "das", "un", "une", "le", "la", "el", "una",
    "um", "uma", "een",
];
/// Marks of Markdown and quotation around a name.
const MARKS: [char; 8] = ['*', '`', '"', '“', '”', '„', '«', '»'];
/// What a question ends with.
const ENDS: [char; 10] = ['?', '!', '.', '…', ':', ',', '？', '！', '。', '"'];
/// Words that stand for something that was said before.
const PRONOUNS: [&str; 9] = ["he", "it", "she", "that", "these", "they", "this", "those", "you"];

/// Words that join a subject with its definition.
const COPULAS: [&str; 14] =
    ["is", "are", "was", "were", "ist", "sind", "est", "es", "è", "é", "means", "—", "–", "-"];
/// Nouns that may follow a name and say what it names: "The VACUUM command rebuilds …".
const KINDS: [&str; 20] = [
    "attribute",
    "class",
    "clause",
    "command",
    "directive",
    "field",
    "file",
    "flag",
    "function",
    "keyword",
    "macro",
    "method",
    "module",
    "option",
    "parameter",
    "pragma",
    "setting",
    "statement",
    "type",
    "variable",
];
/// What the heading of a text about a subject may say besides its name: "Reverse Proxy Guide".
const GENRES: [&str; 8] = [
    "about",
    "basics",
    "definition",
    "description",
    "guide",
    "introduction",
    "overview",
    "summary",
];
/// The most words of a name. A longer subject describes something: "the largest ship that may enter the harbour".
const NAME_WORDS: usize = 4;
/// The longest heading that can name a subject, in bytes.
const HEADING_BYTES: usize = 200;
/// A final `s` is a plural ending only after more than this many bytes: "HTTPS" is not a plural.
const SHORT_WORD: usize = 4;
/// The longest name, and the longest beginning of a line in which a term is looked for, in bytes.
const TERM_BYTES: usize = 120;
/// The most bytes before the subject of a sentence: an article and marks.
const BEFORE_SUBJECT: usize = 24;
/// The most bytes after it that are read: two words and marks.
const AFTER_SUBJECT: usize = 72;

/// What a question for a definition asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// In lower case, without marks and without an article.
    name: String,
    /// The name without words such as "directive" at its end; the whole name if it consists of them.
    core: String,
    /// A name of one letter, such as `-v` or `%T`, as it is written in the question.
    letter: Option<String>,
    /// Whether the question asks what it does, means or is for, rather than what it is.
    is_purpose: bool,
}

impl Subject {
    /// The subject of `question`, if it asks what something of at most four words is, does, means or is for. In "What does X
    /// do in Y?" it is X, and of a command with an option the option.
    ///
    /// # Examples
    ///
    /// ```
    /// use cicerone_language::Subject;
    ///
    /// let subject = Subject::of("What does CASCADE do in TRUNCATE?").unwrap();
    /// assert!(subject.is_defined_by("`CASCADE`: Truncates all tables with references."));
    /// assert!(subject.is_heading("## The CASCADE option"));
    /// assert_eq!(Subject::of("When does it open?"), None);
    /// ```
    pub fn of(question: &str) -> Option<Self> {
        let asked = question.trim().trim_start_matches('¿').replace('’', "'");
        let lower = asked.to_lowercase();
        let question = lower.trim_end_matches(|c: char| c.is_whitespace() || ENDS.contains(&c));
        let purpose = PURPOSES.iter().find_map(|(opening, end)| {
            let rest = question.strip_prefix(opening)?;
            let before = |word: &&str| rest.split_once(&format!("{end} {word} "));
            let inner = CIRCUMSTANCES.iter().find_map(before).map(|(subject, _)| subject);
            rest.strip_suffix(end).or(inner)
        });
        let openings = REQUESTS.iter().chain(&OPENINGS);
        let rest = || openings.into_iter().find_map(|opening| question.strip_prefix(opening));
        let mut name = name(purpose.or_else(rest)?);
        // "git fetch --prune" is an option of a command.
        if let Some((_, option)) = name.rsplit_once(' ').filter(|(_, last)| last.starts_with('-')) {
            name = option.to_owned();
        }
        let name = alone(&name).to_owned();
        let is_short = name.len() <= TERM_BYTES && name.split(' ').nth(NAME_WORDS).is_none();
        if !is_short || name.is_empty() || PRONOUNS.contains(&name.as_str()) {
            return None;
        }
        let core = without_kinds(&name);
        let letters = core.bytes().filter(u8::is_ascii_alphabetic).count();
        let is_letter = letters == 1 && asked.is_ascii();
        let place = lower.rfind(&core).filter(|_| is_letter);
        let letter = place.and_then(|at| asked.get(at..at + core.len())).map(str::to_owned);
        Some(Self { name, core, letter, is_purpose: purpose.is_some() })
    }

    /// Whether `question` asks for the definition of the same subject.
    pub fn is_asked_by(&self, question: &str) -> bool {
        Self::of(question).is_some_and(|other| other.core == self.core)
    }

    /// Whether this is the name of the subject, apart from hyphens, case, a plural, and words such as "directive" at its end.
    pub fn is_named(&self, name: &str) -> bool {
        self.is_written(name)
    }

    /// Whether a heading names just the subject: "KeepAlive Directive", "What is a handler?", "QSA|qsappend".
    pub fn is_heading(&self, heading: &str) -> bool {
        if heading.len() > HEADING_BYTES || !self.may_be_in(heading.as_bytes()) {
            return false;
        }
        let heading = plain_heading(heading);
        if let Some(asked) = Self::of(heading) {
            return self.is(&asked.name);
        }
        // The parameters of a function are not what its section is about.
        let called =
            heading.find('(').filter(|at| !heading.get(..*at).is_some_and(|h| h.ends_with(' ')));
        let heading = called.and_then(|at| heading.get(..at)).unwrap_or(heading);
        let is_named = |part: &str| self.is_written(part);
        is_named(heading)
            || heading.split(['|', ',', '/', '(', ')', ':']).any(is_named)
            || heading.split(" - ").any(is_named)
    }

    /// Whether a line defines the subject: as a term before a colon, or in the first cell of a row of a table.
    pub fn is_term_of(&self, line: &str) -> bool {
        if let Some(row) = line.strip_prefix('|') {
            return row.split_once('|').is_some_and(|(first, _)| self.is_written(first));
        }
        let Some(term) = defined_term(line) else { return false };
        // "--[no-]tags" is "--tags" and "--no-tags".
        if term.contains("[no-]") {
            return ["", "no-"].iter().any(|no| self.is_one_of(&term.replace("[no-]", no)));
        }
        self.is_one_of(term)
    }

    /// Whether a term, or one of the names in it, is that of the subject.
    fn is_one_of(&self, term: &str) -> bool {
        if !term.starts_with(['`', '-', '\\', '.']) {
            return self.is_written(term)
                || term.split([',', '/', '(', ')']).any(|name| self.is_written(name));
        }
        // What an option or a function takes is not its name.
        term.split(',').any(|name| {
            let name = name.trim().trim_matches('`');
            let ends: &[char] =
                if name.starts_with('-') { &[' ', '=', '[', '`'] } else { &['=', '[', '('] };
            let name = name.split(ends).next().unwrap_or(name);
            self.has_case_of(name) && without_name(&self::name(name), &self.name) == Some("")
        })
    }

    /// Whether `sentence` defines the subject: it is a definition of a term, or begins with the name and a word such as "is".
    pub fn is_defined_by(&self, sentence: &str) -> bool {
        let bytes = sentence.as_bytes();
        let beginning = bytes.get(..self.name.len() + BEFORE_SUBJECT).unwrap_or(bytes);
        if self.may_be_in(beginning) && self.is_said_by(sentence) {
            return true;
        }
        // The name may follow in parentheses: "Request for Comments (RFC): …".
        let first = bytes.get(..bytes.len().min(TERM_BYTES)).unwrap_or_default();
        self.may_be_in(first) && self.is_term_of(sentence)
    }

    fn is_said_by(&self, sentence: &str) -> bool {
        let sentence = sentence.strip_prefix("- ").unwrap_or(sentence);
        let most = BEFORE_SUBJECT + self.name.len() + AFTER_SUBJECT;
        let sentence = name(first_words(sentence, most));
        let Some(rest) = without_name(without_sign(&sentence), &self.name) else { return false };
        let mut words = rest.split_whitespace();
        let word = words.next().unwrap_or_default();
        let (word, is_kind) = match KINDS.contains(&word) {
            true => (words.next().unwrap_or_default(), true),
            false => (word, false),
        };
        COPULAS.contains(&word) || self.is_purpose && is_verb(word, is_kind)
    }

    /// Whether a piece of text is the name of the subject.
    fn is_written(&self, text: &str) -> bool {
        self.has_case_of(text) && self.is(&name(text))
    }

    /// Whether a text writes the name in its case. Only for names of one letter does the case matter.
    fn has_case_of(&self, text: &str) -> bool {
        self.letter.as_ref().is_none_or(|letter| text.contains(letter))
    }

    /// Whether a name in lower case is that of the subject, apart from hyphens, a plural, and words such as "directive" at its end.
    fn is(&self, name: &str) -> bool {
        let is_same = |one: &str, other: &str| {
            let is = |one: &str, other: &str| without_name(one, other) == Some("");
            is(one, other) || is(one, singular(other)) || is(singular(one), other)
        };
        let name = without_sign(name);
        is_same(name, &self.name) || is_same(&without_kinds(name), &self.core)
    }

    /// Whether a text may contain the name: it has the first word of it, in upper or lower case, without the hyphens of an option,
    /// because "--tags" may be written "--[no-]tags". Always true if that word is empty or not ASCII.
    pub fn may_be_in(&self, text: &[u8]) -> bool {
        let option = self.core.strip_prefix("--").map(|name| name.trim_start_matches("no-"));
        let word = option.unwrap_or(&self.core).split([' ', '-']).find(|word| !word.is_empty());
        let word = singular(word.unwrap_or_default()).as_bytes();
        let (Some(first), true) = (word.first(), word.is_ascii()) else { return true };
        let is_word = |at: usize| {
            text.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
        };
        memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text).any(is_word)
    }
}

/// A heading without marks, numbering and white space around.
pub fn plain_heading(heading: &str) -> &str {
    let heading = heading.trim_start_matches('#').trim_end_matches(['#', '¶', ' ']).trim();
    let (first, rest) = heading.split_once(' ').unwrap_or((heading, ""));
    let is_number = first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && (first.len() < 3 || first.contains('.'));
    if is_number && !rest.is_empty() { rest.trim_start() } else { heading }
}

/// A name without the sign of a variable, and without a word before it that says what kind of thing it is if the name itself cannot
/// be a word: "variable `$mail_check`".
fn alone(name: &str) -> &str {
    let kind = name.split_once(' ').filter(|(first, rest)| {
        KINDS.contains(first) && rest.contains(['_', '$', '.']) && !rest.contains(' ')
    });
    without_sign(kind.map_or(name, |(_, rest)| rest))
}

/// A name without the sign of a variable: `$PATH`.
fn without_sign(name: &str) -> &str {
    let rest = name.strip_prefix('$').filter(|rest| rest.starts_with(char::is_alphabetic));
    rest.unwrap_or(name)
}

/// A name without the words at its end that say what kind of thing or text it is; unchanged if it has no other words.
fn without_kinds(name: &str) -> String {
    let is_kind = |word: &str| KINDS.contains(&word) || GENRES.contains(&word);
    let mut core = name;
    while let Some((before, _)) = core.rsplit_once(' ').filter(|(_, last)| is_kind(last)) {
        core = before.trim_end();
    }
    core.to_owned()
}

/// A name without the ending of a plural. Short words, such as "HTTPS", have none.
fn singular(name: &str) -> &str {
    name.strip_suffix('s').filter(|stem| stem.len() > SHORT_WORD).unwrap_or(name)
}

/// What follows the name at the beginning of a text, if a word ends there. A hyphen is as good as a space.
fn without_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let beginning = text.get(..name.len())?;
    let is_same = |(a, b): (u8, u8)| a == b || matches!((a, b), (b'-', b' ') | (b' ', b'-'));
    let rest = text.get(name.len()..)?;
    let ends = rest.chars().next().is_none_or(|next| next == ' ');
    (ends && beginning.bytes().zip(name.bytes()).all(is_same)).then_some(rest)
}

/// Whether a word may be a verb in the third person. After a word such as "command", shorter words count too.
fn is_verb(word: &str, is_kind: bool) -> bool {
    let is_long = word.len() > if is_kind { 3 } else { 4 };
    is_long
        && word.ends_with('s')
        && !word.ends_with("ss")
        && word.bytes().all(|b| b.is_ascii_lowercase())
}

/// The first words of a text, in at most this many bytes.
fn first_words(text: &str, bytes: usize) -> &str {
    let Some(start) = text.get(..text.floor_char_boundary(bytes)) else { return text };
    if start.len() == text.len() {
        return text;
    }
    start.rfind(char::is_whitespace).and_then(|end| start.get(..end)).unwrap_or(start)
}

/// The words in lower case, without marks and without the article before them. Underscores within words stay.
fn name(text: &str) -> String {
    let lower = text.trim().to_lowercase();
    let mut name = String::with_capacity(lower.len());
    let mut rest = lower.chars().peekable();
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    while let Some(c) = rest.next() {
        let is_within = is_letter(name.chars().next_back()) && is_letter(rest.peek().copied());
        if !MARKS.contains(&c) && (c != '_' || is_within) {
            name.push(c);
        }
    }
    name.truncate(name.trim_end().len());
    let start = name.trim_start();
    let article = ARTICLES
        .iter()
        .find_map(|article| start.strip_prefix(article).and_then(|rest| rest.strip_prefix(' ')));
    let before = name.len() - article.unwrap_or(start).trim_start().len();
    name.drain(..before);
    name
}

#[cfg(test)]
mod tests;
