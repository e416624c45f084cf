//! Text for measurements: English-like words with a natural distribution of frequencies, the same
//! in every run.

/// A generator of pseudo-random numbers, the same in every run (SplitMix64, Steele et al. 2014).
pub(crate) struct Numbers(u64);

impl Numbers {
    /// A generator with this seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// A number from 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

const VOCABULARY: f64 = 20_000.0;
const GLUE: [&str; 12] =
    ["the", "of", "and", "is", "in", "to", "with", "for", "that", "from", "by", "on"];

/// A word: half of them function words, the others from 20,000 by Zipf's law.
pub(crate) fn word(numbers: &mut Numbers) -> String {
    if numbers.below(2) == 0 {
        let index = numbers.below(GLUE.len() as u64) as usize;
        return GLUE.get(index).copied().unwrap_or("the").to_owned();
    }
    // The inverse of the harmonic series' integral: rank r has a probability of about 1/r.
    let rank = VOCABULARY.powf(numbers.share()) as u64;
    content_word(rank)
}

/// The content word with that rank, made of syllables.
fn content_word(rank: u64) -> String {
    const SYLLABLES: [&str; 24] = [
        "ba", "den", "ri", "tol", "mu", "sek", "la", "von", "pi", "gar", "ne", "shu", "ko", "mil",
        "ta", "ferr", "zo", "quin", "ha", "dros", "wel", "ci", "jan", "lop",
    ];
    let mut numbers = Numbers::new(rank);
    let count = 2 + numbers.below(3);
    let syllable = |index: u64| SYLLABLES.get(index as usize).copied().unwrap_or("ba");
    (0..count).map(|_| syllable(numbers.below(24))).collect()
}

/// A sentence of 8 to 20 words.
pub(crate) fn sentence(numbers: &mut Numbers) -> String {
    let count = 8 + numbers.below(13);
    let words: Vec<_> = (0..count).map(|_| word(numbers)).collect();
    let mut text = words.join(" ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text + "."
}

/// A text of at most `chars` characters in paragraphs of a few sentences.
pub(crate) fn text(numbers: &mut Numbers, chars: usize) -> String {
    let mut text = String::with_capacity(chars);
    let mut sentences = 0;
    loop {
        let sentence = sentence(numbers);
        if text.len() + sentence.len() + 2 > chars {
            return text;
        }
        text.push_str(&sentence);
        sentences += 1;
        text.push_str(if sentences % 5 == 0 { "\n\n" } else { " " });
    }
}

/// A question about a text: some of the longer words of one of its sentences.
pub(crate) fn question(numbers: &mut Numbers, text: &str) -> String {
    let sentences: Vec<&str> = sentences(text).collect();
    let index = numbers.below(sentences.len() as u64) as usize;
    about(sentences.get(index).copied().unwrap_or(text))
}

/// A question about each sentence of a text.
pub(crate) fn questions(text: &str) -> impl Iterator<Item = String> {
    sentences(text).map(about)
}

/// The same question with its words in another order, so that it is another text about the same passage.
pub(crate) fn reordered(numbers: &mut Numbers, question: &str) -> String {
    let words = question.strip_prefix(ASKS).unwrap_or(question).trim_end_matches('?');
    let mut words: Vec<&str> = words.split(' ').collect();
    shuffle(numbers, &mut words);
    format!("{ASKS}{}?", words.join(" "))
}

/// A question that is practically never asked again: five of the longer words of two sentences of a text, one after the
/// other, in random order.
pub(crate) fn new_question(numbers: &mut Numbers, text: &str) -> String {
    let sentences: Vec<&str> = sentences(text).collect();
    let index = numbers.below(sentences.len().saturating_sub(1) as u64) as usize;
    let two = sentences.get(index..).unwrap_or_default().iter().take(2);
    let mut words: Vec<&str> = two.flat_map(|sentence| long_words(sentence)).collect();
    shuffle(numbers, &mut words);
    words.truncate(5);
    format!("{ASKS}{}?", words.join(" "))
}

/// Brings the items into a random order.
pub(crate) fn shuffle<T>(numbers: &mut Numbers, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, numbers.below(last as u64 + 1) as usize);
    }
}

/// How each question begins.
const ASKS: &str = "What is the ";

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split('.').filter(|sentence| sentence.len() > 40)
}

fn about(sentence: &str) -> String {
    let words: Vec<&str> = long_words(sentence).take(5).collect();
    format!("{ASKS}{}?", words.join(" "))
}

fn long_words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split_whitespace().filter(|word| word.len() > 4)
}
