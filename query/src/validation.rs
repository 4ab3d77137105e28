//! Semantic checks: every alternative must contain a positive clause that may stand alone.

use crate::ast::{QueryNode, QueryTerm, TermValue};
use crate::error::{QueryFault, QueryProblem};
use crate::operators::{OperatorClass, OperatorKind};
use crate::words::is_stop_word;

pub(crate) fn validate_query(root: &QueryNode, problems: &mut Vec<QueryProblem>) {
    check_sample_scope(root, problems);
    let before = problems.len();
    collect_weak_parts(root, problems);
    if problems.len() > before && !has_positive(root) {
        // Reported once instead of per branch, as the query as a whole only negates.
        problems.truncate(before);
        problems.push(QueryProblem { position: start_position(root), fault: QueryFault::OnlyNegations });
    }
}

/// Adds a problem for each part that may not stand alone. Returns whether the node may.
fn collect_weak_parts(node: &QueryNode, problems: &mut Vec<QueryProblem>) -> bool {
    match node {
        QueryNode::Any(parts) => {
            let mut is_sufficient = true;
            for part in parts {
                is_sufficient &= collect_weak_parts(part, problems);
            }
            is_sufficient
        }
        QueryNode::All(parts) => {
            let mut nested = Vec::new();
            let is_sufficient = parts.iter().any(|part| collect_weak_parts(part, &mut nested));
            if !is_sufficient {
                problems.push(weak_part_problem(node));
            }
            is_sufficient
        }
        QueryNode::Is(term) if stands_alone(term) => true,
        QueryNode::Is(_) | QueryNode::Not(_) => {
            problems.push(weak_part_problem(node));
            false
        }
    }
}

fn weak_part_problem(node: &QueryNode) -> QueryProblem {
    QueryProblem {
        position: start_position(node),
        fault: if has_positive(node) { QueryFault::NothingPositive } else { QueryFault::OnlyNegations },
    }
}

/// Whether a term may be a whole query.
pub(crate) fn stands_alone(term: &QueryTerm) -> bool {
    if term.operator.class != OperatorClass::Standalone {
        return false;
    }
    match (&term.operator.kind, &term.value) {
        (OperatorKind::Words(_), TermValue::Words { text, hashes, .. }) => {
            let plain = term.operator.name() == "keyword";
            !(hashes.is_empty() || plain && is_stop_word(text))
        }
        _ => true,
    }
}

fn has_positive(node: &QueryNode) -> bool {
    match node {
        QueryNode::All(parts) | QueryNode::Any(parts) => parts.iter().any(has_positive),
        QueryNode::Is(_) => true,
        QueryNode::Not(_) => false,
    }
}

fn start_position(node: &QueryNode) -> usize {
    match node {
        QueryNode::All(parts) | QueryNode::Any(parts) => parts.first().map_or(1, start_position),
        QueryNode::Is(term) | QueryNode::Not(term) => term.position,
    }
}

/// `sample:` applies to the whole rule, so it must be on the top level.
fn check_sample_scope(root: &QueryNode, problems: &mut Vec<QueryProblem>) {
    let parts = match root {
        QueryNode::All(parts) | QueryNode::Any(parts) => parts.as_slice(),
        QueryNode::Is(_) | QueryNode::Not(_) => return,
    };
    let is_conjunction = matches!(root, QueryNode::All(_));
    for part in parts {
        match part {
            QueryNode::Is(term) if is_conjunction || term.operator.kind != OperatorKind::Sample => {}
            other => collect_nested_samples(other, problems),
        }
    }
}

fn collect_nested_samples(node: &QueryNode, problems: &mut Vec<QueryProblem>) {
    match node {
        QueryNode::All(parts) | QueryNode::Any(parts) => {
            for part in parts {
                collect_nested_samples(part, problems);
            }
        }
        QueryNode::Is(term) | QueryNode::Not(term) => {
            if term.operator.kind == OperatorKind::Sample {
                problems
                    .push(QueryProblem { position: term.position, fault: QueryFault::WholeRule(term.operator.name()) });
            }
        }
    }
}
