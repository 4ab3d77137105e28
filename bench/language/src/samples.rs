//! What the models learn from and are tested with.

use std::collections::HashMap;

use crate::corpus::{Corpus, Group};

/// Every fifth sentence is not learned.
const TEST_SHARE: usize = 5;
/// Test sentences of each length and language.
const TESTS: usize = 17;
const SHORT: std::ops::RangeInclusive<usize> = 15..=40;
const LONG: std::ops::RangeInclusive<usize> = 41..=100;
/// How often a sentence is learned in part, for each time as a whole.
const PARTS: usize = 3;
const PHRASE_WEIGHT: usize = 3;
/// Samples of a language of which there are only phrases.
const PHRASE_SAMPLES: usize = 1_500;
pub const TEST_HEADER: &str = "\
# Written by bench/language. Sentences and parts of sentences which the language models have not learned, from the
# test data of the language model crates of lingua (Apache-2.0, https://github.com/pemistahl/lingua-rs), which come
# from the Wortschatz corpora of Leipzig University (CC BY, https://wortschatz.uni-leipzig.de).
";

pub struct Random(pub u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in (1..list.len()).rev() {
            let other = self.below(place + 1);
            list.swap(place, other);
        }
    }
}

pub struct Sample {
    /// The place of its code.
    pub language: usize,
    text: String,
    in_part: bool,
}

impl Sample {
    /// The whole text, or two to seven words of it.
    pub fn draw(&self, random: &mut Random) -> String {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        if !self.in_part || words.len() < 3 {
            return self.text.clone();
        }
        let count = (2 + random.below(6)).min(words.len());
        let start = random.below(words.len() - count + 1);
        words[start..start + count].join(" ")
    }
}

pub fn collect(group: &Group, codes: &[&str], phrases: &HashMap<&str, Vec<&str>>, random: &mut Random) -> Vec<Sample> {
    let mut samples = Vec::new();
    for corpus in group.corpora {
        let language = codes.iter().position(|code| *code == corpus.code).expect("codes are complete");
        // All languages weigh the same, and those without a code together as much as two.
        let corpora = group.corpora.iter().filter(|other| other.code == corpus.code).count();
        let percent = if corpus.code == "und" { 200 / corpora } else { 100 / corpora };
        let mut add = |text: &str, in_part| samples.push(Sample { language, text: text.to_owned(), in_part });
        for (_, sentence) in corpus.lines("sentences.txt").enumerate().filter(|(place, _)| place % TEST_SHARE > 0) {
            if random.below(100) < percent {
                add(sentence, false);
                (0..PARTS).for_each(|_| add(sentence, true));
            }
        }
        for words in ["single-words.txt", "word-pairs.txt"].into_iter().flat_map(|file| corpus.lines(file)) {
            if random.below(100) < percent {
                add(words, false);
            }
        }
    }
    for (language, code) in codes.iter().enumerate() {
        let phrases = phrases.get(code).map_or(&[][..], Vec::as_slice);
        for phrase in phrases.iter().flat_map(|phrase| [phrase; PHRASE_WEIGHT]) {
            samples.push(Sample { language, text: (*phrase).to_owned(), in_part: false });
        }
        if group.phrases_only.contains(code) {
            samples.extend((0..PHRASE_SAMPLES).map(|_| join_phrases(language, phrases, random)));
        }
    }
    samples
}

fn join_phrases(language: usize, phrases: &[&str], random: &mut Random) -> Sample {
    let count = 2 + random.below(6);
    let words: Vec<&str> = (0..count).map(|_| phrases[random.below(phrases.len())]).collect();
    Sample { language, text: words.join(" "), in_part: false }
}

/// Appends sentences of one language, unless it has no code. Foreign names and headings are left out: in a language
/// of another script all texts with Latin letters.
pub fn write_tests(corpus: &Corpus, is_latin: bool, tests: &mut String) {
    if corpus.code == "und" {
        return;
    }
    let mut random = Random(88_172_645_463_325_252);
    let mut sentences: Vec<&str> = corpus.lines("sentences.txt").step_by(TEST_SHARE).collect();
    sentences.retain(|sentence| is_latin || !sentence.contains(|letter: char| letter.is_ascii_alphabetic()));
    random.shuffle(&mut sentences);
    let long = sentences.iter().copied().filter(|sentence| LONG.contains(&sentence.chars().count()));
    let short = sentences.iter().copied().flat_map(split_clauses);
    for text in long.take(TESTS).chain(short.take(TESTS)) {
        tests.push_str(&format!("{}\t{}\n", corpus.code, text.replace('\t', " ")));
    }
}

fn split_clauses(sentence: &'static str) -> impl Iterator<Item = &'static str> {
    let clauses = sentence.split(|letter: char| ",;:.!?–—()\"„“”«»、。，।۔،؛؟".contains(letter));
    let clauses = clauses.map(|clause| clause.trim_matches([' ', '-', '\'']));
    clauses.filter(|clause| {
        // Where words are not separated, length is all there is to go by.
        let is_spaced = clause.is_ascii() || clause.contains(' ');
        SHORT.contains(&clause.chars().count()) && (!is_spaced || clause.split_whitespace().count() >= 3)
    })
}
