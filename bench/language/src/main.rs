//! Trains the language models of `base` and writes the sentences that they are tested with.

mod corpus;
#[path = "../../../base/src/text/language/ngrams.rs"]
mod ngrams;
mod samples;

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::{env, fs};

use corpus::{GROUPS, Group, SINGLE};
use samples::{Random, Sample};

const EPOCHS: usize = 3;
const LEARNING_RATE: f32 = 0.35;
/// Log-odds that the largest weight stands for.
const WEIGHT_RANGE: f32 = 6.0;
const PHRASES: &str = include_str!("../phrases.tsv");

fn main() -> Result<(), Box<dyn Error>> {
    let root = env::args().nth(1).ok_or("usage: language-trainer REPOSITORY")?;
    let phrases: HashMap<&str, Vec<&str>> =
        PHRASES.lines().filter_map(|line| line.split_once('\t')).fold(HashMap::new(), |mut all, (code, list)| {
            all.entry(code).or_default().extend(list.split('|'));
            all
        });
    let mut tests = String::from(samples::TEST_HEADER);
    for group in GROUPS {
        let file = train(group, &phrases);
        let path = Path::new(&root).join("base/src/text/language").join(group.file);
        fs::write(path, file)?;
        let is_latin = group.file.starts_with("latin");
        group.corpora.iter().for_each(|corpus| samples::write_tests(corpus, is_latin, &mut tests));
    }
    SINGLE.iter().for_each(|corpus| samples::write_tests(corpus, false, &mut tests));
    let path = Path::new(&root).join("base/tests/language/sentences.tsv");
    fs::write(path, tests)?;
    Ok(())
}

/// Multinomial logistic regression over hashed n-grams, with AdaGrad. Returns the file of the model.
fn train(group: &Group, phrases: &HashMap<&str, Vec<&str>>) -> Vec<u8> {
    let mut codes: Vec<&str> = Vec::new();
    for code in group.corpora.iter().map(|corpus| corpus.code).chain(group.phrases_only.iter().copied()) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    let mut random = Random(88_172_645_463_325_252);
    let samples = samples::collect(group, &codes, phrases, &mut random);
    let mut regression = Regression::new(codes.len(), group.bits);
    let mut order: Vec<&Sample> = samples.iter().collect();
    for _ in 0..EPOCHS {
        random.shuffle(&mut order);
        for sample in &order {
            regression.learn(sample.language, &sample.draw(&mut random));
        }
    }
    let mut file = format!("{}\n", codes.join(" ")).into_bytes();
    file.extend(regression.weights.iter().map(|weight| {
        let weight = (weight / WEIGHT_RANGE * 127.0).round().clamp(-127.0, 127.0);
        (weight as i8).cast_unsigned()
    }));
    file
}

struct Regression {
    weights: Vec<f32>,
    /// Sums of the squares of gradients.
    squares: Vec<f32>,
    languages: usize,
    bits: u32,
}

impl Regression {
    fn new(languages: usize, bits: u32) -> Self {
        let size = languages << bits;
        Self { weights: vec![0.0; size], squares: vec![0.0; size], languages, bits }
    }

    fn learn(&mut self, language: usize, text: &str) {
        let mut rows = Vec::new();
        ngrams::hash_ngrams(text, self.bits, |ngram| rows.push(ngram * self.languages));
        if rows.is_empty() {
            return;
        }
        let scale = 1.0 / (rows.len() as f32).sqrt();
        let mut errors = self.probabilities(&rows, scale);
        errors[language] -= 1.0;
        for row in rows {
            for (place, error) in errors.iter().enumerate() {
                let gradient = error * scale;
                self.squares[row + place] += gradient * gradient;
                let rate = LEARNING_RATE / (self.squares[row + place].sqrt() + 0.02);
                self.weights[row + place] -= rate * gradient;
            }
        }
    }

    fn probabilities(&self, rows: &[usize], scale: f32) -> Vec<f32> {
        let mut scores = vec![0.0; self.languages];
        for row in rows {
            for (score, weight) in scores.iter_mut().zip(&self.weights[*row..]) {
                *score += weight * scale;
            }
        }
        let max = scores.iter().copied().fold(f32::MIN, f32::max);
        scores.iter_mut().for_each(|score| *score = (*score - max).exp());
        let sum: f32 = scores.iter().sum();
        scores.iter_mut().for_each(|score| *score /= sum);
        scores
    }
}
