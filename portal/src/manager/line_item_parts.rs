//! Parts of a line item other than promoted posts and targeting: scheduled posts, media, calls to action, curated
//! categories, audiences and tracking tags.

use ads::resources::curated_categories;
use base::Error;
use pages::manager::{ActionButton, DataTable, PageBlock, TableCell, TableRow};
use serde_json::Value;
use store::Tx;

use super::creatives::form_button;
use super::forms::{FormDefinition, FormFieldSpec};
use super::labels::{format_time, status_badge, word_label};
use super::line_items::{delete_buttons, extendable_table, line_item_filter};
use super::request::{ManagerAccount, json_text};
use super::{media, text_column};

fn is_preroll(item: &Value) -> bool {
    json_text(item, "objective") == "PREROLL_VIEWS"
}

/// Whether the line item shows media of the account, alone or next to posts.
fn takes_media(item: &Value) -> bool {
    let placements = super::request::json_array(item, "placements").iter();
    let outside = |place: &str| place == "PUBLISHER_NETWORK" || place.starts_with("TAP_");
    is_preroll(item) || json_text(item, "product_type") == "MEDIA" || placements.filter_map(Value::as_str).any(outside)
}

pub(super) fn part_blocks(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &Value) -> Result<Vec<PageBlock>, Error> {
    let mut all = Vec::new();
    if json_text(item, "product_type") != "MEDIA" {
        all.push(scheduled_posts_block(tx, ctx, item)?);
    }
    if takes_media(item) {
        all.push(media_block(tx, ctx, item)?);
    }
    if is_preroll(item) {
        all.push(call_to_action_block(tx, ctx, item)?);
        all.push(category_block(tx, ctx, item)?);
    }
    Ok(all)
}

fn scheduled_posts_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &Value) -> Result<PageBlock, Error> {
    let id = json_text(item, "id");
    let path = "scheduled_promoted_<posts>";
    let found = ctx.list_entities(tx, path, &line_item_filter(id))?;
    let mut rows = Vec::new();
    for one in &found.rows {
        let post = json_text(one, "scheduled_post_id");
        let known = match ctx.get_entity(tx, "scheduled_<posts>/{}", post) {
            Ok(known) => known,
            // It has been deleted since.
            Err(Error::Refused(_)) => Value::Null,
            Err(other) => return Err(other),
        };
        let words: String = json_text(&known, "text").chars().take(140).collect();
        let words = if words.is_empty() { format!("Scheduled post {post}") } else { words };
        rows.push(TableRow {
            name: post.to_owned(),
            cells: vec![
                TableCell::from_text(words).with_link(ctx.page_path(&format!("/scheduled/{post}"))),
                TableCell::from_text(format_time(json_text(&known, "scheduled_at"))),
                TableCell::from_badge(status_badge(json_text(&known, "scheduled_status"))),
            ],
            action_buttons: delete_buttons(
                ctx,
                "scheduled_promoted_<posts>/{}",
                "scheduled-promoted",
                json_text(one, "id"),
            ),
        });
    }
    let add = ctx.permitted_link("POST", path, "Promote scheduled post", &format!("/line-items/{id}/scheduled"));
    Ok(PageBlock::Table(DataTable {
        title: "Scheduled promotions".to_owned(),
        columns: ["Post", "Scheduled for", "Status"].map(text_column).into(),
        ..extendable_table(add, rows, "No scheduled promotions", "Promote a scheduled post as soon as it is published.")
    }))
}

fn media_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &Value) -> Result<PageBlock, Error> {
    let id = json_text(item, "id");
    let found = ctx.list_entities(tx, "media_creatives", &line_item_filter(id))?;
    let rows = found.rows.iter().map(|one| {
        let own = json_text(one, "id");
        TableRow {
            name: own.to_owned(),
            cells: vec![
                TableCell::from_text(word_label(json_text(one, "creative_type")))
                    .with_subtext(json_text(one, "account_media_id")),
                TableCell::from_text(super::campaigns::or_dash(json_text(one, "landing_url"))),
                TableCell::from_badge(status_badge(json_text(one, "approval_status"))),
            ],
            action_buttons: delete_buttons(ctx, "media_creatives/{}", "media-creatives", own),
        }
    });
    let rows = rows.collect();
    let path = format!("/line-items/{id}/media");
    let add = ctx.permitted_link("POST", "media_creatives", "Add media", &path);
    Ok(PageBlock::Table(DataTable {
        title: "Media".to_owned(),
        columns: ["Type", "Destination", "Review"].map(text_column).into(),
        ..extendable_table(add, rows, "No media yet", "Add a video or banner from the media library.")
    }))
}

fn call_to_action_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &Value) -> Result<PageBlock, Error> {
    let id = json_text(item, "id");
    let path = "preroll_call_to_actions";
    let found = ctx.list_entities(tx, path, &line_item_filter(id))?;
    let one = "preroll_call_to_actions/{}";
    let rows = found.rows.iter().map(|cta| {
        let own = json_text(cta, "id");
        let rest = format!("/calls-to-action/{own}/edit");
        let edit = form_button(ctx, ("PUT", one), "Edit", &rest);
        let delete = delete_buttons(ctx, one, "calls-to-action", own);
        let name = word_label(json_text(cta, "call_to_action"));
        TableRow {
            cells: vec![TableCell::from_text(name.clone()), TableCell::from_text(json_text(cta, "call_to_action_url"))],
            name,
            action_buttons: edit.into_iter().chain(delete).collect(),
        }
    });
    let rows: Vec<TableRow> = rows.collect();
    let add = format!("/line-items/{id}/call-to-action");
    let add = ctx.permitted_link("POST", path, "Add call to action", &add);
    Ok(PageBlock::Table(DataTable {
        title: "Call to action".to_owned(),
        columns: ["Button", "Destination"].map(text_column).into(),
        // A line item has at most one.
        ..extendable_table(
            add.filter(|_| rows.is_empty()),
            rows,
            "No call to action",
            "A button over the video that links to your site.",
        )
    }))
}

fn category_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &Value) -> Result<PageBlock, Error> {
    let id = json_text(item, "id");
    let path = "line_item_curated_categories";
    let found = ctx.list_entities(tx, path, &line_item_filter(id))?;
    let known = curated_categories::list_all(tx)?;
    let one = "line_item_curated_categories/{}";
    let rows = found.rows.iter().map(|link| {
        let (own, of) = (json_text(link, "id"), json_text(link, "curated_category_id"));
        let category = known.iter().find(|category| category.formatted_id() == of);
        let name = category.map_or(of, |category| category.text("name"));
        let countries = category.map(|category| category.texts("country_codes").join(", "));
        let rest = format!("/categories/{own}/edit");
        let edit = form_button(ctx, ("PUT", one), "Edit", &rest);
        TableRow {
            name: name.to_owned(),
            cells: vec![
                TableCell::from_text(name).with_subtext(of),
                TableCell::from_text(countries.unwrap_or_default()),
            ],
            action_buttons: edit.into_iter().chain(delete_buttons(ctx, one, "categories", own)).collect(),
        }
    });
    let rows: Vec<TableRow> = rows.collect();
    let add = format!("/line-items/{id}/category");
    let add = ctx.permitted_link("POST", path, "Choose curated category", &add);
    Ok(PageBlock::Table(DataTable {
        title: "Curated category".to_owned(),
        columns: ["Category", "Countries"].map(text_column).into(),
        ..extendable_table(
            add.filter(|_| rows.is_empty()),
            rows,
            "No curated category",
            "The line item runs before videos of any publisher. A curated category limits it to a set of publishers.",
        )
    }))
}

pub(super) fn scheduled_post_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    id: &str,
) -> Result<Option<FormDefinition>, Error> {
    let item = ctx.get_entity(tx, "line_items/{}", id)?;
    let found = ctx.list_entities(tx, "scheduled_<posts>", &[])?;
    let open = |post: &&Value| json_text(post, "scheduled_status") == "SCHEDULED";
    let posts = found.rows.iter().filter(open).map(|post| {
        let words: String = json_text(post, "text").chars().take(60).collect();
        let named = format!("{words} ({})", format_time(json_text(post, "scheduled_at")));
        (json_text(post, "id").to_owned(), named)
    });
    Ok(Some(FormDefinition {
        heading: "Promote scheduled post".to_owned(),
        lead: "The post is promoted as soon as it is published.".to_owned(),
        path: "scheduled_promoted_<posts>",
        fields: vec![
            FormFieldSpec::choice("scheduled_post_id", "Scheduled post", posts.collect()).allow_none("Choose one"),
        ],
        submit: "Promote",
        ..FormDefinition::line_item_form(ctx, id, &item, "scheduled")
    }))
}

pub(super) fn media_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let item = ctx.get_entity(tx, "line_items/{}", id)?;
    let mut fields = vec![
        FormFieldSpec::choice("account_media_id", "Media", media::account_media_choices(tx, ctx)?)
            .allow_none("Choose one")
            .error_aliases(&["line_item_id"])
            .help("Suitable files from the media library are listed under Media."),
    ];
    if !is_preroll(&item) {
        let url = FormFieldSpec::text("landing_url", "Destination URL");
        fields.push(url.help("Starts with https://"));
    }
    Ok(Some(FormDefinition {
        heading: "Add media".to_owned(),
        lead: "Shown in placements without posts.".to_owned(),
        path: "media_creatives",
        fields,
        submit: "Add media",
        ..FormDefinition::line_item_form(ctx, id, &item, "media")
    }))
}

const CALL_TO_ACTION_WORDS: &[&str] = &["VISIT_SITE", "SHOP", "SEE_MORE", "GO_TO", "WATCH_NOW"];

fn call_to_action_fields(now: &Value) -> Vec<FormFieldSpec> {
    let words =
        FormFieldSpec::word_choice("call_to_action", "Button", CALL_TO_ACTION_WORDS).error_aliases(&["line_item_id"]);
    let words = match json_text(now, "call_to_action") {
        "" => words,
        set => words.initial_value(set),
    };
    vec![
        words,
        FormFieldSpec::text("call_to_action_url", "Destination URL")
            .initial_value(json_text(now, "call_to_action_url"))
            .help("Starts with https://"),
    ]
}

pub(super) fn call_to_action_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    id: &str,
) -> Result<Option<FormDefinition>, Error> {
    let item = ctx.get_entity(tx, "line_items/{}", id)?;
    Ok(Some(FormDefinition {
        heading: "Add call to action".to_owned(),
        lead: "Adds a button over the video.".to_owned(),
        path: "preroll_call_to_actions",
        fields: call_to_action_fields(&Value::Null),
        submit: "Add call to action",
        ..FormDefinition::line_item_form(ctx, id, &item, "call-to-action")
    }))
}

fn change_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    (part, path): (&str, &'static str),
    id: &str,
    fields: impl Fn(&mut Tx<'_>, &Value) -> Result<Vec<FormFieldSpec>, Error>,
) -> Result<FormDefinition, Error> {
    let now = ctx.get_entity(tx, path, id)?;
    let above = json_text(&now, "line_item_id").to_owned();
    let item = ctx.get_entity(tx, "line_items/{}", &above)?;
    Ok(FormDefinition {
        method: "PUT",
        path,
        ids: vec![id.to_owned()],
        fixed_params: Vec::new(),
        fields: fields(tx, &now)?,
        submit: "Save changes",
        action: ctx.page_path(&format!("/{part}/{id}/edit")),
        done_code: "saved",
        ..FormDefinition::line_item_form(ctx, &above, &item, "")
    })
}

pub(super) fn edit_call_to_action_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    id: &str,
) -> Result<Option<FormDefinition>, Error> {
    let of = ("calls-to-action", "preroll_call_to_actions/{}");
    let plan = change_form(tx, ctx, of, id, |_, now| Ok(call_to_action_fields(now)))?;
    Ok(Some(FormDefinition { heading: "Edit call to action".to_owned(), ..plan }))
}

fn category_fields(tx: &mut Tx<'_>, now: &Value) -> Result<Vec<FormFieldSpec>, Error> {
    let all = curated_categories::list_all(tx)?;
    let all = all.iter().map(|category| {
        let countries = category.texts("country_codes").join(", ");
        let named = format!("{} ({countries})", category.text("name"));
        (category.formatted_id(), named)
    });
    let field_spec = FormFieldSpec::choice("curated_category_id", "Curated category", all.collect())
        .error_aliases(&["line_item_id"])
        .help("The line item must first target a location in one of the category’s countries.");
    Ok(vec![match json_text(now, "curated_category_id") {
        "" => field_spec.allow_none("Choose one"),
        set => field_spec.initial_value(set),
    }])
}

pub(super) fn category_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let item = ctx.get_entity(tx, "line_items/{}", id)?;
    Ok(Some(FormDefinition {
        heading: "Choose curated category".to_owned(),
        lead: "The line item runs before videos of the category’s publishers.".to_owned(),
        path: "line_item_curated_categories",
        fields: category_fields(tx, &Value::Null)?,
        submit: "Choose",
        ..FormDefinition::line_item_form(ctx, id, &item, "category")
    }))
}

pub(super) fn edit_category_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    id: &str,
) -> Result<Option<FormDefinition>, Error> {
    let of = ("categories", "line_item_curated_categories/{}");
    let plan = change_form(tx, ctx, of, id, category_fields)?;
    Ok(Some(FormDefinition { heading: "Change curated category".to_owned(), ..plan }))
}

pub(super) fn edit_tracking_tag_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    id: &str,
) -> Result<Option<FormDefinition>, Error> {
    let of = ("tracking-tags", "tracking_tags/{}");
    let plan = change_form(tx, ctx, of, id, |_, now| {
        let url = FormFieldSpec::text("tracking_tag_url", "URL");
        let url = url.initial_value(json_text(now, "tracking_tag_url"));
        Ok(vec![url.help("Starts with https://")])
    })?;
    Ok(Some(FormDefinition { heading: "Edit tracking tag".to_owned(), ..plan }))
}

pub(super) fn tracking_tag_actions(ctx: &ManagerAccount, id: &str) -> Vec<ActionButton> {
    let path = "tracking_tags/{}";
    let rest = format!("/tracking-tags/{id}/edit");
    let edit = form_button(ctx, ("PUT", path), "Edit", &rest);
    let delete = delete_buttons(ctx, path, "tracking-tags", id);
    edit.into_iter().chain(delete).collect()
}

pub(super) fn audience_targeting_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    id: &str,
) -> Result<Option<FormDefinition>, Error> {
    let item = ctx.get_entity(tx, "line_items/{}", id)?;
    let mut all = Vec::new();
    for scope in ["OWNER", "SHARED"] {
        let scope = [("permission_scope", scope.to_owned())];
        for one in &ctx.list_entities(tx, "custom_audiences", &scope)?.rows {
            let fit = one.get("targetable").and_then(Value::as_bool) == Some(true);
            let note = if fit { "" } else { " (not targetable yet)" };
            let named = format!("{}{note}", json_text(one, "name"));
            all.push((json_text(one, "id").to_owned(), named));
        }
    }
    let means = [("EQ", "Include"), ("NE", "Exclude")];
    let means = means.map(|(word, text)| (word.to_owned(), text.to_owned()));
    let plan = FormDefinition::line_item_form(ctx, id, &item, "audience");
    let mut fixed = plan.fixed_params.clone();
    fixed.push(("targeting_type", "CUSTOM_AUDIENCE".to_owned()));
    Ok(Some(FormDefinition {
        heading: "Target audience".to_owned(),
        lead: "Audiences of this account and those shared with it.".to_owned(),
        path: "targeting_criteria",
        fixed_params: fixed,
        fields: vec![
            FormFieldSpec::choice("audience", "Audience", all)
                .allow_none("Choose one")
                .send_as("targeting_value")
                .error_aliases(&["targeting_value"]),
            FormFieldSpec::choice("operator_type", "Operator", means.into()),
        ],
        submit: "Add targeting",
        ..plan
    }))
}
