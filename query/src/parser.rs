//! Tokens to a tree, without recursion: time grows with the text alone, depth is bounded.

use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::ast::{Node, Query, Term, Value};
use crate::check;
use crate::dialect::Dialect;
use crate::facts::Reading;
use crate::lexer::{Lexer, Piece, Token};
use crate::operators::{Negation, Operator, keyword};
use crate::problem::{Problem, Problems, What};
use crate::values::value;
use crate::words::{Field, lower, words};

/// The most parentheses that may be open at once.
const DEEPEST: usize = 128;

/// Reads a query. Positions count characters of its composed form (NFC) from 1.
///
/// Faults in values and operators are all reported; a fault in the syntax ends the reading.
pub fn parse(text: &str, dialect: Dialect) -> Result<Query, Problems> {
    if text.trim().is_empty() {
        return Err(Problems::Empty);
    }
    let longest = dialect.longest();
    let length = text.chars().count();
    if length > longest {
        return Err(Problems::TooLong { length, longest });
    }
    let composed: String;
    let text = if is_nfc(text) {
        text
    } else {
        composed = text.nfc().collect();
        &composed
    };
    let mut parser = Parser::new(dialect);
    let root = match parser.run(Lexer::new(text)) {
        Ok(root) => root,
        Err(problem) => {
            parser.problems.push(problem);
            return Err(Problems::Faults(parser.problems));
        }
    };
    if let (None, Some(root)) = (parser.problems.first(), &root) {
        check::check(root, &mut parser.problems);
    }
    match (parser.problems.is_empty(), root) {
        (true, Some(root)) => Ok(Query { root, dialect }),
        (true, None) => Err(Problems::Empty),
        (false, _) => Err(Problems::Faults(parser.problems)),
    }
}

/// A group that is being read.
struct Group {
    /// Whether what stands in it is denied.
    denied: bool,
    branches: Vec<Node>,
    terms: Vec<Node>,
    /// Whether something stands since the last `OR`; terms with faults count.
    stands: bool,
}

impl Group {
    const fn new(denied: bool) -> Self {
        Self {
            denied,
            branches: Vec::new(),
            terms: Vec::new(),
            stands: false,
        }
    }

    fn end_branch(&mut self) {
        let terms = std::mem::take(&mut self.terms);
        self.branches.extend(joined(terms, !self.denied));
        self.stands = false;
    }

    fn end(mut self) -> Option<Node> {
        self.end_branch();
        joined(self.branches, self.denied)
    }
}

/// Nodes as one; `all` says whether each of them must hold.
fn joined(nodes: Vec<Node>, all: bool) -> Option<Node> {
    let mut flat = Vec::with_capacity(nodes.len());
    for node in nodes {
        match node {
            Node::All(inner) if all => flat.extend(inner),
            Node::Any(inner) if !all => flat.extend(inner),
            other => flat.push(other),
        }
    }
    if flat.len() < 2 {
        return flat.pop();
    }
    Some(if all {
        Node::All(flat)
    } else {
        Node::Any(flat)
    })
}

struct Parser {
    dialect: Dialect,
    reading: Reading,
    problems: Vec<Problem>,
    outer: Vec<Group>,
    group: Group,
    minus: Option<usize>,
}

impl Parser {
    const fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            reading: if dialect.product.is_search() {
                Reading::Search
            } else {
                Reading::Stream
            },
            problems: Vec::new(),
            outer: Vec::new(),
            group: Group::new(false),
            minus: None,
        }
    }

    fn run(&mut self, mut lexer: Lexer<'_>) -> Result<Option<Node>, Problem> {
        let mut after = true;
        loop {
            let token = lexer.next()?;
            let starts = !matches!(token.piece, Piece::Close | Piece::End);
            if starts && token.glued && !after {
                return Err(stuck(&token));
            }
            after = matches!(token.piece, Piece::Open | Piece::Minus);
            if matches!(token.piece, Piece::End) {
                return self.finish(&token);
            }
            self.take(token)?;
        }
    }

    fn take(&mut self, token: Token) -> Result<(), Problem> {
        match token.piece {
            Piece::Minus if self.minus.is_none() => self.minus = Some(token.at),
            Piece::Open if self.outer.len() < DEEPEST => {
                let denied = self.group.denied != self.minus.take().is_some();
                let group = std::mem::replace(&mut self.group, Group::new(denied));
                self.outer.push(group);
            }
            Piece::Or if self.group.stands && self.minus.is_none() => self.group.end_branch(),
            Piece::Close if self.group.stands => {
                let Some(outer) = self.outer.pop() else {
                    return Err(Problem {
                        at: token.at,
                        what: What::Unopened,
                    });
                };
                let group = std::mem::replace(&mut self.group, outer);
                self.group.terms.extend(group.end());
                self.group.stands = true;
            }
            Piece::Close if self.outer.is_empty() && self.minus.is_none() => {
                return Err(Problem {
                    at: token.at,
                    what: What::Unopened,
                });
            }
            Piece::Minus | Piece::Open | Piece::Or | Piece::Close | Piece::End => {
                return Err(stuck(&token));
            }
            piece => {
                let minus = self.minus.take();
                let denied = self.group.denied != minus.is_some();
                self.group.stands = true;
                match self.term(piece, minus.unwrap_or(token.at), token.at, denied) {
                    Ok(term) if denied => self.group.terms.push(Node::Not(term)),
                    Ok(term) => self.group.terms.push(Node::Is(term)),
                    Err(problem) => self.problems.push(problem),
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, end: &Token) -> Result<Option<Node>, Problem> {
        if self.minus.is_some() || !self.group.stands {
            return Err(stuck(end));
        }
        if !self.outer.is_empty() {
            return Err(Problem {
                at: end.at,
                what: What::Unclosed,
            });
        }
        Ok(std::mem::replace(&mut self.group, Group::new(false)).end())
    }

    fn term(&self, piece: Piece, at: usize, from: usize, denied: bool) -> Result<Term, Problem> {
        let wrong = |what| Problem { at: from, what };
        let (operator, value) = match piece {
            Piece::Word(word) => {
                if word == "AND" {
                    return Err(wrong(What::Ambiguous("and")));
                }
                if word.eq_ignore_ascii_case("or") {
                    return Err(wrong(What::Ambiguous("or")));
                }
                (keyword(), self.words(&word, None))
            }
            Piece::Phrase { text, near } => {
                let near = self.near(near).map_err(wrong)?;
                (named("\""), self.words(&text, near))
            }
            Piece::Sign(sign, name) => {
                (named(sign), self.value(named(sign), &name).map_err(wrong)?)
            }
            Piece::Operator(name, text) => {
                let operator = self.operator(&name, &text).map_err(wrong)?;
                (operator, self.value(operator, &text).map_err(wrong)?)
            }
            _ => return Err(wrong(What::Character(String::from("<EOF>")))),
        };
        match operator.negation {
            Negation::Never if denied => Err(wrong(What::Negated(operator.name()))),
            Negation::Always if !denied => {
                let field = operator.name().split(':').next_back().unwrap_or_default();
                Err(wrong(What::Field(field.to_owned())))
            }
            _ => Ok(Term {
                at,
                operator,
                value,
            }),
        }
    }

    fn words(&self, text: &str, near: Option<u8>) -> Value {
        let text = lower(text);
        let hashes = words(Field::Text, &text, self.reading);
        Value::Words { text, hashes, near }
    }

    fn near(&self, near: Option<String>) -> Result<Option<u8>, What> {
        let Some(digits) = near else { return Ok(None) };
        if self.dialect.product.is_search() {
            return Err(What::Operator(String::from("~")));
        }
        match digits.parse() {
            Ok(places @ 1..=6) => Ok(Some(places)),
            _ => Err(What::Value("~", digits)),
        }
    }

    fn operator(&self, name: &str, value: &str) -> Result<&'static Operator, What> {
        let lower = name.to_ascii_lowercase();
        let here = |operator: &&Operator| operator.available(self.dialect);
        if matches!(lower.as_str(), "is" | "has") {
            return Operator::find(&format!("{lower}:{value}"))
                .filter(here)
                .ok_or_else(|| What::Field(value.to_owned()));
        }
        Operator::find(&lower)
            .filter(here)
            .ok_or_else(|| What::Operator(name.to_owned()))
    }

    fn value(&self, operator: &'static Operator, text: &str) -> Result<Value, What> {
        if !operator.available(self.dialect) {
            return Err(What::Operator(operator.name().to_owned()));
        }
        value(operator, text, self.reading)
            .ok_or_else(|| What::Value(operator.name(), text.to_owned()))
    }
}

/// The operator of a sign.
fn named(sign: &str) -> &'static Operator {
    Operator::find(sign).unwrap_or_else(keyword)
}

/// The fault of a token that cannot stand where it does.
fn stuck(token: &Token) -> Problem {
    let first = |text: &str| text.chars().next().map(String::from);
    let found = match &token.piece {
        Piece::Open => first("("),
        Piece::Close => first(")"),
        Piece::Minus => first("-"),
        Piece::Or => first("O"),
        Piece::Word(text) | Piece::Operator(text, _) => first(text),
        Piece::Phrase { .. } => first("\""),
        Piece::Sign(sign, _) => first(sign),
        Piece::End => None,
    };
    Problem {
        at: token.at,
        what: What::Character(found.unwrap_or_else(|| String::from("<EOF>"))),
    }
}
