//! Cards: list, details and forms.

use ads::resources::cards::CARD;
use ads::resources::media_library::LIBRARY_MEDIA;
use ads_engine::{OperationOutput, RecordView, ResourceVerb};
use base::Error;
use pages::Pager;
use pages::manager::{AdsManagerPage, CreativePreview, CreativePreviews, DetailList, EmptyState, PageBlock, TableCell};
use serde_json::{Map, Value, json};
use store::Tx;

use super::choices::{self, MediaFilter};
use super::creatives;
use super::fields::declared_fields;
use super::forms::{FormDefinition, FormFieldSpec, FormHandler, FormRedirect, SubmittedFields};
use super::labels::{or_dash, word_label};
use super::request::{ManagerAccount, json_text};
use super::sections::{Section, card_sections};
use super::tables::record_buttons;

/// The kind in the path, the section, the heading of the form and the label of the link to it.
const NEW_CARDS: &[(&str, &str, &str, &str)] = &[
    ("website", "cards", "Create website card", "Website card"),
    ("app", "cards", "Create app card", "App card"),
    ("poll", "poll-cards", "Create poll card", "Poll card"),
    ("image", "image-cards", "Create image conversation card", "Image conversation card"),
    ("video", "video-cards", "Create video conversation card", "Video conversation card"),
];

/// Cards of each kind.
const PAGE_SIZE: usize = 50;

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let (mut shown, mut next) = (Vec::new(), Vec::new());
    let cursor = |section: &Section| ctx.request.query.get(section.name);
    let is_first = card_sections().all(|section| cursor(section).is_none());
    // Each kind has a cursor of its own until its last page.
    for section in card_sections().filter(|section| is_first || cursor(section).is_some()) {
        let found = ctx.list(tx, section.resource, json!({ "count": PAGE_SIZE, "cursor": cursor(section) }))?;
        next.extend(found.next.map(|next| format!("{}={}", section.name, base::percent::encode(&next))));
        for card in found.rows {
            shown.push(CreativePreview {
                action_buttons: record_buttons(ctx, section, &card.id()),
                path: Some(ctx.page_path(&format!("/{}/{}", section.name, card.id()))),
                ..creatives::card_preview(ctx, &card)
            });
        }
    }
    let create = NEW_CARDS.iter().filter_map(|(kind, section, _, label)| {
        let resource = Section::find(section)?.resource;
        let link = ctx.permitted_link(ResourceVerb::Create, resource, label, &format!("/cards/new/{kind}"))?;
        Some(if *kind == "website" { link.with_kind("primary") } else { link })
    });
    Ok(AdsManagerPage {
        heading: "Cards".to_owned(),
        lead: "Cards appear below a post’s text: an image or video with a link, a poll, or hashtags \
               to join a conversation."
            .to_owned(),
        actions: create.collect(),
        blocks: vec![PageBlock::Previews(CreativePreviews {
            title: "All cards".to_owned(),
            items: shown,
            pager: Pager {
                previous: (!is_first).then(|| ctx.page_path("/cards")),
                next: (!next.is_empty()).then(|| ctx.page_path(&format!("/cards?{}", next.join("&")))),
            },
            empty: EmptyState::new(
                "No cards yet",
                "Upload an image or video to the media library, then create a card with it. \
                 Add the card to a post or scheduled post.",
                ctx.permitted_link(ResourceVerb::Create, &LIBRARY_MEDIA, "Upload media", "/media/upload"),
            ),
            ..CreativePreviews::default()
        })],
        ..AdsManagerPage::default()
    })
}

pub(super) fn show(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    section: &Section,
    id: &str,
) -> Result<AdsManagerPage, Error> {
    let card = ctx.get(tx, section.resource, id)?;
    let shown = CreativePreview {
        post: creatives::enclosing_post(tx, ctx, "Your post’s text appears here.")?,
        name: String::new(),
        kind: String::new(),
        ..creatives::card_preview(ctx, &card)
    };
    Ok(AdsManagerPage {
        trail: ctx.trail(&[("Cards", "/cards")]),
        heading: card.text("name").to_owned(),
        actions: ctx.change_links(section.resource, &format!("/{}/{id}", section.name)),
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
                    ("Type", TableCell::from_text(word_label(card.text("card_type")))),
                    ("Card URI", TableCell::from_text(card.text("card_uri"))),
                    ("Destination", TableCell::from_text(destination_label(&card))),
                    ("Created", TableCell::from_text(ctx.format_time(card.time("created_at")))),
                    ("ID", TableCell::from_text(card.id())),
                ],
            }),
        ],
        ..AdsManagerPage::default()
    })
}

fn destination_label(card: &RecordView) -> String {
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
    let slides = card.items("slides").iter().filter_map(Value::as_array);
    let parts = card.items("components").iter().chain(slides.flatten());
    let all: Vec<String> = parts.filter_map(leads).collect();
    match all.as_slice() {
        [] => or_dash(card.text("thank_you_url")).to_owned(),
        all => all.join(", "),
    }
}

const POLL_FIELDS: &[&str] =
    &["name", "first_choice", "second_choice", "third_choice", "fourth_choice", "duration_in_minutes", "media_key"];
const VOTING_PERIODS: &[(&str, &str)] =
    &[("1440", "1 day"), ("60", "1 hour"), ("360", "6 hours"), ("4320", "3 days"), ("10080", "7 days")];
const CONVERSATION_FIELDS: &[&str] = &[
    "name",
    "media_key",
    "title",
    "first_cta",
    "first_cta_tweet",
    "thank_you_text",
    "thank_you_url",
    "second_cta",
    "second_cta_tweet",
    "third_cta",
    "third_cta_tweet",
    "fourth_cta",
    "fourth_cta_tweet",
];

pub(super) fn create_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, what: &str) -> Result<Option<FormDefinition>, Error> {
    let Some((_, part, heading, _)) = NEW_CARDS.iter().find(|(kind, ..)| *kind == what) else {
        return Ok(None);
    };
    let Some(section) = Section::find(part) else {
        return Ok(None);
    };
    let fields = match what {
        "website" => website_fields(tx, ctx, None)?,
        "app" => app_fields(tx, ctx, None)?,
        "poll" => declared_fields(tx, ctx, section.resource, None, POLL_FIELDS)?,
        _ => declared_fields(tx, ctx, section.resource, None, CONVERSATION_FIELDS)?,
    };
    let handler: Option<FormHandler> = if section.name == "cards" { Some(submit_components) } else { None };
    let form = FormDefinition {
        heading: (*heading).to_owned(),
        lead: "Add the card to a post or scheduled post.".to_owned(),
        trail: ctx.trail(&[("Cards", "/cards")]),
        fields,
        submit: "Create card",
        redirect: FormRedirect::Created(ctx.page_path(&format!("/{part}"))),
        handler,
        ..FormDefinition::create(ctx, section.resource, "/cards", &format!("new/{what}"))
    };
    Ok(Some(form.adjust_field("duration_in_minutes", |field| field.with_options(VOTING_PERIODS))))
}

pub(super) fn edit_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    section: &Section,
    id: &str,
) -> Result<Option<FormDefinition>, Error> {
    if !section.resource.supports(ResourceVerb::Update) {
        return Ok(None);
    }
    let now = ctx.get(tx, section.resource, id)?;
    let here = format!("/{}/{id}", section.name);
    let is_simple = find_component(&now, "MEDIA").is_some();
    let (fields, handler): (_, Option<FormHandler>) = match section.name {
        "cards" if is_simple && find_component(&now, "BUTTON").is_some() => {
            (app_fields(tx, ctx, Some(&now))?, Some(submit_components))
        }
        "cards" if is_simple => (website_fields(tx, ctx, Some(&now))?, Some(submit_components)),
        // Only the name of a carousel can be edited here; its slides are created over the API.
        "cards" => (declared_fields(tx, ctx, &CARD, Some(&now), &["name"])?, Some(submit_name)),
        _ => (declared_fields(tx, ctx, section.resource, Some(&now), CONVERSATION_FIELDS)?, None),
    };
    Ok(Some(FormDefinition {
        heading: "Edit card".to_owned(),
        lead: "Posts that already use this card change as well.".to_owned(),
        trail: ctx.trail(&[("Cards", "/cards"), (now.text("name"), &here)]),
        fields,
        handler,
        ..FormDefinition::update(ctx, section.resource, id, (&here, &here))
    }))
}

fn find_component<'v>(card: &'v RecordView, kind: &str) -> Option<&'v Value> {
    let mut parts = card.items("components").iter();
    parts.find(|part| json_text(part, "type") == kind)
}

/// The name and the medium, which all cards with components have.
fn common_fields(tx: &mut Tx<'_>, ctx: &ManagerAccount, now: Option<&RecordView>) -> Result<Vec<FormFieldSpec>, Error> {
    let key = now.and_then(|now| find_component(now, "MEDIA")).map(|part| json_text(part, "media_key"));
    let medium = FormFieldSpec::choice("media_key", "Image or video", choices::media(tx, ctx, MediaFilter::All)?)
        .error_aliases(&["components", "components[0].media_key", "components[0]"])
        .help(
            "From the media library: an image at least 800 pixels wide, 1.91:1 or square, at most 3 MB; \
             or a video, 16:9 or square.",
        );
    let mut fields = declared_fields(tx, ctx, &CARD, now, &["name"])?;
    fields.push(match key {
        Some(key) => medium.initial_value(key),
        None => medium.allow_none("Choose one"),
    });
    Ok(fields)
}

fn website_fields(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    now: Option<&RecordView>,
) -> Result<Vec<FormFieldSpec>, Error> {
    let details = now.and_then(|now| find_component(now, "DETAILS")).cloned().unwrap_or_default();
    let url = details.pointer("/destination/url").and_then(Value::as_str);
    let mut fields = common_fields(tx, ctx, now)?;
    fields.extend([
        FormFieldSpec::text("title", "Headline")
            .initial_value(json_text(&details, "title"))
            .error_aliases(&["components[1].title"]),
        FormFieldSpec::text("website_url", "Website")
            .initial_value(url.unwrap_or_default())
            .error_aliases(&["components[1].destination.url", "components[1].destination"])
            .help("The page that the card opens. Starts with https://"),
    ]);
    Ok(fields)
}

/// The name, the label, the help and the path in refusals of the fields of an app, in their order.
const APP_FIELDS: &[(&str, &str, &str, &[&str])] = &[
    (
        "country_code",
        "Country of the app stores",
        "A two-letter code, such as US.",
        &["components[1].destination.country_code"],
    ),
    (
        "googleplay_app_id",
        "Android app",
        "The package name, such as com.example.bikes. Enter at least one of the two apps.",
        &["components[1].destination.googleplay_app_id"],
    ),
    (
        "ios_app_store_identifier",
        "iOS app",
        "The numeric App Store ID.",
        &["components[1].destination.ios_app_store_identifier"],
    ),
    ("googleplay_deep_link", "Android deep link", "", &["components[1].destination.googleplay_deep_link"]),
    ("ios_deep_link", "iOS deep link", "", &["components[1].destination.ios_deep_link"]),
];

fn app_fields(tx: &mut Tx<'_>, ctx: &ManagerAccount, now: Option<&RecordView>) -> Result<Vec<FormFieldSpec>, Error> {
    let button = now.and_then(|now| find_component(now, "BUTTON")).cloned().unwrap_or_default();
    let app = button.get("destination").cloned().unwrap_or_default();
    let label = button.pointer("/label/value").and_then(Value::as_str);
    let labels = ads::resources::card_components::BUTTON_LABELS.iter().map(|word| (*word, word_label(word)));
    let mut fields = common_fields(tx, ctx, now)?;
    fields.push(
        FormFieldSpec::choice("label", "Button", labels)
            .initial_value(label.unwrap_or("INSTALL"))
            .error_aliases(&["components[1].label.value", "components[1].label"]),
    );
    fields.extend(APP_FIELDS.iter().map(|(name, label, help, at)| {
        let field = FormFieldSpec::text(name, label).initial_value(json_text(&app, name)).error_aliases(at).help(help);
        if name.ends_with("deep_link") { field.mark_advanced() } else { field }
    }));
    Ok(fields)
}

fn submit_components(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    form: &FormDefinition,
    sent: &SubmittedFields,
) -> Result<OperationOutput, Error> {
    let typed = |name: &str| match sent.text(name) {
        "" => Value::Null,
        text => text.into(),
    };
    let mut parts = form.fields.iter().map(|field_spec| field_spec.name).filter(|name| *name != "name");
    if form.method == "PUT" && !parts.any(|name| form.is_changed(name, sent)) {
        return form.send_params(tx, ctx, json!({ "name": typed("name") }));
    }
    let leads = if form.fields.iter().any(|field_spec| field_spec.name == "label") {
        let members = APP_FIELDS.iter().map(|(name, ..)| ((*name).to_owned(), typed(name)));
        let mut app: Map<String, Value> = members.collect();
        app.insert("type".to_owned(), "APP".into());
        json!({ "type": "BUTTON", "label": { "type": "ENUM", "value": typed("label") }, "destination": app })
    } else {
        let site = json!({ "type": "WEBSITE", "url": typed("website_url") });
        json!({ "type": "DETAILS", "title": typed("title"), "destination": site })
    };
    let medium = json!({ "type": "MEDIA", "media_key": typed("media_key") });
    form.send_params(tx, ctx, json!({ "name": typed("name"), "components": [medium, leads] }))
}

fn submit_name(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    form: &FormDefinition,
    sent: &SubmittedFields,
) -> Result<OperationOutput, Error> {
    form.send_params(tx, ctx, json!({ "name": sent.text("name") }))
}
