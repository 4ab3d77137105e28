//! Cards: list, details and forms.

use base::Error;
use pages::manager::{
    AdsManagerPage, CreativePreview, CreativePreviews, DetailList, EmptyState, NavLink, PageBlock, TableCell,
};
use serde_json::{Value, json};
use store::Tx;

use super::campaigns::or_dash;
use super::creatives::{self, form_button};
use super::forms::{FormDefinition, FormFieldSpec, FormRedirect};
use super::labels::{format_time, word_label};
use super::media::{self, MediaFilter};
use super::request::{ManagerAccount, json_array, json_text};
use super::route::{SubmittedFields, collect_links};

const PAGE_SIZE: &str = "50";

pub(super) struct CardKindRoute {
    pub(super) section: &'static str,
    pub(super) list_path: &'static str,
    pub(super) card_path: &'static str,
    is_editable: bool,
}

pub(super) const CARD_KINDS: &[CardKindRoute] = &[
    CardKindRoute { section: "cards", list_path: "cards", card_path: "cards/{}", is_editable: true },
    CardKindRoute { section: "poll-cards", list_path: "cards/poll", card_path: "cards/poll/{}", is_editable: false },
    CardKindRoute {
        section: "video-cards",
        list_path: "cards/video_conversation",
        card_path: "cards/video_conversation/{}",
        is_editable: true,
    },
    CardKindRoute {
        section: "image-cards",
        list_path: "cards/image_conversation",
        card_path: "cards/image_conversation/{}",
        is_editable: true,
    },
];

fn find_kind(part: &str) -> Option<&'static CardKindRoute> {
    CARD_KINDS.iter().find(|kind| kind.section == part)
}

pub(super) fn is_card_section(part: &str) -> bool {
    find_kind(part).is_some()
}

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let count = [("count", PAGE_SIZE.to_owned())];
    let mut shown = Vec::new();
    for kind in CARD_KINDS {
        for card in &ctx.list_entities(tx, kind.list_path, &count)?.rows {
            shown.push(CreativePreview {
                action_buttons: card_actions(ctx, kind, json_text(card, "id")),
                path: Some(ctx.page_path(&format!("/{}/{}", kind.section, json_text(card, "id")))),
                ..creatives::card_preview(ctx, card)
            });
        }
    }
    let create = collect_links([
        ctx.permitted_link("POST", "cards", "Website card", "/cards/new/website").map(|link| link.with_kind("primary")),
        ctx.permitted_link("POST", "cards", "App card", "/cards/new/app"),
        ctx.permitted_link("POST", "cards/poll", "Poll card", "/cards/new/poll"),
        ctx.permitted_link("POST", "cards/image_conversation", "Image conversation card", "/cards/new/image"),
        ctx.permitted_link("POST", "cards/video_conversation", "Video conversation card", "/cards/new/video"),
    ]);
    Ok(AdsManagerPage {
        heading: "Cards".to_owned(),
        lead: "Cards appear below a post’s text: an image or video with a link, a poll, or hashtags \
               to join a conversation."
            .to_owned(),
        actions: create,
        blocks: vec![PageBlock::Previews(CreativePreviews {
            title: "All cards".to_owned(),
            items: shown,
            empty: EmptyState {
                title: "No cards yet".to_owned(),
                text: "Upload an image or video to the media library, then create a card with it. \
                       Add the card to a post or scheduled post."
                    .to_owned(),
                link: ctx.permitted_link("POST", "media_library", "Upload media", "/media/upload"),
            },
            ..CreativePreviews::default()
        })],
        ..AdsManagerPage::default()
    })
}

fn card_actions(ctx: &ManagerAccount, kind: &CardKindRoute, id: &str) -> Vec<pages::manager::ActionButton> {
    let at = |act: &str| format!("/{}/{id}/{act}", kind.section);
    let edit = form_button(ctx, ("PUT", kind.card_path), "Edit", &at("edit")).filter(|_| kind.is_editable);
    let delete = form_button(ctx, ("DELETE", kind.card_path), "Delete", &at("delete"));
    edit.into_iter().chain(delete).collect()
}

pub(super) fn show(tx: &mut Tx<'_>, ctx: &ManagerAccount, part: &str, id: &str) -> Result<AdsManagerPage, Error> {
    let Some(kind) = find_kind(part) else {
        return Err(base::Fault::new("unknown kind of card").into());
    };
    let card = ctx.get_entity(tx, kind.card_path, id)?;
    let here = format!("/{part}/{id}");
    let words = "Your post’s text appears here.";
    let shown = CreativePreview {
        post: creatives::enclosing_post(tx, ctx, words)?,
        name: String::new(),
        kind: String::new(),
        ..creatives::card_preview(ctx, &card)
    };
    let edit = ctx.permitted_link("PUT", kind.card_path, "Edit", &format!("{here}/edit"));
    let delete = ctx.permitted_link("DELETE", kind.card_path, "Delete", &format!("{here}/delete"));
    Ok(AdsManagerPage {
        trail: vec![NavLink::new("Cards", ctx.page_path("/cards"))],
        heading: json_text(&card, "name").to_owned(),
        actions: collect_links([edit.filter(|_| kind.is_editable), delete.map(|link| link.with_kind("danger-quiet"))]),
        blocks: vec![
            PageBlock::Previews(CreativePreviews {
                title: "In a post".to_owned(),
                items: vec![shown],
                ..CreativePreviews::default()
            }),
            PageBlock::Facts(DetailList {
                title: "Card".to_owned(),
                actions: Vec::new(),
                rows: vec![
                    ("Type", TableCell::from_text(word_label(json_text(&card, "card_type")))),
                    ("Card URI", TableCell::from_text(json_text(&card, "card_uri"))),
                    ("Destination", TableCell::from_text(destination_label(&card))),
                    ("Created", TableCell::from_text(format_time(json_text(&card, "created_at")))),
                    ("ID", TableCell::from_text(json_text(&card, "id"))),
                ],
            }),
        ],
        ..AdsManagerPage::default()
    })
}

fn destination_label(card: &Value) -> String {
    let leads = |part: &Value| {
        if let Some(Value::String(url)) = part.pointer("/destination/url") {
            return Some(url.clone());
        }
        let names = ["googleplay_app_id", "ios_app_store_identifier"];
        let apps = part.get("destination")?;
        let apps = names.iter().map(|name| json_text(apps, name));
        let apps: Vec<&str> = apps.filter(|app| !app.is_empty()).collect();
        (!apps.is_empty()).then(|| apps.join(", "))
    };
    let slides = json_array(card, "slides").iter().filter_map(Value::as_array);
    let parts = json_array(card, "components").iter().chain(slides.flatten());
    let all: Vec<String> = parts.filter_map(leads).collect();
    match all.as_slice() {
        [] => or_dash(json_text(card, "thank_you_url")).to_owned(),
        all => all.join(", "),
    }
}

/// Pairs of card URI and label.
pub(super) fn choices(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Vec<(String, String)>, Error> {
    let count = [("count", "200".to_owned())];
    let mut all = Vec::new();
    for kind in CARD_KINDS {
        for card in &ctx.list_entities(tx, kind.list_path, &count)?.rows {
            let label = format!("{} ({})", json_text(card, "name"), word_label(json_text(card, "card_type")));
            all.push((json_text(card, "card_uri").to_owned(), label));
        }
    }
    Ok(all)
}

pub(super) fn create_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, what: &str) -> Result<Option<FormDefinition>, Error> {
    let none = Value::Null;
    let (heading, part) = match what {
        "website" => ("Create website card", "cards"),
        "app" => ("Create app card", "cards"),
        "poll" => ("Create poll card", "poll-cards"),
        "image" => ("Create image conversation card", "image-cards"),
        "video" => ("Create video conversation card", "video-cards"),
        _ => return Ok(None),
    };
    let fields = match what {
        "website" => website_fields(tx, ctx, &none)?,
        "app" => app_fields(tx, ctx, &none)?,
        "poll" => poll_fields(tx, ctx)?,
        _ => conversation_fields(tx, ctx, part, &none)?,
    };
    let composed = matches!(what, "website" | "app");
    let found = find_kind(part).map(|kind| FormDefinition {
        heading: heading.to_owned(),
        lead: "Add the card to a post or scheduled post.".to_owned(),
        trail: vec![NavLink::new("Cards", ctx.page_path("/cards"))],
        path: kind.list_path,
        fields,
        submit: "Create card",
        action: ctx.page_path(&format!("/cards/new/{what}")),
        redirect: FormRedirect::Created(ctx.page_path(&format!("/{part}"))),
        done_code: "created",
        handler: composed.then_some(submit_components),
        ..FormDefinition::new(ctx, "/cards")
    });
    Ok(found)
}

pub(super) fn edit_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    part: &str,
    id: &str,
) -> Result<Option<FormDefinition>, Error> {
    let Some(kind) = find_kind(part).filter(|kind| kind.is_editable) else {
        return Ok(None);
    };
    let now = ctx.get_entity(tx, kind.card_path, id)?;
    let here = format!("/{part}/{id}");
    let simple = find_component(&now, "MEDIA").is_some();
    let (fields, work): (_, Option<super::forms::FormHandler>) = match part {
        "cards" if simple && find_component(&now, "BUTTON").is_some() => {
            (app_fields(tx, ctx, &now)?, Some(submit_components))
        }
        "cards" if simple => (website_fields(tx, ctx, &now)?, Some(submit_components)),
        // Only the name of a carousel can be edited here; its slides are created over the API.
        "cards" => (vec![name_field(&now)], Some(submit_name)),
        _ => (conversation_fields(tx, ctx, part, &now)?, None),
    };
    Ok(Some(FormDefinition {
        heading: "Edit card".to_owned(),
        lead: "Posts that already use this card change as well.".to_owned(),
        trail: vec![
            NavLink::new("Cards", ctx.page_path("/cards")),
            NavLink::new(json_text(&now, "name"), ctx.page_path(&here)),
        ],
        method: "PUT",
        path: kind.card_path,
        ids: vec![id.to_owned()],
        fields,
        submit: "Save changes",
        action: ctx.page_path(&format!("{here}/edit")),
        handler: work,
        ..FormDefinition::new(ctx, &here)
    }))
}

fn find_component<'v>(card: &'v Value, kind: &str) -> Option<&'v Value> {
    let mut parts = json_array(card, "components").iter();
    parts.find(|part| json_text(part, "type") == kind)
}

fn name_field(now: &Value) -> FormFieldSpec {
    FormFieldSpec::text("name", "Name").initial_value(json_text(now, "name")).help("Only visible to your team.")
}

fn media_field(tx: &mut Tx<'_>, ctx: &ManagerAccount, now: &Value) -> Result<FormFieldSpec, Error> {
    let medium = find_component(now, "MEDIA").map(|part| json_text(part, "media_key"));
    let field_spec = FormFieldSpec::choice("media_key", "Image or video", media::choices(tx, ctx, MediaFilter::All)?);
    let field_spec = field_spec.error_aliases(&["components", "components[0].media_key", "components[0]"]).help(
        "From the media library: an image at least 800 pixels wide, 1.91:1 or square, at \
             most 3 MB; or a video, 16:9 or square.",
    );
    Ok(match medium {
        Some(key) => field_spec.initial_value(key),
        None => field_spec.allow_none("Choose one"),
    })
}

fn website_fields(tx: &mut Tx<'_>, ctx: &ManagerAccount, now: &Value) -> Result<Vec<FormFieldSpec>, Error> {
    let details = find_component(now, "DETAILS").cloned().unwrap_or_default();
    let url = details.pointer("/destination/url").and_then(Value::as_str);
    Ok(vec![
        name_field(now),
        media_field(tx, ctx, now)?,
        FormFieldSpec::text("title", "Headline")
            .initial_value(json_text(&details, "title"))
            .error_aliases(&["components[1].title"]),
        FormFieldSpec::text("website_url", "Website")
            .initial_value(url.unwrap_or_default())
            .error_aliases(&["components[1].destination.url", "components[1].destination"])
            .help("The page that the card opens. Starts with https://"),
    ])
}

fn app_fields(tx: &mut Tx<'_>, ctx: &ManagerAccount, now: &Value) -> Result<Vec<FormFieldSpec>, Error> {
    let button = find_component(now, "BUTTON").cloned().unwrap_or_default();
    let leads = button.get("destination").cloned().unwrap_or_default();
    let label = button.pointer("/label/value").and_then(Value::as_str);
    let field = |name: &'static str, label: &str, at: &'static [&'static str]| {
        FormFieldSpec::text(name, label).initial_value(json_text(&leads, name)).error_aliases(at)
    };
    Ok(vec![
        name_field(now),
        media_field(tx, ctx, now)?,
        FormFieldSpec::word_choice("label", "Button", ads::resources::card_components::BUTTON_LABELS)
            .initial_value(label.unwrap_or("INSTALL"))
            .error_aliases(&["components[1].label.value", "components[1].label"]),
        field("country_code", "Country of the app stores", &["components[1].destination.country_code"])
            .help("A two-letter code, such as US."),
        field("googleplay_app_id", "Android app", &["components[1].destination.googleplay_app_id"])
            .help("The package name, such as com.example.bikes. Enter at least one of the two apps."),
        field("ios_app_store_identifier", "iOS app", &["components[1].destination.ios_app_store_identifier"])
            .help("The numeric App Store ID."),
        field("googleplay_deep_link", "Android deep link", &["components[1].destination.googleplay_deep_link"])
            .mark_advanced(),
        field("ios_deep_link", "iOS deep link", &["components[1].destination.ios_deep_link"]).mark_advanced(),
    ])
}

fn submit_components(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    plan: &FormDefinition,
    sent: &SubmittedFields,
) -> Result<Value, Error> {
    let typed = |name: &str| match sent.text(name) {
        "" => Value::Null,
        text => text.into(),
    };
    let leads = if plan.fields.iter().any(|field_spec| field_spec.name == "label") {
        let mut app = json!({ "type": "APP" });
        for name in
            ["country_code", "googleplay_app_id", "googleplay_deep_link", "ios_app_store_identifier", "ios_deep_link"]
        {
            if let Some(members) = app.as_object_mut() {
                members.insert(name.to_owned(), typed(name));
            }
        }
        let label = json!({ "type": "ENUM", "value": typed("label") });
        json!({ "type": "BUTTON", "label": label, "destination": app })
    } else {
        let site = json!({ "type": "WEBSITE", "url": typed("website_url") });
        json!({ "type": "DETAILS", "title": typed("title"), "destination": site })
    };
    let medium = json!({ "type": "MEDIA", "media_key": typed("media_key") });
    let card = json!({ "name": typed("name"), "components": [medium, leads] });
    ctx.call_api_json(tx, plan.method, plan.path, &plan.path_ids(), card)
}

fn submit_name(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    plan: &FormDefinition,
    sent: &SubmittedFields,
) -> Result<Value, Error> {
    let card = json!({ "name": sent.text("name") });
    ctx.call_api_json(tx, plan.method, plan.path, &plan.path_ids(), card)
}

fn poll_fields(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Vec<FormFieldSpec>, Error> {
    let spans = [("1440", "1 day"), ("60", "1 hour"), ("360", "6 hours"), ("4320", "3 days"), ("10080", "7 days")];
    let spans = spans.map(|(minutes, text)| (minutes.to_owned(), text.to_owned()));
    Ok(vec![
        name_field(&Value::Null),
        FormFieldSpec::text("first_choice", "First choice").help("At most 25 characters."),
        FormFieldSpec::text("second_choice", "Second choice"),
        FormFieldSpec::text("third_choice", "Third choice"),
        FormFieldSpec::text("fourth_choice", "Fourth choice"),
        FormFieldSpec::choice("duration_in_minutes", "Voting period", spans.into()),
        FormFieldSpec::choice("media_key", "Image or video", media::choices(tx, ctx, MediaFilter::All)?)
            .allow_none("None")
            .help("A 1.91:1 image or a 16:9 video, if the account is allowed to use media in polls.")
            .mark_advanced(),
    ])
}

fn conversation_fields(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    part: &str,
    now: &Value,
) -> Result<Vec<FormFieldSpec>, Error> {
    let film = part == "video-cards";
    let (kinds, label, help) = if film {
        (MediaFilter::Videos, "Video", "From the media library, 16:9.")
    } else {
        (MediaFilter::Images, "Image", "From the media library, 1.91:1, at least 800 pixels wide.")
    };
    let medium = FormFieldSpec::choice("media_key", label, media::choices(tx, ctx, kinds)?).help(help);
    let medium = match json_text(now, "media_key") {
        "" => medium.allow_none("Choose one"),
        key => medium.initial_value(key),
    };
    let plain = |name: &'static str, label: &str| FormFieldSpec::text(name, label).initial_value(json_text(now, name));
    let words = |name: &'static str, older: &'static [&'static str], label: &str| {
        let texts = older.iter().map(|name| json_text(now, name));
        let text = texts.chain([json_text(now, name)]).find(|text| !text.is_empty());
        let field_spec = FormFieldSpec::text_area(name, label).initial_value(text.unwrap_or_default());
        field_spec.error_aliases(older)
    };
    Ok(vec![
        name_field(now),
        medium,
        plain("title", "Title").help("At most 23 characters. Required if there is only one hashtag."),
        plain("first_cta", "Hashtag").help("At most 20 characters."),
        words("first_cta_post", &["first_cta_tweet"], "Post text for the hashtag")
            .help("Prefilled when people choose the hashtag."),
        plain("thank_you_text", "Thank-you text").help("Shown after people post. At most 23 characters."),
        plain("thank_you_url", "Thank-you URL"),
        plain("second_cta", "Second hashtag").mark_advanced(),
        words("second_cta_post", &["second_cta_tweet"], "Post text for the second hashtag").mark_advanced(),
        plain("third_cta", "Third hashtag").mark_advanced(),
        words("third_cta_post", &["third_cta_tweet"], "Post text for the third hashtag").mark_advanced(),
        plain("fourth_cta", "Fourth hashtag").mark_advanced(),
        words("fourth_cta_post", &["fourth_cta_tweet"], "Post text for the fourth hashtag").mark_advanced(),
    ])
}
