//! Writing a post in the browser, from a share link or as an answer to a conversation card.

use ads_delivery::conversations::{self, CardMediaPaths, ConversationCardContent};
use base::refusal::ResourceRef;
use base::{Error, Id, PostId, Refusal, SplitRefusal};
use network::posts::{self, NewPost, PostAuthor};
use pages::{
    CardMedia, ComposePage, ConversationCardPage, ConversationChoice, FormField, PostSentPage, ThankYouMessage,
};
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::forms::{SESSION_CHANGED, read_form};
use super::post_texts::{length_help, post_error_message};
use super::submitted_forms::{is_submitted, new_form_id, write_once};
use super::{BrowserVisit, MemberVisit, PageExit, SignedInPerson, errors, redirect_to};

pub(crate) const COMPOSE_PATH: &str = "/intent/post";
const SENT_POST_PATH: &str = "/intent/written";

/// The card that a post answers, and the post that the card is attached to.
#[derive(Clone, Copy, Debug, Default)]
struct CardAnswer {
    card: Option<i64>,
    post: Option<PostId>,
}

impl CardAnswer {
    fn parse(text: impl Fn(&'static str) -> Option<String>) -> Self {
        let number = |name| text(name).and_then(|text| Id::<()>::parse(&text));
        Self { card: number("card").map(Id::get), post: number("of").map(|id| PostId::new(id.get())) }
    }

    fn to_pairs(self) -> Vec<(&'static str, String)> {
        let card = self.card.map(|card| ("card", card.to_string()));
        let parent = self.post.map(|parent| ("of", parent.to_string()));
        card.into_iter().chain(parent).collect()
    }
}

fn encode_query(pairs: &[(&'static str, String)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", base::percent::encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn card_media(shown: CardMediaPaths) -> CardMedia {
    CardMedia { picture: shown.image, video: shown.video }
}

/// `GET /cards/{card}/{post}`: a conversation card, as a post carries it.
pub(crate) async fn show_conversation_card(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let uri = call.path_id::<()>("card")?.get();
    let parent: PostId = call.path_id("post")?;
    let found = call.read(move |tx| {
        let carried = conversations::post_has_card(tx, parent, uri)?;
        Ok(conversations::find(tx, uri)?.filter(|_| carried))
    });
    let missing = || Refusal::NotFound(ResourceRef::new("card", "card", uri));
    let card = found.await?.ok_or_else(missing)?;
    let answering = CardAnswer { card: Some(uri), post: Some(parent) };
    let choices = card.options.into_iter().map(|(hashtag, text)| {
        let mut pairs = vec![("text", format!("{text} {hashtag}"))];
        pairs.extend(answering.to_pairs());
        let path = format!("{COMPOSE_PATH}?{}", encode_query(&pairs));
        ConversationChoice { hashtag, path }
    });
    let page = ConversationCardPage {
        frame: visit.page_frame(&call),
        heading: card.title,
        still: card_media(card.media),
        choices: choices.collect(),
    };
    Ok(visit.render_page(&call, &page)?)
}

/// `GET /intent/post`: the text, an address, hashtags and whom it is by come with the link, as
/// buttons of other sites send them.
pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let query = errors::require_query(&call, &visit)?;
    let get = |name: &'static str| query.get(name).map(str::to_owned);
    let mut text: Vec<String> = get("text").into_iter().chain(get("url")).collect();
    let hashtags = get("hashtags").unwrap_or_default();
    let hashtags = hashtags.split(',').map(|tag| tag.trim().trim_start_matches('#'));
    text.extend(hashtags.filter(|tag| !tag.is_empty()).map(|tag| format!("#{tag}")));
    text.extend(get("via").map(|via| format!("via @{}", via.trim_start_matches('@'))));
    let mut hidden = CardAnswer::parse(get).to_pairs();
    let reply = get("in_reply_to").filter(|id| PostId::parse(id).is_some());
    hidden.extend(reply.map(|id| ("in_reply_to", id)));
    compose_page(&call, &visit, FormField::new(text.join(" ")), hidden)
}

fn compose_page(
    call: &RequestContext,
    visit: &MemberVisit,
    text: FormField,
    mut hidden: Vec<(&'static str, String)>,
) -> Result<HttpReply, PageExit> {
    hidden.push(("form", new_form_id(call)?));
    let page = ComposePage {
        frame: visit.page_frame(call),
        action: COMPOSE_PATH.to_owned(),
        text,
        help: length_help(&visit.person.user),
        is_reply: hidden.iter().any(|(name, _)| *name == "in_reply_to"),
        hidden,
    };
    Ok(visit.render_page(call, &page)?)
}

pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let (form, is_current) = read_form(&call, &visit).await?;
    let form_id = form.text("form");
    let profile = format!("/{}", visit.person.user.username);
    if !is_current && is_submitted(&call, visit.person.user.id, &form_id).await? {
        return Ok(redirect_to(&profile));
    }
    let answering = CardAnswer::parse(|name| form.optional_text(name));
    let reply_to = form.optional_text("in_reply_to");
    let text = form.text("text").replace("\r\n", "\n");
    let new = NewPost {
        text: text.clone(),
        reply_to: reply_to.as_deref().and_then(PostId::parse),
        auto_populate_reply_metadata: true,
        ..NewPost::default()
    };
    let mut hidden = answering.to_pairs();
    if !is_current {
        hidden.extend(reply_to.map(|id| ("in_reply_to", id)));
        let text = FormField::invalid(text, SESSION_CHANGED.to_owned());
        return Ok(compose_page(&call, &visit, text, hidden)?.status(403));
    }
    let entered = new.clone();
    let author = PostAuthor { user_id: visit.person.user.id, app_id: None, self_serve: false };
    let created = write_once(&call, author.user_id, &form_id, move |tx| {
        let created = posts::create(tx, &author, &new)?;
        if let CardAnswer { card: Some(card), post: Some(parent) } = answering {
            conversations::record_card_answer(tx, author.user_id, &created, (parent, card))?;
        }
        Ok(created)
    });
    match created.await.split_refusal()? {
        Ok(None) => Ok(redirect_to(&profile)),
        Ok(Some(created)) => {
            hidden.push(("id", created.id.to_string()));
            Ok(redirect_to(&format!("{SENT_POST_PATH}?{}", encode_query(&hidden))))
        }
        Err(refusal) => {
            let why = post_error_message(&visit.person.user, &entered, &refusal);
            hidden.extend(reply_to.map(|id| ("in_reply_to", id)));
            let page = compose_page(&call, &visit, FormField::invalid(text, why), hidden)?;
            Ok(page.status(400))
        }
    }
}

/// `GET /intent/written`: one's own post, and what the card shows that it answers.
pub(crate) async fn show_sent_post(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let query = errors::require_query(&call, &visit)?;
    let get = |name: &'static str| query.get(name).map(str::to_owned);
    let (text, id, card) = find_sent_post(&call, &visit.person, get("id"), CardAnswer::parse(get)).await?;
    let page = PostSentPage {
        frame: visit.page_frame(&call),
        text,
        id,
        thanks: card.map(|card| ThankYouMessage {
            text: card.thank_you_text,
            link: Some(card.thank_you_url).filter(|url| !url.is_empty()),
            unlocked: card_media(card.unlocked_media),
        }),
    };
    Ok(visit.render_page(&call, &page)?)
}

async fn find_sent_post(
    call: &RequestContext,
    person: &SignedInPerson,
    id: Option<String>,
    answering: CardAnswer,
) -> Result<(String, String, Option<ConversationCardContent>), Error> {
    let (user, named) = (person.user.id, id.unwrap_or_default());
    let id = PostId::parse(&named).unwrap_or(PostId::new(0));
    let missing = Refusal::NotFound(ResourceRef::new("tweet", "id", named));
    call.read(move |tx| {
        let post = store::posts::find_by_id(tx, id)?;
        let own = post.filter(|post| post.author_id == user && post.state == store::posts::PostState::Live);
        let own = own.ok_or_else(|| missing.clone())?;
        let card = match (answering.card, answering.post) {
            (Some(card), Some(parent)) if conversations::post_has_card(tx, parent, card)? => {
                conversations::find(tx, card)?
            }
            _ => None,
        };
        let card = card.filter(|card| card.is_answered_by(&own.text));
        Ok((own.text, own.id.to_string(), card))
    })
    .await
}
