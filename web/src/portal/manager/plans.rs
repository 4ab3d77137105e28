//! Which form stands where, and what it does.

use ads::resources::targeting_criteria;
use base::Error;
use pages::manager::Link;
use serde_json::Value;
use store::Tx;
use store::posts as stored;

use super::ask::{Desk, text};
use super::creatives::own_user;
use super::forms::{Ask, Plan, Then};
use super::stand::Place;
use super::words;
use super::{advice, audiences, belongs, campaigns, cards, line_items, media, people, posts};

/// What can be deleted, paused or gone back to: the part of the path, the operation's path, what
/// it is called, and the field that names what it is below.
struct Kind {
    part: &'static str,
    path: &'static str,
    about: &'static str,
    below: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        part: "campaigns",
        path: "campaigns/{}",
        about: "campaign",
        below: "",
    },
    Kind {
        part: "line-items",
        path: "line_items/{}",
        about: "line item",
        below: "campaign_id",
    },
    Kind {
        part: "promoted-posts",
        path: "promoted_<posts>/{}",
        about: "promoted post",
        below: "line_item_id",
    },
    Kind {
        part: "promoted-accounts",
        path: "promoted_accounts/{}",
        about: "promoted account",
        below: "line_item_id",
    },
    Kind {
        part: "targeting",
        path: "targeting_criteria/{}",
        about: "targeting criterion",
        below: "line_item_id",
    },
    Kind {
        part: "tracking-tags",
        path: "tracking_tags/{}",
        about: "tracking tag",
        below: "line_item_id",
    },
    Kind {
        part: "scheduled-promoted",
        path: "scheduled_promoted_<posts>/{}",
        about: "promotion of the scheduled post",
        below: "line_item_id",
    },
    Kind {
        part: "media-creatives",
        path: "media_creatives/{}",
        about: "media creative",
        below: "line_item_id",
    },
    Kind {
        part: "calls-to-action",
        path: "preroll_call_to_actions/{}",
        about: "call to action",
        below: "line_item_id",
    },
    Kind {
        part: "categories",
        path: "line_item_curated_categories/{}",
        about: "choice of the curated category",
        below: "line_item_id",
    },
    Kind {
        part: "scheduled",
        path: "scheduled_<posts>/{}",
        about: "scheduled post",
        below: "",
    },
    Kind {
        part: "drafts",
        path: "draft_<posts>/{}",
        about: "draft",
        below: "",
    },
    Kind {
        part: "cards",
        path: "cards/{}",
        about: "card",
        below: "",
    },
    Kind {
        part: "poll-cards",
        path: "cards/poll/{}",
        about: "poll card",
        below: "",
    },
    Kind {
        part: "video-cards",
        path: "cards/video_conversation/{}",
        about: "conversation card",
        below: "",
    },
    Kind {
        part: "image-cards",
        path: "cards/image_conversation/{}",
        about: "conversation card",
        below: "",
    },
    Kind {
        part: "media",
        path: "media_library/{}",
        about: "medium",
        below: "",
    },
    Kind {
        part: "account-media",
        path: "account_media/{}",
        about: "medium of the account",
        below: "",
    },
    Kind {
        part: "audiences",
        path: "custom_audiences/{}",
        about: "audience",
        below: "",
    },
];

/// The form at a place, if there is one.
pub(super) fn plan(tx: &mut Tx<'_>, desk: &Desk, place: &Place) -> Result<Option<Plan>, Error> {
    let found = match (place.part.as_str(), place.id.as_str(), place.act.as_str()) {
        ("campaigns", "new", "") => campaigns::create(tx, desk)?,
        ("campaigns", id, "edit") => campaigns::edit(tx, desk, id)?,
        ("campaigns", id, "line-item") => line_items::create(tx, desk, id)?,
        ("line-items", id, "edit") => line_items::edit(tx, desk, id)?,
        ("line-items", id, "promote") => promote(tx, desk, id)?,
        ("line-items", id, "account") => recommend(tx, desk, id)?,
        ("line-items", id, "target") => target(tx, desk, id)?,
        ("line-items", id, "track") => track(tx, desk, id)?,
        ("line-items", id, "audience") => belongs::audience(tx, desk, id)?,
        ("line-items", id, "scheduled") => belongs::wait(tx, desk, id)?,
        ("line-items", id, "media") => belongs::show(tx, desk, id)?,
        ("line-items", id, "call-to-action") => belongs::call(tx, desk, id)?,
        ("line-items", id, "category") => belongs::curate(tx, desk, id)?,
        ("calls-to-action", id, "edit") => belongs::edit_call(tx, desk, id)?,
        ("categories", id, "edit") => belongs::edit_category(tx, desk, id)?,
        ("tracking-tags", id, "edit") => belongs::edit_tag(tx, desk, id)?,
        ("people", "new", "") => Some(people::add(desk)),
        ("people", id, "edit") => people::edit(tx, desk, id)?,
        ("people", id, "remove") => people::remove(tx, desk, id)?,
        ("recommendations", id, act @ ("apply" | "dismiss")) => Some(advice::plan(desk, id, act)),
        (part @ ("posts" | "scheduled" | "drafts"), "new", "") => posts::create(tx, desk, part)?,
        (part @ ("scheduled" | "drafts"), id, "edit") => posts::edit(tx, desk, part, id)?,
        ("cards", "new", kind) => cards::create(tx, desk, kind)?,
        (part, id, "edit") if cards::is_part(part) => cards::edit(tx, desk, part, id)?,
        ("media", "upload", "") => Some(media::upload(desk)),
        ("media", key, "edit") => media::edit(tx, desk, key)?,
        ("audiences", "new", "") => Some(audiences::create(desk)),
        ("audiences", id, "edit") => audiences::edit(tx, desk, id)?,
        ("audiences", id, "people") => audiences::people(tx, desk, id)?,
        ("audiences", id, "share") => audiences::share(tx, desk, id)?,
        ("audiences", id, "revoke") => Some(audiences::revoke(desk, id)),
        (part, id, act @ ("pause" | "resume")) if !id.is_empty() => turn(desk, part, id, act),
        (part, id, "delete") => return delete(tx, desk, part, id),
        _ => return Ok(None),
    };
    Ok(found)
}

fn turn(desk: &Desk, part: &str, id: &str, act: &str) -> Option<Plan> {
    let (path, back) = match part {
        "campaigns" => ("campaigns/{}", format!("/campaigns/{id}")),
        "line-items" => ("line_items/{}", format!("/line-items/{id}")),
        _ => return None,
    };
    let pauses = act == "pause";
    let status = if pauses { "PAUSED" } else { "ACTIVE" };
    Some(Plan {
        method: "PUT",
        path,
        ids: vec![id.to_owned()],
        fixed: vec![("entity_status", status.to_owned())],
        submit: "",
        done: if pauses { "paused" } else { "resumed" },
        ..Plan::at(desk, &back)
    })
}

fn delete(tx: &mut Tx<'_>, desk: &Desk, part: &str, id: &str) -> Result<Option<Plan>, Error> {
    let Some(kind) = KINDS.iter().find(|kind| kind.part == part) else {
        return Ok(None);
    };
    let found = desk.one(tx, kind.path, id)?;
    let above = text(&found, kind.below);
    let back = match (kind.below, part) {
        ("campaign_id", _) => format!("/campaigns/{above}"),
        ("line_item_id", _) => format!("/line-items/{above}"),
        (_, "scheduled" | "drafts") => "/posts".to_owned(),
        (_, "media" | "account-media") => "/media".to_owned(),
        (_, "audiences") => "/audiences".to_owned(),
        (_, part) if cards::is_part(part) => "/cards".to_owned(),
        _ => String::new(),
    };
    let name = match text(&found, "name") {
        "" => id,
        name => name,
    };
    let lead = match part {
        "campaigns" => "Its line items go with it. Figures stay. This cannot be undone.",
        "line-items" => "What it promotes goes with it. Figures stay. This cannot be undone.",
        "audiences" => "It comes to nobody any more. This cannot be undone.",
        "promoted-posts" | "promoted-accounts" => "Nothing else is deleted. Figures stay.",
        "scheduled-promoted" => "The scheduled post stays, and is published without promotion.",
        "media" => "Cards and posts that show it already go on.",
        _ => "This cannot be undone.",
    };
    let stops = matches!(
        part,
        "promoted-posts" | "promoted-accounts" | "scheduled-promoted"
    );
    let heading = if stops {
        "Stop promoting it?".to_owned()
    } else {
        format!("Delete the {} {name}?", kind.about)
    };
    Ok(Some(Plan {
        heading,
        lead: lead.to_owned(),
        method: "DELETE",
        path: kind.path,
        ids: vec![id.to_owned()],
        submit: if stops { "Stop promoting" } else { "Delete" },
        danger: true,
        action: desk.path(&format!("/{part}/{id}/delete")),
        done: if stops { "stopped" } else { "deleted" },
        ..Plan::at(desk, &back)
    }))
}

impl Plan {
    /// One that leads back to a page, and does nothing yet.
    pub(super) fn at(desk: &Desk, back: &str) -> Self {
        Self {
            heading: String::new(),
            lead: String::new(),
            trail: Vec::new(),
            method: "POST",
            path: "",
            ids: Vec::new(),
            fixed: Vec::new(),
            asks: Vec::new(),
            submit: "Save",
            danger: false,
            action: desk.path(back),
            back: desk.path(back),
            then: Then::Path(desk.path(back)),
            done: "saved",
            work: None,
            who: None,
            above: Vec::new(),
        }
    }

    /// One below a line item, which is sent along.
    pub(super) fn of_item(desk: &Desk, id: &str, item: &Value, act: &str) -> Self {
        let name = line_items::name_of(item);
        let back = format!("/line-items/{id}");
        Self {
            trail: vec![
                Link::to("Campaigns", desk.path("")),
                Link::to(name, desk.path(&back)),
            ],
            fixed: vec![("line_item_id", id.to_owned())],
            action: desk.path(&format!("{back}/{act}")),
            done: "added",
            ..Self::at(desk, &back)
        }
    }
}

/// Posts that one would promote: the newest of the account's own user.
const NEWEST: i64 = 20;

fn promote(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let item = desk.one(tx, "line_items/{}", id)?;
    let mut newest = Vec::new();
    if let Some(user) = own_user(tx, desk)? {
        for post in stored::list_ids_by_author(tx, user, i64::MAX, NEWEST)? {
            let Some(post) = stored::find_by_id(tx, post)? else {
                continue;
            };
            let short: String = post.text.chars().take(80).collect();
            newest.push((post.id.to_string(), short));
        }
    }
    Ok(Some(Plan {
        heading: "Promote a post".to_owned(),
        lead: "People whom the line item targets see it beyond its author’s followers.".to_owned(),
        path: "promoted_<posts>",
        asks: vec![
            Ask::choice("pick", "Post", newest)
                .sent_as("post_ids")
                .or_nothing("Another post")
                .help("The newest posts of the account’s user."),
            Ask::text("post_ids", "IDs of other posts")
                .help("Only if none is chosen above: separated by commas."),
        ],
        submit: "Promote",
        done: "promoted",
        ..Plan::of_item(desk, id, &item, "promote")
    }))
}

fn recommend(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let item = desk.one(tx, "line_items/{}", id)?;
    let user = own_user(tx, desk)?.map(|user| user.to_string());
    Ok(Some(Plan {
        heading: "Promote an account".to_owned(),
        lead: "People whom the line item targets are recommended to follow it.".to_owned(),
        path: "promoted_accounts",
        asks: vec![
            Ask::text("user_id", "User ID")
                .at_first(user.unwrap_or_default())
                .help("The account’s own user, or one who agreed to be promoted."),
        ],
        submit: "Promote",
        done: "promoted",
        ..Plan::of_item(desk, id, &item, "account")
    }))
}

fn target(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let item = desk.one(tx, "line_items/{}", id)?;
    let alone = |kind: &&&str| !targeting_criteria::BATCH_ONLY_TYPES.contains(*kind);
    let kinds: Vec<&str> = targeting_criteria::TARGETING_TYPES
        .iter()
        .filter(alone)
        .copied()
        .collect();
    Ok(Some(Plan {
        heading: "Add targeting".to_owned(),
        lead: "The line item is shown to people who meet one criterion of each kind.".to_owned(),
        path: "targeting_criteria",
        asks: vec![
            Ask::words("targeting_type", "Kind", &kinds).at_first("BROAD_KEYWORD"),
            Ask::words("operator_type", "Meaning", &["EQ", "NE", "GTE", "LT"]),
            Ask::text("targeting_value", "Value").help(
                "A keyword, the ID of a location, a language as en, AGE_18_TO_34, or the ID of \
                 an audience or a user.",
            ),
        ],
        submit: "Add targeting",
        ..Plan::of_item(desk, id, &item, "target")
    }))
}

fn track(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let item = desk.one(tx, "line_items/{}", id)?;
    let kinds = ["IMPRESSION_TAG", "CLICK_TRACKER"];
    Ok(Some(Plan {
        heading: "Add a tracking tag".to_owned(),
        lead: "A partner’s address that is called when the line item is seen or clicked."
            .to_owned(),
        path: "tracking_tags",
        asks: vec![
            Ask::words("tracking_tag_type", "Called when", &kinds),
            Ask::text("tracking_tag_url", "Address").help("It begins with https://"),
        ],
        submit: "Add tag",
        ..Plan::of_item(desk, id, &item, "track")
    }))
}

/// The states that one may be given.
pub(super) fn status(now: &str) -> Ask {
    let words: &[&str] = match now {
        "" | "DRAFT" => &["ACTIVE", "PAUSED", "DRAFT"],
        _ => &["ACTIVE", "PAUSED"],
    };
    let ask = Ask::words("entity_status", "Status", words);
    if now.is_empty() {
        ask
    } else {
        ask.at_first(now)
    }
}

/// The daily and the total budget of a campaign or line item.
pub(super) fn budgets(now: &Value) -> [Ask; 2] {
    let at_first = |name: &str| {
        let micros = super::ask::number(now, name);
        micros.map(words::amount).unwrap_or_default()
    };
    let (daily, total) = (
        "daily_budget_amount_local_micro",
        "total_budget_amount_local_micro",
    );
    [
        Ask::amount(daily, "Daily budget")
            .at_first(at_first(daily))
            .help("In the currency of what pays, as 20.00."),
        Ask::amount(total, "Total budget")
            .at_first(at_first(total))
            .help("For the whole time. It may stay empty."),
    ]
}
