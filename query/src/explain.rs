//! A query taken apart for people: what it says, and which of it a post meets.

use crate::ast::{Node, Query, Term};
use crate::evaluate::{holds, says};
use crate::facts::Facts;

/// How a part is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
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
pub struct Part {
    /// How it is put together.
    pub joint: Joint,
    /// Its canonical print, with the minus sign where it excludes.
    pub text: String,
    /// Where it begins in the query, counted from 1.
    pub at: usize,
    /// What its operator matches; empty of a group.
    pub about: &'static str,
    /// Whether the post is as this part asks; none without a post.
    pub holds: Option<bool>,
    /// What a group is made of.
    pub parts: Vec<Part>,
}

impl Query {
    /// The query as its parts; with a post, also which of them it meets. Facts must be read as the
    /// query reads ([`Query::reading`]); read otherwise they are no post.
    pub fn explained(&self, facts: Option<&Facts<'_>>) -> Part {
        let facts = facts.filter(|facts| facts.reading() == self.reading());
        part(&self.root, facts)
    }
}

fn part(node: &Node, facts: Option<&Facts<'_>>) -> Part {
    let group = |joint, parts: &[Node]| {
        let parts: Vec<Part> = parts.iter().map(|one| part(one, facts)).collect();
        Part {
            joint,
            text: node.to_string(),
            at: parts.first().map_or(1, |part| part.at),
            about: "",
            holds: facts.map(|facts| holds(node, facts)),
            parts,
        }
    };
    match node {
        Node::All(parts) => group(Joint::All, parts),
        Node::Any(parts) => group(Joint::Any, parts),
        Node::Is(term) => leaf(Joint::Is, node, term, facts),
        Node::Not(term) => leaf(Joint::Not, node, term, facts),
    }
}

fn leaf(joint: Joint, node: &Node, term: &Term, facts: Option<&Facts<'_>>) -> Part {
    Part {
        joint,
        text: node.to_string(),
        at: term.at,
        about: term.operator.about,
        holds: facts.map(|facts| says(term, facts) == (joint == Joint::Is)),
        parts: Vec::new(),
    }
}
