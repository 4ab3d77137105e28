//! Explains a query: its clauses, and which of them a post meets.

use crate::ast::{ParsedQuery, QueryNode, QueryTerm};
use crate::evaluate::{node_matches, term_matches};
use crate::post_features::PostFeatures;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClauseKind {
    All,
    Any,
    Is,
    Not,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedClause {
    pub kind: ClauseKind,
    /// The canonical text, with the minus sign of a negated clause.
    pub text: String,
    pub position: usize,
    /// What the operator matches; empty for a group.
    pub description: &'static str,
    /// `None` without a post.
    pub matches: Option<bool>,
    pub children: Vec<ExplainedClause>,
}

impl ParsedQuery {
    /// With a post, also tells which clauses it meets. Features of another mode than
    /// [`Self::match_mode`] are ignored.
    pub fn explain(&self, facts: Option<&PostFeatures<'_>>) -> ExplainedClause {
        let facts = facts.filter(|facts| facts.match_mode() == self.match_mode());
        explain_node(&self.root, facts)
    }
}

fn explain_node(node: &QueryNode, facts: Option<&PostFeatures<'_>>) -> ExplainedClause {
    let group = |kind, parts: &[QueryNode]| {
        let parts: Vec<ExplainedClause> = parts.iter().map(|part| explain_node(part, facts)).collect();
        ExplainedClause {
            kind,
            text: node.to_string(),
            position: parts.first().map_or(1, |part| part.position),
            description: "",
            matches: facts.map(|facts| node_matches(node, facts)),
            children: parts,
        }
    };
    match node {
        QueryNode::All(parts) => group(ClauseKind::All, parts),
        QueryNode::Any(parts) => group(ClauseKind::Any, parts),
        QueryNode::Is(term) => explain_term(ClauseKind::Is, node, term, facts),
        QueryNode::Not(term) => explain_term(ClauseKind::Not, node, term, facts),
    }
}

fn explain_term(
    kind: ClauseKind,
    node: &QueryNode,
    term: &QueryTerm,
    facts: Option<&PostFeatures<'_>>,
) -> ExplainedClause {
    ExplainedClause {
        kind,
        text: node.to_string(),
        position: term.position,
        description: term.operator.description,
        matches: facts.map(|facts| term_matches(term, facts) == (kind == ClauseKind::Is)),
        children: Vec::new(),
    }
}
