//! Draft posts: written for an account, and not published.

use base::refusal::AdsProblem;
use base::{Error, UserId, VocabularyWord};
use serde_json::{Value, json};

use crate::access::Who;
use crate::answer::Answer;
use crate::declare::{Custom, Delete, Field, Filter, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;
use crate::kind::{Ids, Kind};
use crate::preview::{self, Preview};
use crate::record::Record;
use crate::resources::compositions::{self, LIST, is_sound, may_write, media_keys, text};

/// A post that is not published.
pub static DRAFT_POST: Resource = Resource {
    name: "draft_post",
    id: VocabularyWord::new("draft_post_id", "draft_tweet_id"),
    ids: Ids::Long,
    path: "draft_<posts>",
    about: "draft post",
    fields: &[
        Field::text("name", 1, 80),
        text(),
        Field::new("user_id", Kind::User).kept(),
        Field::new("as_user_id", Kind::Long).fixed().hidden(),
        Field::new("nullcast", Kind::Bool).or_flag(true),
        Field::text("card_uri", 1, 64),
        media_keys(),
    ],
    filters: &[Filter::new("user_id", "user_id", Kind::User)],
    count: (100, 200),
    extras: false,
    verbs: &[Verb::Get, Verb::Create, Verb::Update, Verb::Delete],
    reads: Who::CreativeReader,
    writes: Who::PostWriter,
    rules: &[Rule::Within(is_sound)],
    delete: Delete::Hard,
    shows_deleted: false,
    computed: Some(computed),
    ..Resource::DEFAULT
};

/// That it is gone, which is said once.
#[expect(
    clippy::unnecessary_wraps,
    reason = "as every resource works out what it shows"
)]
fn computed(
    _: &mut Desk<'_, '_>,
    drafts: &[Record],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let of = |draft: &Record| {
        let gone = draft.deleted.then(|| ("status", "DELETED".into()));
        gone.into_iter().collect()
    };
    Ok(drafts.iter().map(of).collect())
}

/// The list of them, which is of one user.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsDraftPosts",
        "draft_<posts>",
        "A page of draft posts of a user.",
        |desk: &mut Desk<'_, '_>, given| compositions::list(desk, &DRAFT_POST, given),
    )
    .who(Who::CreativeReader)
    .params(LIST),
    Custom::change(
        "POST",
        "previewAdsDraftPost",
        "draft_<posts>/preview/{draft_post_id}",
        "Tells the caller, in a notification of theirs, where to see what a draft looks like.",
        tell,
    )
    .who(Who::PostWriter)
    .params(&[
        Field::new("draft_post_id", Kind::Reference(&DRAFT_POST, false))
            .older("draft_tweet_id")
            .required(),
    ]),
];

/// Tells the caller where to see it.
fn tell(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let draft = desk.need(&DRAFT_POST, given.int("draft_post_id").unwrap_or(-1))?;
    may_write(desk, UserId::new(draft.int("user_id").unwrap_or(0)))?;
    let account = desk.account()?.record.text("name").to_owned();
    let caller = desk.caller.user;
    let caller = store::users::find_by_id(desk.tx, caller)?.ok_or_else(|| {
        let message = "The caller is not there any longer";
        Error::from(AdsProblem::new("USER_NOT_FOUND", message))
    })?;
    let path = Preview::of(desk, "DRAFT", draft.id, preview::DAY)?.path(&desk.cursor_key);
    let text = format!("A draft post of the advertising account {account} can be looked at.");
    network::notifications::notify_user(desk.tx, caller.id, &text, &path)?;
    let message = format!(
        "See @{}'s notifications to preview your draft post.",
        caller.username
    );
    Ok(Answer::one(&json!({ "message": message })))
}
