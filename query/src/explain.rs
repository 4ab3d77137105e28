//! A query taken apart for people: what it says, and which of it a post meets.

use crate::ast::{ParsedQuery, QueryNode, QueryTerm};
use crate::evaluate::{node_matches, term_matches};
use crate::facts::PostFeatures;

/// How a part is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClauseKind {
    /// Each of its parts must hold.
    All,
    /// One of its parts must hold.
    Any,
    /// It asks for something.
    Is,
    /// It excludes something.
    Not,
}

/// A part of a query, and whether a post meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedClause {
    /// How it is put together.
    pub kind: ClauseKind,
    /// Its canonical print, with the minus sign where it excludes.
    pub text: String,
    /// Where it begins in the query, counted from 1.
    pub position: usize,
    /// What its operator matches; empty of a group.
    pub description: &'static str,
    /// Whether the post is as this part asks; none without a post.
    pub matches: Option<bool>,
    /// What a group is made of.
    pub children: Vec<ExplainedClause>,
}

impl ParsedQuery {
    /// The query as its parts; with a post, also which of them it meets. Facts must be read as the
    /// query reads ([`Query::reading`]); read otherwise they are no post.
    pub fn explain(&self, facts: Option<&PostFeatures<'_>>) -> ExplainedClause {
        let facts = facts.filter(|facts| facts.match_mode() == self.match_mode());
        explain_node(&self.root, facts)
    }
}

fn explain_node(node: &QueryNode, facts: Option<&PostFeatures<'_>>) -> ExplainedClause {
    let group = |joint, parts: &[QueryNode]| {
        let parts: Vec<ExplainedClause> = parts.iter().map(|one| explain_node(one, facts)).collect();
        ExplainedClause {
            kind: joint,
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
    joint: ClauseKind,
    node: &QueryNode,
    term: &QueryTerm,
    facts: Option<&PostFeatures<'_>>,
) -> ExplainedClause {
    ExplainedClause {
        kind: joint,
        text: node.to_string(),
        position: term.position,
        description: term.operator.description,
        matches: facts.map(|facts| term_matches(term, facts) == (joint == ClauseKind::Is)),
        children: Vec::new(),
    }
}
