//! Parses tokens into a tree without recursion: linear time, bounded depth.

use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::ast::{ParsedQuery, QueryNode, QueryTerm, TermValue};
use crate::dialect::QueryDialect;
use crate::error::{QueryError, QueryFault, QueryProblem};
use crate::lexer::{QueryLexer, QueryToken, TokenKind};
use crate::operators::{NegationRule, OperatorKind, QueryOperator, keyword_operator};
use crate::post_features::MatchMode;
use crate::validation;
use crate::values::parse_operator_value;
use crate::words::{WordField, hash_words, normalize_case};

/// The maximum nesting of parentheses.
const MAX_DEPTH: usize = 128;

/// Parses a query. Positions count characters of its composed form (NFC) from 1.
///
/// All faults in values and operators are reported; parsing stops at the first syntax error.
pub fn parse(text: &str, dialect: QueryDialect) -> Result<ParsedQuery, QueryError> {
    if text.trim().is_empty() {
        return Err(QueryError::Empty);
    }
    let limit = dialect.max_length();
    let length = text.chars().count();
    if length > limit {
        return Err(QueryError::TooLong { length, limit });
    }
    let composed: String;
    let text = if is_nfc(text) {
        text
    } else {
        composed = text.nfc().collect();
        &composed
    };
    let mut parser = QueryParser::new(dialect);
    let root = match parser.parse_tokens(QueryLexer::new(text)) {
        Ok(root) => root,
        Err(problem) => {
            parser.problems.push(problem);
            return Err(QueryError::Faults(parser.problems));
        }
    };
    if let (None, Some(root)) = (parser.problems.first(), &root) {
        validation::validate_query(root, &mut parser.problems);
    }
    match (parser.problems.is_empty(), root) {
        (true, Some(root)) => Ok(ParsedQuery { root, dialect }),
        (true, None) => Err(QueryError::Empty),
        (false, _) => Err(QueryError::Faults(parser.problems)),
    }
}

struct OpenGroup {
    negated: bool,
    branches: Vec<QueryNode>,
    terms: Vec<QueryNode>,
    /// Whether there is a term since the last `OR`, valid or not.
    has_term: bool,
}

impl OpenGroup {
    const fn new(negated: bool) -> Self {
        Self { negated, branches: Vec::new(), terms: Vec::new(), has_term: false }
    }

    fn finish_branch(&mut self) {
        let mut terms = std::mem::take(&mut self.terms);
        // A sign between words, such as a dash, says nothing beside them.
        if !terms.iter().all(is_wordless) {
            terms.retain(|term| !is_wordless(term));
        }
        self.branches.extend(join_nodes(terms, !self.negated));
        self.has_term = false;
    }

    fn finish(mut self) -> Option<QueryNode> {
        self.finish_branch();
        join_nodes(self.branches, self.negated)
    }
}

/// Whether it is a keyword or phrase of signs alone. One that has only words inside links is none: it matches nothing.
fn is_wordless(node: &QueryNode) -> bool {
    match node {
        QueryNode::Is(term) | QueryNode::Not(term) => {
            let is_text = matches!(term.operator.kind, OperatorKind::Words(WordField::Text));
            is_text
                && matches!(&term.value, TermValue::Words { hashes, text, .. }
                    if hashes.is_empty() && !text.contains(char::is_alphanumeric))
        }
        QueryNode::All(_) | QueryNode::Any(_) => false,
    }
}

fn join_nodes(nodes: Vec<QueryNode>, all: bool) -> Option<QueryNode> {
    let mut flat = Vec::with_capacity(nodes.len());
    for node in nodes {
        match node {
            QueryNode::All(inner) if all => flat.extend(inner),
            QueryNode::Any(inner) if !all => flat.extend(inner),
            other => flat.push(other),
        }
    }
    if flat.len() < 2 {
        return flat.pop();
    }
    Some(if all { QueryNode::All(flat) } else { QueryNode::Any(flat) })
}

struct QueryParser {
    dialect: QueryDialect,
    match_mode: MatchMode,
    problems: Vec<QueryProblem>,
    outer: Vec<OpenGroup>,
    group: OpenGroup,
    minus: Option<usize>,
}

impl QueryParser {
    const fn new(dialect: QueryDialect) -> Self {
        Self {
            dialect,
            match_mode: dialect.match_mode(),
            problems: Vec::new(),
            outer: Vec::new(),
            group: OpenGroup::new(false),
            minus: None,
        }
    }

    fn parse_tokens(&mut self, mut lexer: QueryLexer<'_>) -> Result<Option<QueryNode>, QueryProblem> {
        let mut may_join = true;
        loop {
            let token = lexer.next()?;
            let starts = !matches!(token.kind, TokenKind::Close | TokenKind::End);
            if starts && token.joined_to_previous && !may_join {
                return Err(unexpected_token(&token));
            }
            may_join = matches!(token.kind, TokenKind::Open | TokenKind::Minus);
            if matches!(token.kind, TokenKind::End) {
                return self.finish(&token);
            }
            self.accept_token(token)?;
        }
    }

    fn accept_token(&mut self, token: QueryToken) -> Result<(), QueryProblem> {
        match token.kind {
            TokenKind::Minus if self.minus.is_none() => self.minus = Some(token.position),
            TokenKind::Open if self.outer.len() < MAX_DEPTH => {
                let negated = self.group.negated != self.minus.take().is_some();
                let group = std::mem::replace(&mut self.group, OpenGroup::new(negated));
                self.outer.push(group);
            }
            TokenKind::Or if self.group.has_term && self.minus.is_none() => self.group.finish_branch(),
            TokenKind::Close if self.group.has_term => {
                let Some(outer) = self.outer.pop() else {
                    return Err(QueryProblem { position: token.position, fault: QueryFault::Unopened });
                };
                let group = std::mem::replace(&mut self.group, outer);
                self.group.terms.extend(group.finish());
                self.group.has_term = true;
            }
            TokenKind::Close if self.outer.is_empty() && self.minus.is_none() => {
                return Err(QueryProblem { position: token.position, fault: QueryFault::Unopened });
            }
            TokenKind::Minus | TokenKind::Open | TokenKind::Or | TokenKind::Close | TokenKind::End => {
                return Err(unexpected_token(&token));
            }
            kind => {
                let minus = self.minus.take();
                let negated = self.group.negated != minus.is_some();
                self.group.has_term = true;
                match self.parse_term(kind, minus.unwrap_or(token.position), token.position, negated) {
                    Ok(term) if negated => self.group.terms.push(QueryNode::Not(term)),
                    Ok(term) => self.group.terms.push(QueryNode::Is(term)),
                    Err(problem) => self.problems.push(problem),
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, end: &QueryToken) -> Result<Option<QueryNode>, QueryProblem> {
        if self.minus.is_some() || !self.group.has_term {
            return Err(unexpected_token(end));
        }
        if !self.outer.is_empty() {
            return Err(QueryProblem { position: end.position, fault: QueryFault::Unclosed });
        }
        Ok(std::mem::replace(&mut self.group, OpenGroup::new(false)).finish())
    }

    fn parse_term(
        &self,
        kind: TokenKind,
        start: usize,
        position: usize,
        negated: bool,
    ) -> Result<QueryTerm, QueryProblem> {
        let problem = |fault| QueryProblem { position, fault };
        let (operator, value) = match kind {
            TokenKind::Word(word) => {
                if word == "AND" {
                    return Err(problem(QueryFault::Ambiguous("and")));
                }
                if word.eq_ignore_ascii_case("or") {
                    return Err(problem(QueryFault::Ambiguous("or")));
                }
                (keyword_operator(), self.word_value(&word, None))
            }
            TokenKind::Phrase { text, near } => {
                let near = self.parse_near(near).map_err(problem)?;
                (sign_operator("\""), self.word_value(&text, near))
            }
            TokenKind::Sign(sign, name) => {
                (sign_operator(sign), self.parse_value(sign_operator(sign), &name).map_err(problem)?)
            }
            TokenKind::Operator(name, text) => {
                let operator = self.resolve_operator(&name, &text).map_err(problem)?;
                (operator, self.parse_value(operator, &text).map_err(problem)?)
            }
            _ => return Err(problem(QueryFault::Character(String::from("<EOF>")))),
        };
        match operator.negation {
            NegationRule::Never if negated => Err(problem(QueryFault::Negated(operator.name()))),
            NegationRule::Always if !negated => {
                let field = operator.name().split(':').next_back().unwrap_or_default();
                Err(problem(QueryFault::Field(field.to_owned())))
            }
            _ => Ok(QueryTerm { position: start, operator, value }),
        }
    }

    fn word_value(&self, text: &str, near: Option<u8>) -> TermValue {
        let text = normalize_case(text);
        let hashes = hash_words(WordField::Text, &text, self.match_mode);
        TermValue::Words { text, hashes, near }
    }

    fn parse_near(&self, near: Option<String>) -> Result<Option<u8>, QueryFault> {
        let Some(digits) = near else { return Ok(None) };
        if self.dialect.product.is_search() {
            return Err(QueryFault::Operator(String::from("~")));
        }
        match digits.parse() {
            Ok(distance @ 1..=6) => Ok(Some(distance)),
            _ => Err(QueryFault::Value("~", digits)),
        }
    }

    fn resolve_operator(&self, name: &str, value: &str) -> Result<&'static QueryOperator, QueryFault> {
        let lower = name.to_ascii_lowercase();
        let is_available = |operator: &&QueryOperator| operator.is_available(self.dialect);
        if matches!(lower.as_str(), "is" | "has") {
            return QueryOperator::find(&format!("{lower}:{value}"))
                .filter(is_available)
                .ok_or_else(|| QueryFault::Field(value.to_owned()));
        }
        QueryOperator::find(&lower).filter(is_available).ok_or_else(|| QueryFault::Operator(name.to_owned()))
    }

    fn parse_value(&self, operator: &'static QueryOperator, text: &str) -> Result<TermValue, QueryFault> {
        if !operator.is_available(self.dialect) {
            return Err(QueryFault::Operator(operator.name().to_owned()));
        }
        parse_operator_value(operator, text, self.match_mode)
            .ok_or_else(|| QueryFault::Value(operator.name(), text.to_owned()))
    }
}

fn sign_operator(sign: &str) -> &'static QueryOperator {
    QueryOperator::find(sign).unwrap_or_else(keyword_operator)
}

fn unexpected_token(token: &QueryToken) -> QueryProblem {
    let first = |text: &str| text.chars().next().map(String::from);
    let found = match &token.kind {
        TokenKind::Open => first("("),
        TokenKind::Close => first(")"),
        TokenKind::Minus => first("-"),
        TokenKind::Or => first("O"),
        TokenKind::Word(text) | TokenKind::Operator(text, _) => first(text),
        TokenKind::Phrase { .. } => first("\""),
        TokenKind::Sign(sign, _) => first(sign),
        TokenKind::End => None,
    };
    QueryProblem {
        position: token.position,
        fault: QueryFault::Character(found.unwrap_or_else(|| String::from("<EOF>"))),
    }
}
