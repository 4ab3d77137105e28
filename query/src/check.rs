//! Whether a query says anything by itself: every alternative must hold something positive that may
//! stand alone.

use crate::ast::{Node, Term, Value};
use crate::operators::{Class, How};
use crate::problem::{Problem, What};
use crate::words::is_stop;

/// Adds what is wrong with a whole query.
pub(crate) fn check(root: &Node, problems: &mut Vec<Problem>) {
    whole_rule(root, problems);
    let before = problems.len();
    weak(root, problems);
    if problems.len() > before && !has_positive(root) {
        // Not each branch by itself: the query as a whole denies.
        problems.truncate(before);
        problems.push(Problem {
            at: first(root),
            what: What::OnlyNegations,
        });
    }
}

/// Adds a problem for each part that does not stand alone; says whether it does.
fn weak(node: &Node, problems: &mut Vec<Problem>) -> bool {
    match node {
        Node::Any(parts) => {
            let mut strong = true;
            for part in parts {
                strong &= weak(part, problems);
            }
            strong
        }
        Node::All(parts) => {
            let mut inside = Vec::new();
            let strong = parts.iter().any(|part| weak(part, &mut inside));
            if !strong {
                problems.push(nothing(node));
            }
            strong
        }
        Node::Is(term) if stands_alone(term) => true,
        Node::Is(_) | Node::Not(_) => {
            problems.push(nothing(node));
            false
        }
    }
}

fn nothing(node: &Node) -> Problem {
    Problem {
        at: first(node),
        what: if has_positive(node) {
            What::NothingPositive
        } else {
            What::OnlyNegations
        },
    }
}

/// Whether a term may be all that a query says.
pub(crate) fn stands_alone(term: &Term) -> bool {
    if term.operator.class != Class::Standalone {
        return false;
    }
    match (&term.operator.how, &term.value) {
        (How::Words(_), Value::Words { text, hashes, .. }) => {
            let plain = term.operator.name() == "keyword";
            !(hashes.is_empty() || plain && is_stop(text))
        }
        _ => true,
    }
}

fn has_positive(node: &Node) -> bool {
    match node {
        Node::All(parts) | Node::Any(parts) => parts.iter().any(has_positive),
        Node::Is(_) => true,
        Node::Not(_) => false,
    }
}

/// Where a part begins.
fn first(node: &Node) -> usize {
    match node {
        Node::All(parts) | Node::Any(parts) => parts.first().map_or(1, first),
        Node::Is(term) | Node::Not(term) => term.at,
    }
}

/// `sample:` narrows the whole rule, so it stands beside everything else.
fn whole_rule(root: &Node, problems: &mut Vec<Problem>) {
    let below = match root {
        Node::All(parts) | Node::Any(parts) => parts.as_slice(),
        Node::Is(_) | Node::Not(_) => return,
    };
    let top = matches!(root, Node::All(_));
    for part in below {
        match part {
            Node::Is(term) if top || term.operator.how != How::Sample => {}
            other => samples(other, problems),
        }
    }
}

fn samples(node: &Node, problems: &mut Vec<Problem>) {
    match node {
        Node::All(parts) | Node::Any(parts) => {
            for part in parts {
                samples(part, problems);
            }
        }
        Node::Is(term) | Node::Not(term) => {
            if term.operator.how == How::Sample {
                problems.push(Problem {
                    at: term.at,
                    what: What::WholeRule(term.operator.name()),
                });
            }
        }
    }
}
