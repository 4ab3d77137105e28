//! Why a signature holds or does not. In development only: it tells what the server expects.

use base::{Error, Refusal};
use network::explain::{self, SignatureExplainRequest};
use pages::{Explained, Field, SignatureExplainer};

use crate::call::Call;
use crate::endpoint::Pending;
use crate::pages::forms::taken;
use crate::pages::front::LINKS;
use crate::pages::{Visit, run};

/// `GET /developer/explain`.
pub(crate) fn ask(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        Ok(visit.page(&call, &blank(&call, &visit))?)
    })
}

/// `POST /developer/explain`. Nothing is carried out.
pub(crate) fn answer(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let form = taken(&call, &visit).await?;
        let asked = SignatureExplainRequest {
            method: form.text("method"),
            url: form.text("url"),
            authorization: form.text("authorization"),
            form: form.given("body"),
            base_string: form.given("base_string"),
        };
        let mut page = blank(&call, &visit);
        page.method = Field::of(&asked.method);
        page.url = Field::of(&asked.url);
        page.authorization = Field::of(&asked.authorization);
        page.body = Field::of(form.text("body"));
        page.base_string = Field::of(form.text("base_string"));
        let theirs = asked.base_string.clone();
        let skew = call.authenticator().skew_ms();
        let explained = call
            .read(move |tx| explain::explain_signature(tx, &asked, skew))
            .await;
        let mut status = 200;
        match explained {
            Ok(found) => page.explained = Some(said(found, theirs)),
            Err(Error::Refused(Refusal::InvalidParameters(wrong))) => {
                status = 400;
                for wrong in wrong {
                    let error = Some(format!("{}.", wrong.message));
                    match wrong.parameter.as_ref() {
                        "url" => page.url.error = error,
                        _ => page.authorization.error = error,
                    }
                }
            }
            Err(stop) => return Err(stop.into()),
        }
        Ok(visit.page(&call, &page)?.status(status))
    })
}

fn blank(call: &Call, visit: &Visit) -> SignatureExplainer {
    SignatureExplainer {
        frame: visit.frame(call),
        action: LINKS.signature.to_owned(),
        method: Field::of("GET"),
        url: Field::default(),
        authorization: Field::default(),
        body: Field::default(),
        base_string: Field::default(),
        explained: None,
    }
}

fn said(found: explain::SignedRequestExplanation, theirs: Option<String>) -> Explained {
    let sentences = found.failures.into_iter().map(|(_, text)| text);
    Explained {
        holds: found.holds,
        base_string: found.base_string,
        theirs,
        expected: found.expected,
        given: found.presented,
        hints: sentences.chain(found.hints).collect(),
    }
}
