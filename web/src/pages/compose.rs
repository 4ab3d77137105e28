//! Writing a post in a browser: from a link with a text, or as an answer to a conversation card.

use ads::conversations::{self, CardMediaPaths, ConversationCardContent};
use base::refusal::ResourceRef;
use base::{Error, Id, PostId, Refusal};
use network::posts::{self, NewPost, PostAuthor};
use pages::{Choice, Compose, ConversationCard, Field, Still, Thanks, Written, Wrong};

use super::forms::{self, Query};
use super::{Person, Turn, Visit, errors, run, see};
use crate::call::Call;
use crate::endpoint::Pending;
use crate::reply::Reply;

/// Where posts are written.
pub(crate) const ACTION: &str = "/intent/post";
const WRITTEN: &str = "/intent/written";

/// The card that a post answers, and the post that carries it.
#[derive(Clone, Copy, Debug, Default)]
struct Answering {
    card: Option<i64>,
    of: Option<PostId>,
}

impl Answering {
    fn read(text: impl Fn(&'static str) -> Option<String>) -> Self {
        let number = |name| text(name).and_then(|text| Id::<()>::parse(&text));
        Self {
            card: number("card").map(Id::get),
            of: number("of").map(|id| PostId::new(id.get())),
        }
    }

    fn pairs(self) -> Vec<(&'static str, String)> {
        let card = self.card.map(|card| ("card", card.to_string()));
        let of = self.of.map(|of| ("of", of.to_string()));
        card.into_iter().chain(of).collect()
    }
}

fn query(pairs: &[(&'static str, String)]) -> String {
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{name}={}", base::percent::encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn still(shown: CardMediaPaths) -> Still {
    Still {
        picture: shown.image,
        film: shown.video,
    }
}

/// `GET /cards/{card}/{post}`: a conversation card, as a post carries it.
pub(crate) fn card(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let uri = call.path_id::<()>("card")?.get();
        let of: PostId = call.path_id("post")?;
        let found = call.read(move |tx| {
            let carried = conversations::post_has_card(tx, of, uri)?;
            Ok(conversations::find(tx, uri)?.filter(|_| carried))
        });
        let missing = || Refusal::NotFound(ResourceRef::new("card", "card", uri));
        let card = found.await?.ok_or_else(missing)?;
        let answering = Answering {
            card: Some(uri),
            of: Some(of),
        };
        let choices = card.options.into_iter().map(|(hashtag, text)| {
            let mut pairs = vec![("text", format!("{text} {hashtag}"))];
            pairs.extend(answering.pairs());
            let path = format!("{ACTION}?{}", query(&pairs));
            Choice { hashtag, path }
        });
        let page = ConversationCard {
            frame: visit.frame(&call),
            heading: card.title,
            still: still(card.media),
            choices: choices.collect(),
        };
        Ok(visit.page(&call, &page)?)
    })
}

/// `GET /intent/post`: the text, an address, hashtags and whom it is by come with the link, as
/// buttons of other sites send them.
pub(crate) fn show(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        visit.signed_in(&call)?;
        let asked = match Query::of(&call) {
            Ok(asked) => asked,
            Err(why) => return Ok(errors::page(&call, &visit, Wrong::Request(why), None)?),
        };
        let get = |name: &'static str| asked.get(name).map(str::to_owned);
        let mut text: Vec<String> = get("text").into_iter().chain(get("url")).collect();
        let hashtags = get("hashtags").unwrap_or_default();
        let hashtags = hashtags
            .split(',')
            .map(|tag| tag.trim().trim_start_matches('#'));
        text.extend(
            hashtags
                .filter(|tag| !tag.is_empty())
                .map(|tag| format!("#{tag}")),
        );
        text.extend(get("via").map(|via| format!("via @{}", via.trim_start_matches('@'))));
        let mut with = Answering::read(get).pairs();
        let reply = get("in_reply_to").filter(|id| PostId::parse(id).is_some());
        with.extend(reply.map(|id| ("in_reply_to", id)));
        composer(&call, &visit, Field::of(text.join(" ")), with)
    })
}

fn composer(
    call: &Call,
    visit: &Visit,
    text: Field,
    with: Vec<(&'static str, String)>,
) -> Result<Reply, Turn> {
    let page = Compose {
        frame: visit.frame(call),
        action: ACTION.to_owned(),
        text,
        is_reply: with.iter().any(|(name, _)| *name == "in_reply_to"),
        with,
    };
    Ok(visit.page(call, &page)?)
}

/// `POST /intent/post`.
pub(crate) fn submit(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?;
        let form = forms::taken(&call, &visit).await?;
        let answering = Answering::read(|name| form.given(name));
        let reply_to = form.given("in_reply_to");
        let text = form.text("text").replace("\r\n", "\n");
        let new = NewPost {
            text: text.clone(),
            reply_to: reply_to.as_deref().and_then(PostId::parse),
            auto_populate_reply_metadata: true,
            ..NewPost::default()
        };
        let author = PostAuthor {
            user_id: person.user.id,
            app_id: None,
            self_serve: false,
        };
        let made = call.write(move |tx| {
            let made = posts::create(tx, &author, &new)?;
            if let Answering {
                card: Some(card),
                of: Some(of),
            } = answering
            {
                conversations::record_card_answer(tx, author.user_id, &made, (of, card))?;
            }
            Ok(made)
        });
        let mut with = answering.pairs();
        match made.await {
            Ok(made) => {
                with.push(("id", made.id.to_string()));
                Ok(see(&format!("{WRITTEN}?{}", query(&with))))
            }
            Err(Error::Refused(refusal)) => {
                let why = crate::accents::detail(&refusal).to_owned();
                with.extend(reply_to.map(|id| ("in_reply_to", id)));
                let page = composer(&call, &visit, Field::refused(text, why), with)?;
                Ok(page.status(400))
            }
            Err(failed) => Err(failed.into()),
        }
    })
}

/// `GET /intent/written`: one's own post, and what the card shows that it answers.
pub(crate) fn written(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?;
        let asked = match Query::of(&call) {
            Ok(asked) => asked,
            Err(why) => return Ok(errors::page(&call, &visit, Wrong::Request(why), None)?),
        };
        let get = |name: &'static str| asked.get(name).map(str::to_owned);
        let (text, id, card) = found(&call, person, get("id"), Answering::read(get)).await?;
        let page = Written {
            frame: visit.frame(&call),
            text,
            id,
            thanks: card.map(|card| Thanks {
                text: card.thank_you_text,
                link: Some(card.thank_you_url).filter(|url| !url.is_empty()),
                unlocked: still(card.unlocked_media),
            }),
        };
        Ok(visit.page(&call, &page)?)
    })
}

/// A person's own post, and the card where the post answers it.
async fn found(
    call: &Call,
    person: &Person,
    id: Option<String>,
    answering: Answering,
) -> Result<(String, String, Option<ConversationCardContent>), Error> {
    let (user, named) = (person.user.id, id.unwrap_or_default());
    let id = PostId::parse(&named).unwrap_or(PostId::new(0));
    let missing = Refusal::NotFound(ResourceRef::new("tweet", "id", named));
    call.read(move |tx| {
        let post = store::posts::find_by_id(tx, id)?;
        let own = post
            .filter(|post| post.author_id == user && post.state == store::posts::PostState::Live);
        let own = own.ok_or_else(|| missing.clone())?;
        let card = match (answering.card, answering.of) {
            (Some(card), Some(of)) if conversations::post_has_card(tx, of, card)? => {
                conversations::find(tx, card)?
            }
            _ => None,
        };
        let card = card.filter(|card| card.is_answered_by(&own.text));
        Ok((own.text, own.id.to_string(), card))
    })
    .await
}
