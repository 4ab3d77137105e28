//! The page of one user.

use base::{Error, Refusal, SplitRefusal};
use network::profiles::ProfileChanges;
use pages::console::{MintedToken, PersonPage, PostFields, ProfileFields, word_options};
use pages::{FormField, Notice};
use portal::{BrowserVisit, PageExit, PageQuery, exit_page, redirect_to};
use store::users::{User, UserState};
use web::HttpReply;
use web::request_context::RequestContext;

use super::actions::{self, ActionForm, ActionOutcome, NOTICES};
use super::records::load_records;
use super::{PATH, find_user, person_item, person_path};
use crate::console_pages::sign_in;
use crate::refusal_message::refusal_message;

const VERIFIED_TYPES: [&str; 4] = ["none", "blue", "business", "government"];
const SUBSCRIPTION_TYPES: [&str; 4] = ["None", "Basic", "Premium", "PremiumPlus"];

pub(super) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let user = load_user(&call, &visit).await?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let done = query.get("done").and_then(|key| NOTICES.iter().find(|(known, _)| *known == key));
    let mut page = load_page(&call, &visit, &user, query.get("before")).await?;
    page.frame.notices.extend(done.map(|(_, text)| Notice::success(*text)));
    Ok(visit.render_page(&call, &page)?)
}

pub(super) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let (form, next) = (ActionForm::read(&sent), sent.return_path());
    let user = load_user(&call, &visit).await?;
    let (outcome, form) = execute(&call, &user, form).await;
    match outcome.split_refusal()? {
        Ok((ActionOutcome::Done(key), user)) => {
            let path = next.unwrap_or_else(|| person_path(&user.username));
            Ok(redirect_to(&format!("{path}?done={key}")))
        }
        Ok((ActionOutcome::Minted(minted), user)) => show_minted(&call, &visit, &user, minted).await,
        Err(refusal) => {
            let mut page = load_page(&call, &visit, &user, None).await?;
            show_refusal(&mut page, &form, &refusal);
            Ok(visit.render_page(&call, &page)?.status(400))
        }
    }
}

/// Returns the user as changed, and the form, which a refused action shows again.
async fn execute(
    call: &RequestContext,
    user: &User,
    form: ActionForm,
) -> (Result<(ActionOutcome, User), Error>, std::sync::Arc<ActionForm>) {
    let (form, user) = (std::sync::Arc::new(form), user.clone());
    let asked = std::sync::Arc::clone(&form);
    let done = call.write(move |tx| {
        let outcome = actions::execute(tx, &user, &asked)?;
        Ok((outcome, network::users::find(tx, user.id)?))
    });
    (done.await, form)
}

async fn show_minted(
    call: &RequestContext,
    visit: &BrowserVisit,
    user: &User,
    minted: MintedToken,
) -> Result<HttpReply, PageExit> {
    let page = PersonPage { minted: Some(minted), ..load_page(call, visit, user, None).await? };
    Ok(visit.render_page(call, &page)?)
}

async fn load_user(call: &RequestContext, visit: &BrowserVisit) -> Result<User, PageExit> {
    let username = call.path_text("username")?.to_owned();
    match call.read(move |tx| find_user(tx, "username", &username)).await {
        Err(Error::Refused(_)) => Err(exit_page(call, visit, pages::PageErrorKind::NotFound)),
        found => Ok(found?),
    }
}

fn show_refusal(page: &mut PersonPage, form: &ActionForm, refusal: &Refusal) {
    if let Some(changes) = actions::resubmitted_profile(form) {
        let profile = &mut page.profile;
        fill_profile(profile, changes);
        profile.verified_type = word_options(&VERIFIED_TYPES, &form.verified_type);
        profile.subscription_type = word_options(&SUBSCRIPTION_TYPES, &form.subscription_type);
        (profile.protected, profile.parody, profile.receives_dm) = (form.protected, form.parody, form.receives_dm);
    }
    page.post = PostFields {
        text: FormField::new(form.text.as_str()),
        reply_to: FormField::new(form.reply_to.as_str()),
        quote: FormField::new(form.quote.as_str()),
        poll_options: FormField::new(form.poll_options.as_str()),
        poll_minutes: FormField::new(form.poll_minutes.as_str()),
    };
    page.target_post = FormField::new(form.target_post.as_str());
    page.target_user = FormField::new(form.target_user.as_str());
    page.recipient = FormField::new(form.recipient.as_str());
    page.message = FormField::new(form.message.as_str());
    let message = refusal_message(refusal);
    let field = actions::field_at_fault(form, refusal).and_then(|name| field_by_name(page, name));
    match field {
        Some(field) => field.error = Some(message),
        None => page.frame.failure = Some(message),
    }
}

fn fill_profile(profile: &mut ProfileFields, changes: &ProfileChanges) {
    let field = |text: &Option<String>| FormField::new(text.clone().unwrap_or_default());
    profile.username = field(&changes.username);
    profile.name = field(&changes.name);
    profile.description = field(&changes.description);
    profile.location = field(&changes.location);
    profile.url = field(&changes.url);
}

fn field_by_name<'p>(page: &'p mut PersonPage, name: &str) -> Option<&'p mut FormField> {
    Some(match name {
        "username" => &mut page.profile.username,
        "name" => &mut page.profile.name,
        "description" => &mut page.profile.description,
        "location" => &mut page.profile.location,
        "url" => &mut page.profile.url,
        // Their page has no forms to act with.
        _ if !page.is_active => return None,
        "text" => &mut page.post.text,
        "reply_to" => &mut page.post.reply_to,
        "quote" => &mut page.post.quote,
        "poll_options" => &mut page.post.poll_options,
        "poll_minutes" => &mut page.post.poll_minutes,
        "target_post" => &mut page.target_post,
        "target_user" => &mut page.target_user,
        "recipient" => &mut page.recipient,
        "message" => &mut page.message,
        _ => return None,
    })
}

async fn load_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    user: &User,
    before: Option<&str>,
) -> Result<PersonPage, PageExit> {
    let (own, below) = (user.clone(), before.and_then(|text| text.parse().ok()));
    let records = call.read(move |tx| load_records(tx, &own, below)).await?;
    let actor = visit.person.as_ref().filter(|person| person.user.id != user.id);
    let person = person_item(user);
    Ok(PersonPage {
        frame: visit.page_frame(call),
        people: PATH,
        sign_in: sign_in::PATH,
        facts: profile_facts(user),
        created: user.created_at,
        is_active: user.state == UserState::Active,
        profile: profile_fields(user),
        post: PostFields::default(),
        target_post: FormField::default(),
        target_user: FormField::default(),
        recipient: FormField::default(),
        message: FormField::default(),
        apps: records.apps,
        relations: records.relations,
        posts: records.posts,
        pager: portal::build_pager(&person.path, "before", before.is_none(), records.next),
        connected_apps: records.connected_apps,
        lists: records.lists,
        spaces: records.spaces,
        minted: None,
        actor_path: actor.map(|actor| person_path(&actor.user.username)),
        person,
    })
}

fn profile_facts(user: &User) -> Vec<(&'static str, String)> {
    let facts = [
        ("ID", user.id.to_string()),
        ("Biography", user.description.clone()),
        ("Location", user.location.clone()),
        ("Website", user.url.clone()),
        ("Email", user.email.clone()),
        ("Verification", user.verified_type.clone()),
        ("Subscription", user.subscription_type.clone()),
        ("Followers", user.followers_count.to_string()),
        ("Following", user.following_count.to_string()),
    ];
    facts.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn profile_fields(user: &User) -> ProfileFields {
    ProfileFields {
        username: FormField::new(user.username.as_str()),
        name: FormField::new(user.name.as_str()),
        description: FormField::new(user.description.as_str()),
        location: FormField::new(user.location.as_str()),
        url: FormField::new(user.url.as_str()),
        verified_type: word_options(&VERIFIED_TYPES, &user.verified_type),
        subscription_type: word_options(&SUBSCRIPTION_TYPES, &user.subscription_type),
        protected: user.protected,
        parody: user.parody,
        receives_dm: user.receives_dm,
    }
}
