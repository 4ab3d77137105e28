//! Receivers of events: whose they are, and what follows when they go.

use base::refusal::No;
use base::{AppId, Refusal, Stop};
use store::webhooks::{self, Webhook};
use store::{Tx, log};

use crate::activity;

/// An app's webhook by its id; another app's is as unknown as none.
pub fn own(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<Webhook, Stop> {
    let found = webhooks::by_id(tx, id)?.filter(|webhook| webhook.app_id == app);
    found.ok_or_else(|| unknown(id).into())
}

/// No webhook of the app has this id.
pub fn unknown(id: i64) -> Refusal {
    let message = format!("WebhookIdInvalid: No webhook of this app has the id [{id}].");
    Refusal::worded(No::Missing, "webhook_id", id, message)
}

/// Removes an app's webhook with its links; nothing of it is sent any more.
pub fn delete(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<(), Stop> {
    let webhook = own(tx, app, id)?;
    remove(tx, &webhook)
}

/// Removes every webhook of an app.
pub(crate) fn delete_of_app(tx: &mut Tx<'_>, app: AppId) -> Result<(), Stop> {
    for webhook in webhooks::of_app(tx, app)? {
        remove(tx, &webhook)?;
    }
    Ok(())
}

fn remove(tx: &mut Tx<'_>, webhook: &Webhook) -> Result<(), Stop> {
    webhooks::delete(tx, webhook.id)?;
    activity::end_of_webhook(tx, webhook.id)?;
    Ok(log::append(
        tx,
        "webhook.delete",
        webhook.app_id.get(),
        webhook.id,
        "",
    )?)
}
