//! Text to tokens with positions, in one pass.

use crate::problem::{Problem, What};

/// A piece of a query.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its first character, counted from 1.
    pub(crate) at: usize,
    /// Whether nothing parts it from what stands before.
    pub(crate) glued: bool,
    pub(crate) piece: Piece,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Open,
    Close,
    Minus,
    Or,
    Word(String),
    Phrase {
        text: String,
        near: Option<String>,
    },
    /// `#`, `@` or `$` and what follows.
    Sign(&'static str, String),
    /// A name and its value.
    Operator(String, String),
    End,
}

/// What remains of a query.
pub(crate) struct Lexer<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            rest: text.chars().peekable(),
            at: 1,
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    fn step(&mut self) -> Option<char> {
        let letter = self.rest.next()?;
        self.at += 1;
        Some(letter)
    }

    fn take(&mut self, fits: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(letter) = self.peek().filter(|letter| fits(*letter)) {
            taken.push(letter);
            self.step();
        }
        taken
    }

    /// What cannot stand where the lexer stands.
    fn stuck(&mut self) -> Problem {
        let found = self
            .peek()
            .map_or_else(|| String::from("<EOF>"), String::from);
        Problem {
            at: self.at,
            what: What::Character(found),
        }
    }

    /// The next token; `End` again and again behind the last.
    pub(crate) fn next(&mut self) -> Result<Token, Problem> {
        let before = self.at;
        while self.peek().is_some_and(char::is_whitespace) {
            self.step();
        }
        let at = self.at;
        let glued = at == before && at > 1;
        let piece = self.piece()?;
        Ok(Token { at, glued, piece })
    }

    fn piece(&mut self) -> Result<Piece, Problem> {
        match self.peek() {
            None => Ok(Piece::End),
            Some('(') => Ok(self.one(Piece::Open)),
            Some(')') => Ok(self.one(Piece::Close)),
            Some('-') => {
                let minus = self.one(Piece::Minus);
                match self.peek() {
                    None => Err(self.stuck()),
                    Some(letter) if letter.is_whitespace() => Err(self.stuck()),
                    Some(_) => Ok(minus),
                }
            }
            Some('"') => {
                let text = self.quoted()?;
                let near = match self.peek() {
                    Some('~') => {
                        self.step();
                        let digits = self.take(|letter| letter.is_ascii_digit());
                        if digits.is_empty() {
                            return Err(self.stuck());
                        }
                        Some(digits)
                    }
                    _ => None,
                };
                Ok(Piece::Phrase { text, near })
            }
            Some('#' | '＃') => self.sign("#"),
            Some('@' | '＠') => self.sign("@"),
            Some('$') => self.sign("$"),
            Some(letter) if is_word(letter) => self.word(),
            Some(_) => Err(self.stuck()),
        }
    }

    fn one(&mut self, piece: Piece) -> Piece {
        self.step();
        piece
    }

    fn sign(&mut self, sign: &'static str) -> Result<Piece, Problem> {
        let stuck = self.stuck();
        self.step();
        let name = self.take(|letter| match letter {
            '.' => sign == "$",
            '-' | '\'' => false,
            other => is_word(other),
        });
        if name.is_empty() {
            return Err(stuck);
        }
        Ok(Piece::Sign(sign, name))
    }

    fn word(&mut self) -> Result<Piece, Problem> {
        let word = self.take(is_word);
        if self.peek() != Some(':') {
            return Ok(if word == "OR" {
                Piece::Or
            } else {
                Piece::Word(word)
            });
        }
        self.step();
        let value = match self.peek() {
            Some('"') => self.quoted()?,
            Some('[') => {
                let inside = self.take(|letter| letter != ']');
                if self.step().is_none() {
                    return Err(Problem {
                        at: self.at,
                        what: What::Unended(']'),
                    });
                }
                inside + "]"
            }
            _ => self.take(|letter| !letter.is_whitespace() && !matches!(letter, '(' | ')' | '"')),
        };
        if value.is_empty() && self.peek() != Some('"') && crate::operators::known(&word) {
            return Err(self.stuck());
        }
        Ok(Piece::Operator(word, value))
    }

    fn quoted(&mut self) -> Result<String, Problem> {
        self.step();
        let mut text = String::new();
        while let Some(letter) = self.step() {
            match letter {
                '"' => return Ok(text),
                '\\' if self.peek() == Some('"') => {
                    text.push('"');
                    self.step();
                }
                other => text.push(other),
            }
        }
        Err(Problem {
            at: self.at,
            what: What::Unended('"'),
        })
    }
}

/// Whether a keyword may hold a character; beyond ASCII every one but white space, and the
/// tokenizer parts words as it does those of posts.
fn is_word(letter: char) -> bool {
    if letter.is_ascii() {
        letter.is_ascii_alphanumeric() || matches!(letter, '_' | '\'' | '.' | '-')
    } else {
        !letter.is_whitespace() && !letter.is_control()
    }
}
