//! `locum sign`.

use base::Error;
use clap::{Args, Subcommand};
use identity::explain::{self, SignatureExplainRequest, SignedRequestExplanation};
use serde_json::{Value, json};

use super::request::LocalInputs;
use crate::Instance;
use crate::command_error::CommandError;

#[derive(Clone, Debug, Subcommand)]
pub enum SignCommand {
    /// Explain why a request's OAuth 1.0a signature is valid or not
    Explain(SignedRequest),
}

#[derive(Args, Clone, Debug)]
pub struct SignedRequest {
    /// The full request URL, including the query
    address: String,
    /// The Authorization header, or - to read it from stdin
    #[arg(default_value = "-")]
    header: String,
    /// The request method
    #[arg(long, short = 'X', default_value = "GET")]
    method: String,
    /// The body, if it is application/x-www-form-urlencoded; other bodies are not signed
    #[arg(long, value_name = "BODY")]
    form: Option<String>,
    /// The base string that your code builds, to compare with the server's
    #[arg(long, value_name = "TEXT")]
    pub base_string: Option<String>,
}

impl SignCommand {
    pub(super) fn read_header(&mut self, inputs: &mut LocalInputs) -> Result<(), CommandError> {
        let Self::Explain(request) = self;
        if request.header == "-" {
            request.header = inputs.read_stdin()?;
        }
        Ok(())
    }
}

/// The answer contains no secret.
pub(super) async fn execute(instance: &Instance, command: SignCommand) -> Result<Value, Error> {
    let SignCommand::Explain(request) = command;
    let skew = instance.settings.auth.oauth1_timestamp_skew.as_ms();
    let asked = SignatureExplainRequest {
        method: request.method,
        url: request.address,
        authorization: request.header,
        form: request.form,
        base_string: request.base_string,
    };
    let work = move |tx: &mut store::Tx<'_>| explain::explain_signature(tx, &asked, skew);
    instance.store.read(work).await.map(|found| render_explanation(&found))
}

fn render_explanation(found: &SignedRequestExplanation) -> Value {
    let failures = found.failures.iter();
    let failures: Vec<Value> =
        failures.map(|(check, message)| json!({"check": check.name(), "message": message})).collect();
    json!({
        "valid": found.is_valid,
        "app": found.app,
        "base_string": found.base_string,
        "differs_at": found.differs_at,
        "expected_signature": found.expected,
        "presented_signature": found.presented,
        "failures": failures,
        "hints": found.hints,
    })
}
