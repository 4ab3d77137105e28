//! What belongs to a line item: what it promotes, whom it targets, and what tracks it.

use ads_engine::{AdsRecord, RecordView, RequiredRole, ResourceVerb};
use std::collections::HashMap;

use ads::resources::curated_categories;
use ads::resources::line_items::is_publisher_network;
use ads::resources::scheduled_posts::SCHEDULED_POST;
use base::{Error, Fault, PostId, UserId};
use pages::excerpt;
use pages::manager::{DataTable, PageBlock, TableCell, TableRow};
use serde_json::json;
use store::Tx;
use store::ledger::AdEntity;

use super::labels::{or_dash, post_excerpt, status_badge, word_label};
use super::request::{ManagerAccount, RecordPage};
use super::sections::Section;
use super::stats::EntityStats;
use super::tables::{extendable_table, record_buttons, text_column};

pub(super) fn is_preroll(item: &RecordView) -> bool {
    item.text("objective") == "PREROLL_VIEWS"
}

/// Whether the line item shows media of the account, alone or next to posts.
fn takes_media(item: &RecordView) -> bool {
    let outside = item.texts("placements").into_iter().any(is_publisher_network);
    is_preroll(item) || item.text("product_type") == "MEDIA" || outside
}

pub(super) fn part_blocks(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &RecordView) -> Result<Vec<PageBlock>, Error> {
    let product = item.text("product_type");
    let mut all = Vec::new();
    if product == "PROMOTED_ACCOUNT" {
        all.push(promoted_accounts(tx, ctx, item)?);
    }
    if product != "MEDIA" {
        all.push(promoted_posts(tx, ctx, item)?);
        all.push(scheduled_posts(tx, ctx, item)?);
    }
    if takes_media(item) {
        all.push(media(tx, ctx, item)?);
    }
    if is_preroll(item) {
        all.push(call_to_action(tx, ctx, item)?);
        all.push(category(tx, ctx, item)?);
    }
    all.push(targeting(tx, ctx, item)?);
    all.push(tracking_tags(tx, ctx, item)?);
    Ok(all.into_iter().map(PageBlock::Table).collect())
}

/// A table of one kind of part.
struct PartTable {
    section: &'static str,
    title: &'static str,
    columns: &'static [&'static str],
    /// The label of the link that adds a part, and the action of its form.
    add: (&'static str, &'static str),
    empty: (&'static str, &'static str),
    /// Whether a line item has at most one.
    is_single: bool,
}

impl PartTable {
    fn section(&self) -> Result<&'static Section, Fault> {
        Section::find(self.section).ok_or_else(|| Fault::new(format!("no section {}", self.section)))
    }

    fn load(&self, tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &RecordView) -> Result<RecordPage, Error> {
        ctx.list(tx, self.section()?.resource, json!({ "line_item_ids": [item.id()], "count": 200 }))
    }

    /// `row` returns the name and the cells of a part.
    fn build(
        &self,
        ctx: &ManagerAccount,
        item: &RecordView,
        parts: &RecordPage,
        row: impl Fn(&RecordView) -> (String, Vec<TableCell>),
    ) -> Result<DataTable, Error> {
        let section = self.section()?;
        let rows = parts.rows.iter().map(|part| {
            let (name, cells) = row(part);
            TableRow { name, cells, action_buttons: record_buttons(ctx, section, &part.id()), ..TableRow::default() }
        });
        let rows: Vec<TableRow> = rows.collect();
        let (text, act) = self.add;
        let path = format!("/line-items/{}/{act}", item.id());
        let add = ctx.permitted_link(ResourceVerb::Create, section.resource, text, &path);
        Ok(DataTable {
            title: self.title.to_owned(),
            columns: self.columns.iter().copied().map(text_column).collect(),
            ..extendable_table(add.filter(|_| !self.is_single || rows.is_empty()), rows, self.empty)
        })
    }
}

fn badge_cell(part: &RecordView, name: &str) -> TableCell {
    TableCell::from_badge(status_badge(part.text(name)))
}

fn promoted_posts(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &RecordView) -> Result<DataTable, Error> {
    let table = PartTable {
        section: "promoted-posts",
        title: "Promoted posts",
        columns: &[],
        add: ("Promote post", "promote"),
        empty: ("No promoted posts", "A post is shown once it has passed review."),
        is_single: false,
    };
    let found = table.load(tx, ctx, item)?;
    let figures = EntityStats::load(tx, ctx, AdEntity::PromotedPost, &found.rows)?;
    let ids: Vec<PostId> = found.rows.iter().filter_map(|one| one.int("post_id").map(PostId::new)).collect();
    let posts = store::posts::find_by_ids(tx, &ids)?;
    let texts: HashMap<i64, String> = posts.iter().map(|post| (post.id.get(), post_excerpt(post, 140))).collect();
    let built = table.build(ctx, item, &found, |one| {
        let text = one.int("post_id").and_then(|id| texts.get(&id));
        let text = text.map_or("", String::as_str);
        let post = one.rendered_text("post_id");
        let first = TableCell::from_text(or_dash(text)).with_subtext(format!("Post {post}"));
        let mut cells = vec![first, badge_cell(one, "entity_status"), badge_cell(one, "approval_status")];
        cells.extend(figures.table_cells(one.record.id, item.text("currency")));
        (post, cells)
    })?;
    Ok(DataTable { columns: figures.table_columns("Post", "Review"), ..built })
}

fn promoted_accounts(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &RecordView) -> Result<DataTable, Error> {
    let table = PartTable {
        section: "promoted-accounts",
        title: "Promoted accounts",
        columns: &["User", "Status", "Review"],
        add: ("Promote account", "account"),
        empty: ("No promoted accounts", "Recommend an account for people to follow."),
        is_single: false,
    };
    let found = table.load(tx, ctx, item)?;
    let ids: Vec<UserId> = found.rows.iter().filter_map(|one| one.int("user_id").map(UserId::new)).collect();
    let users = store::users::find_by_ids(tx, &ids)?;
    table.build(ctx, item, &found, |one| {
        let id = one.rendered_text("user_id");
        let user = users.iter().find(|user| Some(user.id.get()) == one.int("user_id"));
        let name = user.map_or_else(|| id.clone(), |user| format!("@{}", user.username));
        let first = TableCell::from_text(name.clone()).with_subtext(id);
        (name, vec![first, badge_cell(one, "entity_status"), badge_cell(one, "approval_status")])
    })
}

fn scheduled_posts(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &RecordView) -> Result<DataTable, Error> {
    let table = PartTable {
        section: "scheduled-promoted",
        title: "Scheduled promotions",
        columns: &["Post", "Scheduled for", "Status"],
        add: ("Promote scheduled post", "scheduled"),
        empty: ("No scheduled promotions", "Promote a scheduled post as soon as it is published."),
        is_single: false,
    };
    let found = table.load(tx, ctx, item)?;
    let ids: Vec<i64> = found.rows.iter().filter_map(|one| one.int("scheduled_post_id")).collect();
    let posts = ctx.open_context(tx, RequiredRole::Member, false)?.find_records(&SCHEDULED_POST, &ids)?;
    table.build(ctx, item, &found, |one| {
        let id = one.rendered_text("scheduled_post_id");
        // A post may have been deleted since.
        let post = posts.iter().find(|post| !post.deleted && Some(post.id) == one.int("scheduled_post_id"));
        let text = post.map(|post| excerpt(post.text("text"), 140)).filter(|text| !text.is_empty());
        let text = text.unwrap_or_else(|| format!("Scheduled post {id}"));
        let cells = vec![
            TableCell::from_text(text).with_link(ctx.page_path(&format!("/scheduled/{id}"))),
            TableCell::from_text(ctx.format_time(post.and_then(|post| post.time("scheduled_at")))),
            TableCell::from_badge(status_badge(post.map_or("", |post| post.text("scheduled_status")))),
        ];
        (id, cells)
    })
}

fn media(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &RecordView) -> Result<DataTable, Error> {
    let table = PartTable {
        section: "media-creatives",
        title: "Media",
        columns: &["Type", "Destination", "Review"],
        add: ("Add media", "media"),
        empty: ("No media yet", "Add a video or banner from the media library."),
        is_single: false,
    };
    let found = table.load(tx, ctx, item)?;
    table.build(ctx, item, &found, |one| {
        let kind = TableCell::from_text(word_label(one.text("creative_type")));
        let cells = vec![
            kind.with_subtext(one.rendered_text("account_media_id")),
            TableCell::from_text(or_dash(one.text("landing_url"))),
            badge_cell(one, "approval_status"),
        ];
        (one.id(), cells)
    })
}

fn call_to_action(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &RecordView) -> Result<DataTable, Error> {
    let table = PartTable {
        section: "calls-to-action",
        title: "Call to action",
        columns: &["Button", "Destination"],
        add: ("Add call to action", "call-to-action"),
        empty: ("No call to action", "A button over the video that links to your site."),
        is_single: true,
    };
    let found = table.load(tx, ctx, item)?;
    table.build(ctx, item, &found, |one| {
        let name = word_label(one.text("call_to_action"));
        (name.clone(), vec![TableCell::from_text(name), TableCell::from_text(one.text("call_to_action_url"))])
    })
}

fn category(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &RecordView) -> Result<DataTable, Error> {
    let table = PartTable {
        section: "categories",
        title: "Curated category",
        columns: &["Category", "Countries"],
        add: ("Choose curated category", "category"),
        empty: (
            "No curated category",
            "The line item runs before videos of any publisher. A curated category limits it to a set of publishers.",
        ),
        is_single: true,
    };
    let found = table.load(tx, ctx, item)?;
    let known = curated_categories::list_all(tx)?;
    table.build(ctx, item, &found, |one| {
        let id = one.rendered_text("curated_category_id");
        let category = known.iter().find(|category| Some(category.id) == one.int("curated_category_id"));
        let name = category.map_or(id.as_str(), |category: &AdsRecord| category.text("name")).to_owned();
        let countries = category.map(|category| category.texts("country_codes").join(", "));
        let cells = vec![
            TableCell::from_text(name.clone()).with_subtext(id),
            TableCell::from_text(countries.unwrap_or_default()),
        ];
        (name, cells)
    })
}

fn targeting(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &RecordView) -> Result<DataTable, Error> {
    let table = PartTable {
        section: "targeting",
        title: "Targeting",
        columns: &["Type", "Operator", "Value"],
        add: ("Add targeting", "target"),
        empty: (
            "No targeting",
            "The line item targets everyone. Narrow it down by location, language, keyword or audience.",
        ),
        is_single: false,
    };
    let found = table.load(tx, ctx, item)?;
    let mut built = table.build(ctx, item, &found, |one| {
        let value = one.text("targeting_value");
        let name = Some(one.text("name")).filter(|name| !name.is_empty()).unwrap_or(value);
        let cells = vec![
            TableCell::from_text(word_label(one.text("targeting_type"))),
            TableCell::from_text(word_label(one.text("operator_type"))),
            TableCell::from_text(name).with_subtext(if name == value { "" } else { value }),
        ];
        (name.to_owned(), cells)
    })?;
    let path = format!("/line-items/{}/audience", item.id());
    let resource = table.section()?.resource;
    built.actions.extend(ctx.permitted_link(ResourceVerb::Create, resource, "Target audience", &path));
    Ok(built)
}

fn tracking_tags(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &RecordView) -> Result<DataTable, Error> {
    let table = PartTable {
        section: "tracking-tags",
        title: "Tracking",
        columns: &["Triggered by", "URL"],
        add: ("Add tracking tag", "track"),
        empty: ("No tracking tags", "Measurement partners provide the URL."),
        is_single: false,
    };
    let found = table.load(tx, ctx, item)?;
    table.build(ctx, item, &found, |one| {
        let url = one.text("tracking_tag_url");
        let kind = TableCell::from_text(word_label(one.text("tracking_tag_type")));
        (url.to_owned(), vec![kind, TableCell::from_text(url)])
    })
}
