//! The list of users, its search, and the form of a new user.

use base::{Error, Refusal, Secret, SplitRefusal, UserId};
use network::audit::{self, AuditAction, AuditActor};
use network::people::{self, UserSearchKey, UserSearchRange};
use network::users::{self, NewUser};
use pages::console::PeoplePage;
use pages::{FormField, Notice};
use portal::{BrowserVisit, PageExit, PageQuery, build_pager, cut_page, redirect_to};
use serde_json::json;
use store::Tx;
use store::users::{User, UserState};
use web::HttpReply;
use web::request_context::RequestContext;

use super::{PATH, person_item, person_path};
use crate::console_pages::sign_in;
use crate::refusal_message::refusal_message;

const PAGE_SIZE: i64 = 30;
/// Of every demo user too.
const PASSWORD: &str = "dev";

#[derive(Clone, Default)]
struct NewUserForm {
    username: FormField,
    name: FormField,
    description: FormField,
}

pub(super) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    render(&call, &visit, NewUserForm::default()).await
}

pub(super) async fn create(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let rng = call.store_context().rng.clone();
    let pool = &call.state.page_context.sign_in_gate.pool;
    let hash = pool.hash(&Secret::new(PASSWORD), &rng).await?;
    let new = NewUser {
        username: sent.text("username").trim().trim_start_matches('@').to_owned(),
        name: sent.text("name").trim().to_owned(),
        description: sent.text("description").trim().to_owned(),
        password_hash: Some(hash),
        ..NewUser::default()
    };
    let mut form = NewUserForm {
        username: FormField::new(new.username.as_str()),
        name: FormField::new(new.name.as_str()),
        description: FormField::new(new.description.as_str()),
    };
    let created = call.write(move |tx| {
        let user = users::create(tx, &new)?;
        audit::append(
            tx,
            &AuditActor::operator(),
            AuditAction::USER_CREATE,
            None,
            &json!({"user": user.id.to_string()}),
        )?;
        Ok(user)
    });
    match created.await.split_refusal()? {
        Ok(user) => Ok(redirect_to(&format!("{}?done=created", person_path(&user.username)))),
        Err(refusal) => {
            form.mark(&refusal);
            Ok(render(&call, &visit, form).await?.status(400))
        }
    }
}

impl NewUserForm {
    fn mark(&mut self, refusal: &Refusal) {
        let field = match refusal.first_parameter() {
            "name" => &mut self.name,
            "description" => &mut self.description,
            _ => &mut self.username,
        };
        field.error = Some(refusal_message(refusal));
    }
}

async fn render(call: &RequestContext, visit: &BrowserVisit, form: NewUserForm) -> Result<HttpReply, PageExit> {
    let query = PageQuery::from_call(call).unwrap_or_default();
    let searched = query.get("q").unwrap_or_default().trim().to_owned();
    let after = query.get("after").unwrap_or_default().to_owned();
    let (text, position) = (searched.clone(), after.clone());
    let (users, next) = call.read(move |tx| find_page(tx, &text, &position)).await?;
    let first =
        if searched.is_empty() { PATH.to_owned() } else { format!("{PATH}?q={}", base::percent::encode(&searched)) };
    let mut frame = visit.page_frame(call);
    frame.notices.extend((query.get("done") == Some("deleted")).then(|| Notice::success("The user was deleted.")));
    let page = PeoplePage {
        frame,
        path: PATH,
        sign_in: sign_in::PATH,
        people: users.iter().map(person_item).collect(),
        pager: build_pager(&first, "after", after.is_empty(), next),
        query: FormField::new(searched),
        username: form.username,
        name: form.name,
        description: form.description,
    };
    Ok(visit.render_page(call, &page)?)
}

/// A page of users, and where the next starts.
fn find_page(tx: &mut Tx<'_>, searched: &str, after: &str) -> Result<(Vec<User>, Option<String>), Error> {
    if searched.is_empty() {
        return list_page(tx, after);
    }
    if let Some(user) = UserId::parse(searched).map(|id| store::users::find_by_id(tx, id)).transpose()?.flatten() {
        return Ok((vec![user], None));
    }
    let limit = usize::try_from(PAGE_SIZE).unwrap_or(usize::MAX);
    let range = UserSearchRange { from: parse_key(after), backward: false, limit };
    let found = people::search(tx, searched.trim_start_matches('@'), &range)?;
    let last = found.scanned_range.filter(|_| found.more).map(|(_, last)| last);
    Ok((found.users, last.map(|[field, word, user]| format!("{field}.{word}.{user}"))))
}

fn list_page(tx: &mut Tx<'_>, after: &str) -> Result<(Vec<User>, Option<String>), Error> {
    let mut users = users::list(tx, UserId::parse(after), PAGE_SIZE + 1)?;
    let last = cut_page(&mut users, PAGE_SIZE, |user| user.id.to_string());
    users.retain(|user| user.state != UserState::Deleted);
    Ok((users, last))
}

fn parse_key(text: &str) -> Option<UserSearchKey> {
    let numbers = text.split('.').map(|number| number.parse().ok());
    let numbers: Vec<i64> = numbers.collect::<Option<_>>()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::parse_key;

    #[test]
    fn positions_of_a_search_are_three_numbers() {
        assert_eq!(parse_key("0.-12.34"), Some([0, -12, 34]));
        for text in ["", "1", "1.2", "1.2.3.4", "a.b.c"] {
            assert_eq!(parse_key(text), None, "{text}");
        }
    }
}
