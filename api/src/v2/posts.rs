//! Posts: look up, create, delete and hide.

use base::{Error, PostId, Refusal, Vocabulary, VocabularyWord};
use identity::apps::AccessLevel;
use network::media::MediaCaption;
use network::polls::NewPoll;
use network::posts::{self, NewPost, PostAuthor};
use network::replies;
use serde_json::json;
use store::posts as stored;
use view::{LookupKeys, ObjectKind};
use web::body::BodyMembers;
use web::pagination::PageTokens;
use web::request_context::{HttpReply, RequestContext};

pub(crate) async fn get_many(call: RequestContext) -> Result<HttpReply, Error> {
    let ids: Vec<PostId> = call.query_ids("ids");
    let request = call.render_request(ObjectKind::POST);
    let vocabulary = request.options.vocabulary;
    let found = call.read(move |tx| {
        let found = stored::find_by_ids_with_authors(tx, &ids, request.viewer.user)?;
        let lookup = LookupKeys { parameter: "ids", values: &ids };
        Ok(view::render_post_lookup(tx, &request, found, lookup)?)
    });
    match vocabulary {
        Vocabulary::Post => call.respond_page(&found.await?, &PageTokens::default()),
        Vocabulary::Tweet => call.respond(&found.await?),
    }
}

pub(crate) async fn get(call: RequestContext) -> Result<HttpReply, Error> {
    let id: PostId = call.path_id("id")?;
    let request = call.render_request(ObjectKind::POST);
    let found = call.read(move |tx| {
        let found = stored::find_by_id_with_author(tx, id, request.viewer.user)?;
        let lookup = LookupKeys { parameter: "id", values: &[id] };
        Ok(view::render_post(tx, &request, found, lookup)?)
    });
    call.respond(&found.await?)
}

pub(crate) async fn create(call: RequestContext) -> Result<HttpReply, Error> {
    let new = parse_new_post(&call)?;
    let caller = call.require_caller()?;
    let author = PostAuthor {
        user_id: call.require_user()?,
        app_id: Some(caller.app_id),
        self_serve: caller.app.access_level == AccessLevel::SelfServe,
    };
    let site = call.site();
    let has_other = EXCLUSIVE_MEMBERS.iter().any(|word| *word != QUOTE && call.body().has(*word));
    let (post, versions, text) = call
        .write(move |tx| {
            let post = posts::create(tx, &author, &new)?;
            // An edit keeps the quote of the version before.
            if has_other && post.quoted_post_id.is_some() {
                return Err(refuse_several_attachments());
            }
            let root = post.edit_root_id;
            let versions = root.map_or(Ok(vec![post.id]), |root| stored::list_versions(tx, root))?;
            let text = view::new_post_text(tx, &post, site)?;
            Ok((post, versions, text))
        })
        .await?;
    let history = VocabularyWord::new("edit_history_post_ids", "edit_history_tweet_ids");
    let versions: Vec<String> = versions.iter().map(PostId::to_string).collect();
    let vocabulary = call.answer_vocabulary().vocabulary;
    let data = json!({
        "id": post.id.to_string(),
        "text": base::text::escape_html(&text),
        history.name_in(vocabulary): versions,
    });
    let posts = VocabularyWord::new("posts", "tweets").name_in(vocabulary);
    Ok(call.respond_data(data)?.location(&format!("/2/{posts}/{}", post.id)))
}

pub(crate) async fn delete(call: RequestContext) -> Result<HttpReply, Error> {
    let (id, user): (PostId, _) = (call.path_id("id")?, call.require_user()?);
    super::wait_for_events_of(&call, id).await;
    call.write(move |tx| posts::delete(tx, user, id)).await?;
    call.respond_data(json!({ "deleted": true }))
}

pub(crate) async fn hide(call: RequestContext) -> Result<HttpReply, Error> {
    let (id, user) = (call.path_id("post_id")?, call.require_user()?);
    let hidden = call.body().required_bool("hidden")?;
    call.write(move |tx| replies::set_hidden(tx, user, id, hidden)).await?;
    call.respond_data(json!({ "hidden": hidden }))
}

const QUOTE: VocabularyWord = VocabularyWord::new("quote_post_id", "quote_tweet_id");
/// A post has at most one of these (contract core §11.1).
const EXCLUSIVE_MEMBERS: [VocabularyWord; 5] = [
    VocabularyWord::same_in_both("poll"),
    QUOTE,
    VocabularyWord::same_in_both("direct_message_deep_link"),
    VocabularyWord::same_in_both("media"),
    VocabularyWord::same_in_both("card_uri"),
];

fn refuse_several_attachments() -> Error {
    let message =
        "You can only provide one of poll or quote_tweet_id or direct_message_deep_link or media or card_uri.";
    Refusal::invalid_parameter("text", "", message).into()
}

fn parse_new_post(call: &RequestContext) -> Result<NewPost, Error> {
    let body = call.body();
    if EXCLUSIVE_MEMBERS.iter().filter(|word| body.has(**word)).count() > 1 {
        return Err(refuse_several_attachments());
    }
    let reply = body.optional_object("reply");
    let target = VocabularyWord::new("in_reply_to_post_id", "in_reply_to_tweet_id");
    let media = body.optional_object("media");
    let edit = body.optional_object("edit_options");
    let flag = |name| body.optional_bool(name).unwrap_or(false);
    let text = |name| body.optional_text(name).unwrap_or_default().to_owned();
    let community = body.optional_id::<()>("community_id");
    if flag("share_with_followers") && community.is_none() {
        let message = "`share_with_followers` goes only with `community_id`";
        return Err(Refusal::invalid_parameter("share_with_followers", true, message).into());
    }
    let geo = body.optional_object("geo");
    let place = geo.map(|geo| geo.required_text("place_id")).transpose()?;
    Ok(NewPost {
        text: text("text"),
        reply_to: reply.map(|reply| reply.required_id(target)).transpose()?,
        exclude_reply_user_ids: reply.map(|reply| reply.id_array("exclude_reply_user_ids")).unwrap_or_default(),
        auto_populate_reply_metadata: reply
            .and_then(|reply| reply.optional_bool("auto_populate_reply_metadata"))
            .unwrap_or(false),
        quote: body.optional_id(QUOTE),
        media_ids: media.map(|media| media.id_array("media_ids")).unwrap_or_default(),
        tagged_user_ids: media.map(|media| media.id_array("tagged_user_ids")).unwrap_or_default(),
        media_caption: media.map(parse_caption).unwrap_or_default(),
        poll: body.optional_object("poll").map(parse_new_poll).transpose()?,
        place_id: place.unwrap_or_default().to_owned(),
        community_id: community.map(base::Id::get),
        share_with_followers: flag("share_with_followers"),
        edit_of: edit.map(|edit| edit.required_id("previous_post_id")).transpose()?,
        reply_settings: parse_reply_settings(body)?,
        nullcast: flag("nullcast"),
        followers_only: flag("for_super_followers_only"),
        made_with_ai: flag("made_with_ai"),
        paid_partnership: flag("paid_partnership"),
        card_uri: text("card_uri"),
        direct_message_deep_link: text("direct_message_deep_link"),
        id: None,
    })
}

fn parse_caption(media: BodyMembers<'_>) -> MediaCaption {
    let text = |name| media.optional_text(name).unwrap_or_default().to_owned();
    MediaCaption { title: text("title"), description: text("description") }
}

fn parse_new_poll(poll: BodyMembers<'_>) -> Result<NewPoll, Error> {
    Ok(NewPoll {
        options: poll.text_array("options").map(str::to_owned).collect(),
        duration_minutes: poll.required_int("duration_minutes")?,
    })
}

/// `poll.reply_settings` must not contradict `reply_settings`.
fn parse_reply_settings(body: BodyMembers<'_>) -> Result<String, Error> {
    const SETTINGS: &str = "reply_settings";
    let poll = body.optional_object("poll");
    let poll_setting = poll.and_then(|poll| poll.optional_text(SETTINGS));
    match (body.optional_text(SETTINGS), poll_setting) {
        (Some(one), Some(other)) if one != other => {
            let message = "`poll.reply_settings` and `reply_settings` say different things";
            Err(Refusal::invalid_parameter("poll.reply_settings", other, message).into())
        }
        (one, other) => Ok(one.or(other).unwrap_or_default().to_owned()),
    }
}
