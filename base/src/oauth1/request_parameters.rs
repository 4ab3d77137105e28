//! The parameters of a request from header, query and form.

use super::base_string::Parameters;
use super::{OAuth1Error, OAuth1Request, header};
use crate::percent;

const MAX_PARAMETER_BYTES: usize = 4096;
/// A request has seven to nine.
const MAX_PROTOCOL_PARAMETERS: usize = 32;
const PREFIX: &str = "oauth_";
const SIGNATURE: &str = "oauth_signature";

/// All signed parameters, each protocol parameter once, and the signature until it is taken.
pub(super) struct RequestParameters {
    pub(super) parameters: Parameters,
    in_header: bool,
    protocol_count: usize,
}

/// A cheap check for whether a request may carry OAuth 1.0a credentials.
pub(super) fn may_be_signed(request: &OAuth1Request<'_>) -> bool {
    let named = |raw: &[u8]| raw.windows(PREFIX.len()).any(|part| part == PREFIX.as_bytes());
    match request.authorization {
        Some(header) => header::is_oauth_scheme(header),
        None => named(request.query.as_bytes()) || request.form.is_some_and(named),
    }
}

impl RequestParameters {
    pub(super) fn from_request(request: &OAuth1Request<'_>) -> Result<Self, OAuth1Error> {
        let header = match request.authorization {
            Some(header) => header::parse_oauth1_header(header)?,
            None => None,
        };
        let mut collected = Self { in_header: header.is_some(), protocol_count: 0, parameters: Parameters::new() };
        collected.add_source(header.unwrap_or_default())?;
        collected.add_source(percent::parse_form(request.query)?)?;
        collected.add_source(percent::parse_form(request.form.unwrap_or_default())?)?;
        Ok(collected)
    }

    /// Adds the parameters of one source. A protocol parameter that an earlier source has with the
    /// same value is dropped: clients repeat `oauth_token` in the query and sign it once.
    fn add_source(&mut self, place: Parameters) -> Result<(), OAuth1Error> {
        let earlier = self.parameters.len();
        for (name, value) in place {
            if !name.starts_with(PREFIX) {
                self.parameters.push((name, value));
                continue;
            }
            self.protocol_count += 1;
            if self.protocol_count > MAX_PROTOCOL_PARAMETERS
                || value.len() > MAX_PARAMETER_BYTES
                || name.len() > MAX_PARAMETER_BYTES
            {
                return Err(OAuth1Error::TooLong);
            }
            let existing = self.parameters.iter().position(|(other, _)| *other == name);
            match existing {
                None => self.parameters.push((name, value)),
                Some(index) if index < earlier && self.parameter_value(&name) == Some(&value) => {}
                Some(_) => return Err(OAuth1Error::Duplicate(name)),
            }
        }
        Ok(())
    }

    pub(super) fn is_signed(&self) -> bool {
        let markers = [SIGNATURE, "oauth_consumer_key"];
        self.in_header || markers.iter().any(|name| self.parameter_value(name).is_some())
    }

    pub(super) fn parameter_value(&self, name: &str) -> Option<&str> {
        let mut pairs = self.parameters.iter();
        let found = pairs.find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn require_parameter(&self, name: &'static str) -> Result<&str, OAuth1Error> {
        let value = self.parameter_value(name).filter(|value| !value.is_empty());
        value.ok_or(OAuth1Error::Missing(name))
    }

    pub(super) fn take_signature(&mut self) -> Result<String, OAuth1Error> {
        let signature = self.require_parameter(SIGNATURE)?.to_owned();
        self.parameters.retain(|(name, _)| name != SIGNATURE);
        Ok(signature)
    }

    pub(super) fn find_duplicate_name(&self) -> Option<String> {
        let mut names: Vec<_> = self.parameters.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        let mut pairs = names.windows(2);
        pairs.find_map(|pair| match pair {
            [one, other] if one == other => Some((*one).clone()),
            _ => None,
        })
    }
}
