//! The crate mokaccino over the same rules. It has no words of its own: it is given the words,
//! tags and users that our reading finds, and phrases as runs of two to four words made before,
//! in its favour. Rules that it cannot say (places, parts of links) are left out for it.

use std::hint::black_box;
use std::time::Duration;

use mokaccino::prelude::{CNFQueryable, Document, Percolator, Query as Other};
use query::words::{Field, word_in};
use query::{Facts, How, Node, Query, Reading, Term, Value};

use crate::posts::Posts;
use crate::{micros, time};

const TEXT: &str = "t";
const FEATURE: &str = "f";
const FLAG: &str = "g";
const LANGUAGE: &str = "l";

pub fn mokaccino(posts: &Posts, rules: &[Query], index: f64) {
    let said: Vec<Other> = rules
        .iter()
        .filter_map(|rule| translate(rule.root()))
        .collect();
    let before = crate::HELD.load(std::sync::atomic::Ordering::Relaxed);
    let mut other = Percolator::builder().build();
    let count = said.len();
    let adding = time(|| {
        for rule in said {
            other.add_query(rule);
        }
    });
    let held = crate::HELD.load(std::sync::atomic::Ordering::Relaxed) - before;
    let mut documents = Vec::new();
    let building = time(|| {
        for post in &posts.all {
            documents.push(document(&Facts::new(post, Reading::Stream)));
        }
    });
    let mut found = 0;
    let mut runs: Vec<Duration> = (0..3)
        .map(|_| {
            found = 0;
            time(|| {
                for document in &documents {
                    found += black_box(other.percolate(document).count());
                }
            })
        })
        .collect();
    runs.sort();
    let posts = posts.all.len() as f64;
    let (alone, whole) = (
        posts / runs[1].as_secs_f64(),
        posts / (runs[1] + building).as_secs_f64(),
    );
    println!(
        "mokaccino: {alone:.0} posts/s, {whole:.0} with its documents made; {:.2} matches a post; \
         {count} of {} rules, add {:.2} µs, {} B a rule: the index is {:.1}× ({:.1}×)",
        found as f64 / posts,
        rules.len(),
        micros(adding, count),
        held / count.max(1),
        index / alone,
        index / whole,
    );
}

fn key(number: u64) -> String {
    format!("{number:x}")
}

fn run(words: &[u64]) -> String {
    words
        .iter()
        .map(|word| key(*word))
        .collect::<Vec<_>>()
        .join("-")
}

fn translate(node: &Node) -> Option<Other> {
    match node {
        Node::All(parts) => Some(Other::from_and(
            parts.iter().map(translate).collect::<Option<_>>()?,
        )),
        Node::Any(parts) => Some(Other::from_or(
            parts.iter().map(translate).collect::<Option<_>>()?,
        )),
        Node::Is(term) => said(term),
        Node::Not(term) => Some(!said(term)?),
    }
}

fn said(term: &Term) -> Option<Other> {
    Some(match (&term.value, term.operator.how) {
        (Value::Words { hashes, .. }, How::Words(field)) => match &**hashes {
            [word] => FEATURE.has_value(key(word_in(field, *word))),
            many if field == Field::Text => {
                let runs = many
                    .windows(many.len().min(4))
                    .map(|words| TEXT.has_value(run(words)));
                Other::from_and(runs.collect())
            }
            many => Other::from_and(
                many.iter()
                    .map(|word| FEATURE.has_value(key(word_in(field, *word))))
                    .collect(),
            ),
        },
        (Value::Feature { feature, .. }, _) => FEATURE.has_value(key(*feature)),
        (Value::Flag(bit), _) => FLAG.has_value(key(u64::from(*bit))),
        (Value::Language(language), _) => LANGUAGE.has_value(key(u64::from(*language))),
        _ => return None,
    })
}

fn document(facts: &Facts<'_>) -> Document {
    let mut document = Document::new();
    for feature in facts.all_features() {
        document.with_value_mut(FEATURE, key(*feature));
    }
    for words in facts.runs(Field::Text) {
        for size in 2..=4 {
            for words in words.windows(size) {
                document.with_value_mut(TEXT, run(words));
            }
        }
    }
    for bit in (0..16)
        .map(|place| 1_u16 << place)
        .filter(|bit| facts.flags() & bit != 0)
    {
        document.with_value_mut(FLAG, key(u64::from(bit)));
    }
    document.with_value_mut(LANGUAGE, key(u64::from(facts.language())));
    document
}
