//! The mokaccino crate over the same rules. It has no tokenizer: it gets the words, tags and users
//! from [`PostFeatures`], and phrases as precomputed runs of two to four words, in its favour. Rules
//! that it cannot express (places, substrings of links) are left out.

use std::hint::black_box;
use std::time::Duration;

use mokaccino::prelude::{CNFQueryable, Document, Percolator, Query};
use query::words::{WordField, word_feature};
use query::{MatchMode, OperatorKind, ParsedQuery, PostFeatures, QueryNode, QueryTerm, TermValue};

use crate::posts::Posts;
use crate::{micros, time};

const TEXT: &str = "t";
const FEATURE: &str = "f";
const FLAG: &str = "g";
const LANGUAGE: &str = "l";

pub fn mokaccino(posts: &Posts, rules: &[ParsedQuery], index: f64) {
    let queries: Vec<Query> = rules.iter().filter_map(|rule| translate(rule.root())).collect();
    let before = crate::ALLOCATED.load(std::sync::atomic::Ordering::Relaxed);
    let mut other = Percolator::builder().build();
    let count = queries.len();
    let adding = time(|| {
        for rule in queries {
            other.add_query(rule);
        }
    });
    let allocated = crate::ALLOCATED.load(std::sync::atomic::Ordering::Relaxed) - before;
    let mut documents = Vec::new();
    let building = time(|| {
        for post in &posts.all {
            documents.push(document(&PostFeatures::new(post, MatchMode::Stream)));
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
        allocated / count.max(1),
        index / alone,
        index / whole,
    );
}

fn key(number: u64) -> String {
    format!("{number:x}")
}

fn run(words: &[u64]) -> String {
    words.iter().map(|word| key(*word)).collect::<Vec<_>>().join("-")
}

fn translate(node: &QueryNode) -> Option<Query> {
    match node {
        QueryNode::All(parts) => Some(Query::from_and(parts.iter().map(translate).collect::<Option<_>>()?)),
        QueryNode::Any(parts) => Some(Query::from_or(parts.iter().map(translate).collect::<Option<_>>()?)),
        QueryNode::Is(term) => translate_term(term),
        QueryNode::Not(term) => Some(!translate_term(term)?),
    }
}

fn translate_term(term: &QueryTerm) -> Option<Query> {
    Some(match (&term.value, term.operator.kind) {
        (TermValue::Words { hashes, .. }, OperatorKind::Words(field)) => match &**hashes {
            [word] => FEATURE.has_value(key(word_feature(field, *word))),
            many if field == WordField::Text => {
                let runs = many.windows(many.len().min(4)).map(|words| TEXT.has_value(run(words)));
                Query::from_and(runs.collect())
            }
            many => Query::from_and(
                many.iter()
                    .map(|word| FEATURE.has_value(key(word_feature(field, *word))))
                    .collect(),
            ),
        },
        (TermValue::Feature { feature, .. }, _) => FEATURE.has_value(key(*feature)),
        (TermValue::Flag(bit), _) => FLAG.has_value(key(u64::from(*bit))),
        (TermValue::Language(language), _) => LANGUAGE.has_value(key(u64::from(*language))),
        _ => return None,
    })
}

fn document(facts: &PostFeatures<'_>) -> Document {
    let mut document = Document::new();
    for feature in facts.all_features() {
        document.with_value_mut(FEATURE, key(*feature));
    }
    for words in facts.word_runs(WordField::Text) {
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
