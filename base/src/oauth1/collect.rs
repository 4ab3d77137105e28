//! The parameters of a request from its three places: header, query, form.

use super::base_string::Parameters;
use super::{Request, Unsound, header};
use crate::percent;

/// Of one protocol parameter's name or value, in bytes.
const LONGEST: usize = 4096;
/// Of protocol parameters; a request has seven to nine.
const MOST: usize = 32;
const PREFIX: &str = "oauth_";
const SIGNATURE: &str = "oauth_signature";

/// All that is signed, protocol parameters once each, and the signature until it is taken.
pub(super) struct Collected {
    pub(super) parameters: Parameters,
    in_header: bool,
    protocol: usize,
}

/// Whether a request without an OAuth header is worth reading: one with another scheme is not, nor
/// one whose query and form name no protocol parameter.
pub(super) fn may_be_signed(request: &Request<'_>) -> bool {
    let named = |raw: &[u8]| {
        raw.windows(PREFIX.len())
            .any(|part| part == PREFIX.as_bytes())
    };
    match request.authorization {
        Some(header) => header::is_oauth(header),
        None => named(request.query.as_bytes()) || request.form.is_some_and(named),
    }
}

impl Collected {
    pub(super) fn from(request: &Request<'_>) -> Result<Self, Unsound> {
        let header = match request.authorization {
            Some(header) => header::parse(header)?,
            None => None,
        };
        let mut collected = Self {
            in_header: header.is_some(),
            protocol: 0,
            parameters: Parameters::new(),
        };
        collected.add(header.unwrap_or_default())?;
        collected.add(percent::parse_form(request.query)?)?;
        collected.add(percent::parse_form(request.form.unwrap_or_default())?)?;
        Ok(collected)
    }

    /// Adds one place's parameters. A protocol parameter that an earlier place has too is dropped
    /// when it says the same: clients repeat `oauth_token` in the query and sign it once.
    fn add(&mut self, place: Parameters) -> Result<(), Unsound> {
        let earlier = self.parameters.len();
        for (name, value) in place {
            if !name.starts_with(PREFIX) {
                self.parameters.push((name, value));
                continue;
            }
            self.protocol += 1;
            if self.protocol > MOST || value.len() > LONGEST || name.len() > LONGEST {
                return Err(Unsound::TooLong);
            }
            let there = self.parameters.iter().position(|(other, _)| *other == name);
            match there {
                None => self.parameters.push((name, value)),
                Some(index) if index < earlier && self.value(&name) == Some(&value) => {}
                Some(_) => return Err(Unsound::Duplicate(name)),
            }
        }
        Ok(())
    }

    pub(super) fn is_signed(&self) -> bool {
        let marks = [SIGNATURE, "oauth_consumer_key"];
        self.in_header || marks.iter().any(|name| self.value(name).is_some())
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let mut pairs = self.parameters.iter();
        let found = pairs.find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn required(&self, name: &'static str) -> Result<&str, Unsound> {
        let value = self.value(name).filter(|value| !value.is_empty());
        value.ok_or(Unsound::Missing(name))
    }

    /// Takes the signature out: what remains is what it signs.
    pub(super) fn take_signature(&mut self) -> Result<String, Unsound> {
        let signature = self.required(SIGNATURE)?.to_owned();
        self.parameters.retain(|(name, _)| name != SIGNATURE);
        Ok(signature)
    }

    /// A name that came twice.
    pub(super) fn duplicate(&self) -> Option<String> {
        let mut names: Vec<_> = self.parameters.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        let mut pairs = names.windows(2);
        pairs.find_map(|pair| match pair {
            [one, other] if one == other => Some((*one).clone()),
            _ => None,
        })
    }
}
