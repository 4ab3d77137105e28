//! Splits a query into tokens with positions, in one pass.

use crate::error::{QueryFault, QueryProblem};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct QueryToken {
    pub(crate) position: usize,
    /// Whether no white space separates it from the previous token.
    pub(crate) joined_to_previous: bool,
    pub(crate) kind: TokenKind,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Open,
    Close,
    Minus,
    Or,
    Word(String),
    Phrase { text: String, near: Option<String> },
    Sign(&'static str, String),
    Operator(String, String),
    End,
}

pub(crate) struct QueryLexer<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    position: usize,
}

impl<'a> QueryLexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text.chars().peekable(), position: 1 }
    }

    fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    fn advance(&mut self) -> Option<char> {
        let letter = self.rest.next()?;
        self.position += 1;
        Some(letter)
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(letter) = self.peek().filter(|letter| fits(*letter)) {
            taken.push(letter);
            self.advance();
        }
        taken
    }

    fn unexpected_character(&mut self) -> QueryProblem {
        let found = self.peek().map_or_else(|| String::from("<EOF>"), String::from);
        QueryProblem { position: self.position, fault: QueryFault::Character(found) }
    }

    /// The next token; after the last, always `End`.
    pub(crate) fn next(&mut self) -> Result<QueryToken, QueryProblem> {
        let before = self.position;
        while self.peek().is_some_and(char::is_whitespace) {
            self.advance();
        }
        let position = self.position;
        let joined_to_previous = position == before && position > 1;
        let kind = self.token_kind()?;
        Ok(QueryToken { position, joined_to_previous, kind })
    }

    fn token_kind(&mut self) -> Result<TokenKind, QueryProblem> {
        match self.peek() {
            None => Ok(TokenKind::End),
            Some('(') => Ok(self.consume_as(TokenKind::Open)),
            Some(')') => Ok(self.consume_as(TokenKind::Close)),
            Some('-') => {
                let minus = self.consume_as(TokenKind::Minus);
                match self.peek() {
                    None => Err(self.unexpected_character()),
                    Some(letter) if letter.is_whitespace() => Err(self.unexpected_character()),
                    Some(_) => Ok(minus),
                }
            }
            Some('"') => {
                let text = self.read_quoted()?;
                let near = match self.peek() {
                    Some('~') => {
                        self.advance();
                        let digits = self.take_while(|letter| letter.is_ascii_digit());
                        if digits.is_empty() {
                            return Err(self.unexpected_character());
                        }
                        Some(digits)
                    }
                    _ => None,
                };
                Ok(TokenKind::Phrase { text, near })
            }
            Some('#' | '＃') => self.read_sign("#"),
            Some('@' | '＠') => self.read_sign("@"),
            Some('$') => self.read_sign("$"),
            Some(letter) if is_word_character(letter) => self.read_word(),
            Some(_) => Err(self.unexpected_character()),
        }
    }

    fn consume_as(&mut self, kind: TokenKind) -> TokenKind {
        self.advance();
        kind
    }

    fn read_sign(&mut self, sign: &'static str) -> Result<TokenKind, QueryProblem> {
        let error = self.unexpected_character();
        self.advance();
        let name = self.take_while(|letter| match letter {
            '.' => sign == "$",
            '-' | '\'' => false,
            other => is_word_character(other),
        });
        if name.is_empty() {
            return Err(error);
        }
        Ok(TokenKind::Sign(sign, name))
    }

    fn read_word(&mut self) -> Result<TokenKind, QueryProblem> {
        let word = self.take_while(is_word_character);
        if self.peek() != Some(':') {
            return Ok(if word == "OR" { TokenKind::Or } else { TokenKind::Word(word) });
        }
        self.advance();
        let value = match self.peek() {
            Some('"') => self.read_quoted()?,
            Some('[') => {
                let value = self.take_while(|letter| letter != ']');
                if self.advance().is_none() {
                    return Err(QueryProblem { position: self.position, fault: QueryFault::Unterminated(']') });
                }
                value + "]"
            }
            _ => self.take_while(|letter| !letter.is_whitespace() && !matches!(letter, '(' | ')' | '"')),
        };
        if value.is_empty() && self.peek() != Some('"') && crate::operators::is_operator_name(&word) {
            return Err(self.unexpected_character());
        }
        Ok(TokenKind::Operator(word, value))
    }

    fn read_quoted(&mut self) -> Result<String, QueryProblem> {
        self.advance();
        let mut text = String::new();
        while let Some(letter) = self.advance() {
            match letter {
                '"' => return Ok(text),
                '\\' if self.peek() == Some('"') => {
                    text.push('"');
                    self.advance();
                }
                other => text.push(other),
            }
        }
        Err(QueryProblem { position: self.position, fault: QueryFault::Unterminated('"') })
    }
}

/// Whether a character may be part of a keyword: beyond ASCII all but white space and control
/// characters, as the word splitter later separates words as it does in posts.
fn is_word_character(letter: char) -> bool {
    if letter.is_ascii() {
        letter.is_ascii_alphanumeric() || matches!(letter, '_' | '\'' | '.' | '-')
    } else {
        !letter.is_whitespace() && !letter.is_control()
    }
}
