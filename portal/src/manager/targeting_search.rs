//! Finds targeting values by name.

use ads::option_catalog::EVENT_TYPES;
use ads::resources::app_lists::APP_LIST;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::categories;
use ads::resources::promotable_users::PROMOTABLE_USER;
use ads::resources::targeting_criteria::{
    AGE_BUCKETS, BATCH_ONLY_TYPES, ENGAGEMENT_TYPES, TARGETING_CRITERION, TARGETING_TYPES, allowed_operators,
};
use ads_engine::ResourceVerb;
use base::{Error, UserId};
use network::people::{self, UserSearchRange};
use pages::FormField;
use pages::manager::{
    ActionButton, DataTable, EmptyState, FormInput, FormInputKind, NavLink, PageBlock, QueryForm, TableCell, TableRow,
};
use serde_json::{Value, json};
use store::Tx;
use store::users::User;

use super::choices;
use super::labels::word_label;
use super::request::{ManagerAccount, json_text};
use super::tables::text_column;

const MAX_FOUND: usize = 25;

/// A value, its name, and what tells it from others with the same name.
type FoundValue = (String, String, String);

/// Where the values of a type are.
enum ValueSource {
    /// The path of an operation that lists them, and its required parameters.
    Options(&'static str),
    Ages,
    Genders,
    Users,
    /// Those that the account may promote, by user id.
    OwnUsers,
    /// The same, by the id of the permission to promote.
    PromotableUsers,
    Audiences,
    AppLists,
    Campaigns,
    EngagementTypes,
    IabCategories,
    /// They are typed, such as keywords.
    Typed,
}

fn value_source(kind: &str) -> ValueSource {
    use ValueSource as S;
    match kind {
        "APP_STORE_CATEGORY" | "APP_STORE_CATEGORY_LOOKALIKE" => S::Options("app_store_categories"),
        "CONVERSATION" => S::Options("conversations"),
        "DEVICE" => S::Options("devices"),
        "EVENT" | "LIVE_TV_EVENT" => S::Options("events"),
        "INTEREST" => S::Options("interests"),
        "LANGUAGE" => S::Options("languages"),
        "LOCATION" => S::Options("locations"),
        "NETWORK_OPERATOR" => S::Options("network_operators"),
        "PLATFORM" => S::Options("platforms"),
        "PLATFORM_VERSION" => S::Options("platform_versions"),
        "TV_SHOW" => S::Options("tv_shows"),
        "AGE" => S::Ages,
        "GENDER" => S::Genders,
        "CUSTOM_AUDIENCE" | "CUSTOM_AUDIENCE_EXPANDED" => S::Audiences,
        "APP_LIST" => S::AppLists,
        "CAMPAIGN_ENGAGEMENT" | "CAMPAIGN_ENGAGEMENT_LOOKALIKE" => S::Campaigns,
        "ENGAGEMENT_TYPE" => S::EngagementTypes,
        "IAB_CATEGORY" => S::IabCategories,
        "FOLLOWERS_OF_USER" => S::OwnUsers,
        "USER_ENGAGEMENT" | "USER_ENGAGEMENT_LOOKALIKE" => S::PromotableUsers,
        "SIMILAR_TO_FOLLOWERS_OF_USER" | "CONTENT_PUBLISHER_USER" => S::Users,
        _ => S::Typed,
    }
}

pub(super) fn is_typed(kind: &str) -> bool {
    matches!(value_source(kind), ValueSource::Typed)
}

/// The type that the query asks for.
pub(super) fn selected_type(ctx: &ManagerAccount) -> &'static str {
    let asked = ctx.request.query.get("type");
    targeting_types().find(|kind| Some(*kind) == asked).unwrap_or("LOCATION")
}

pub(super) fn targeting_types() -> impl Iterator<Item = &'static str> {
    TARGETING_TYPES.iter().copied().filter(|kind| !BATCH_ONLY_TYPES.contains(kind))
}

/// The search, and what it found with buttons that add it to the line item.
pub(super) fn search_blocks(tx: &mut Tx<'_>, ctx: &ManagerAccount, item: &str) -> Result<Vec<PageBlock>, Error> {
    let query = &ctx.request.query;
    let (kind, name) = (selected_type(ctx), query.get("find").unwrap_or_default());
    let here = ctx.page_path(&format!("/line-items/{item}/target"));
    let types = targeting_types().filter(|kind| !is_typed(kind)).map(|kind| (kind.to_owned(), word_label(kind)));
    let form = QueryForm {
        action: here.clone(),
        inputs: vec![
            FormInput {
                name: "type",
                label: "Find by name".to_owned(),
                field: FormField::new(kind),
                kind: FormInputKind::Choice(types.collect()),
                ..FormInput::default()
            },
            FormInput { name: "find", label: "Name".to_owned(), field: FormField::new(name), ..FormInput::default() },
        ],
        submit: "Search",
        is_search: true,
        ..QueryForm::default()
    };
    let asked = query.get("type").is_some();
    let found = if asked { find_values(tx, ctx, kind, name)? } else { Vec::new() };
    let search = base::percent::encode(name);
    let next = format!("{here}?type={kind}&find={search}");
    let may_add = ctx.may(ResourceVerb::Create, &TARGETING_CRITERION);
    let rows = found.into_iter().map(|(value, name, about)| {
        let button = |text, operator: &str| ActionButton {
            text,
            path: here.clone(),
            hidden: vec![
                ("targeting_type", kind.to_owned()),
                ("targeting_value", value.clone()),
                ("operator_type", operator.to_owned()),
                ("next", next.clone()),
            ],
            ..ActionButton::default()
        };
        let allowed = allowed_operators(kind);
        let buttons = [("Include", "EQ"), ("Exclude", "NE")].into_iter().filter(|(_, word)| allowed.contains(word));
        TableRow {
            cells: vec![TableCell::from_text(name.clone()).with_subtext(about)],
            action_buttons: buttons.filter(|_| may_add).map(|(text, operator)| button(text, operator)).collect(),
            name,
            ..TableRow::default()
        }
    });
    let empty = if asked {
        let back = NavLink::new("Back to the line item", ctx.page_path(&format!("/line-items/{item}")));
        EmptyState::new("Nothing found", "Try a shorter name or another type.", Some(back))
    } else {
        EmptyState::default()
    };
    Ok(vec![PageBlock::Table(DataTable {
        search: Some(form.into()),
        columns: vec![text_column("Name")],
        rows: rows.collect(),
        empty,
        ..DataTable::default()
    })])
}

/// At most [`MAX_FOUND`].
fn find_values(tx: &mut Tx<'_>, ctx: &ManagerAccount, kind: &str, name: &str) -> Result<Vec<FoundValue>, Error> {
    let plain = |pairs: Vec<(String, String)>| -> Vec<FoundValue> {
        pairs.into_iter().map(|(value, name)| (value, name, String::new())).collect()
    };
    let all = match value_source(kind) {
        ValueSource::Options(list) => return find_options(tx, ctx, list, name),
        ValueSource::Ages => plain(AGE_BUCKETS.iter().map(|age| ((*age).to_owned(), age_label(age))).collect()),
        ValueSource::Genders => plain(vec![("1".to_owned(), "Men".to_owned()), ("2".to_owned(), "Women".to_owned())]),
        ValueSource::Users => return find_users(tx, name),
        ValueSource::OwnUsers => {
            list_promotable_users(tx, ctx)?.into_iter().map(|(_, user)| found_user(user)).collect()
        }
        ValueSource::PromotableUsers => {
            let own = list_promotable_users(tx, ctx)?.into_iter();
            own.map(|(id, user)| (id, user.name, format!("@{}", user.username))).collect()
        }
        ValueSource::Audiences => plain(choices::audiences(tx, ctx)?),
        ValueSource::AppLists => {
            let lists = ctx.list(tx, &APP_LIST, json!({}))?;
            plain(lists.rows.iter().map(|one| (one.id(), one.text("name").to_owned())).collect())
        }
        ValueSource::EngagementTypes => {
            plain(ENGAGEMENT_TYPES.iter().map(|kind| ((*kind).to_owned(), word_label(kind))).collect())
        }
        ValueSource::Campaigns => {
            let mut params = json!({ "count": MAX_FOUND });
            if let Some(params) = params.as_object_mut().filter(|_| !name.is_empty()) {
                params.insert("q".to_owned(), name.into());
            }
            let found = ctx.list(tx, &CAMPAIGN, params)?;
            return Ok(found.rows.iter().map(|one| (one.id(), one.text("name").to_owned(), one.id())).collect());
        }
        ValueSource::IabCategories => {
            plain(categories::iab_names().map(|(id, name)| (id.to_owned(), name.to_owned())).collect())
        }
        ValueSource::Typed => Vec::new(),
    };
    let term = name.to_lowercase();
    let fits = |(_, name, about): &FoundValue| format!("{name} {about}").to_lowercase().contains(&term);
    Ok(all.into_iter().filter(fits).take(MAX_FOUND).collect())
}

/// For example `18 to 24`.
fn age_label(bucket: &str) -> String {
    word_label(bucket.strip_prefix("AGE_").unwrap_or(bucket)).to_lowercase()
}

fn find_options(tx: &mut Tx<'_>, ctx: &ManagerAccount, list: &str, name: &str) -> Result<Vec<FoundValue>, Error> {
    let mut params = match list {
        "events" => json!({ "event_types": EVENT_TYPES, "count": 1000 }),
        "tv_shows" => json!({ "locale": "en-US" }),
        "app_store_categories" | "platform_versions" => json!({}),
        _ => json!({ "count": MAX_FOUND }),
    };
    if let Some(params) = params.as_object_mut().filter(|_| list != "events" && !name.is_empty()) {
        params.insert("q".to_owned(), name.into());
    }
    let term = name.to_lowercase();
    let found = ctx.list_values(tx, &format!("/12/targeting_criteria/{list}"), &[], params)?;
    let fits = found.iter().filter(|one| list != "events" || json_text(one, "name").to_lowercase().contains(&term));
    let mut all: Vec<FoundValue> = fits.take(MAX_FOUND).map(found_option).collect();
    all.sort_by_key(|(_, name, _)| !name.to_lowercase().starts_with(&term));
    Ok(all)
}

fn found_option(option: &Value) -> FoundValue {
    let about = ["location_type", "os_type", "conversation_type", "event_type", "manufacturer", "genre"];
    let about = about.iter().map(|name| json_text(option, name)).find(|text| !text.is_empty());
    let about = about.map(|word| if word == "IOS" { "iOS".to_owned() } else { word_label(word) });
    let text = |name: &str| json_text(option, name).to_owned();
    (text("targeting_value"), text("name"), about.unwrap_or_default())
}

/// With the id of the permission to promote each.
fn list_promotable_users(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Vec<(String, User)>, Error> {
    let own = ctx.list(tx, &PROMOTABLE_USER, json!({}))?;
    let ids: Vec<UserId> = own.rows.iter().filter_map(|one| one.int("user_id").map(UserId::new)).collect();
    let users = store::users::find_by_ids(tx, &ids)?.into_iter();
    let permission = |user: &User| own.rows.iter().find(|one| one.int("user_id") == Some(user.id.get()));
    Ok(users.filter_map(|user| Some((permission(&user)?.id(), user))).collect())
}

fn find_users(tx: &mut Tx<'_>, name: &str) -> Result<Vec<FoundValue>, Error> {
    let range = UserSearchRange { from: None, backward: false, limit: MAX_FOUND };
    let found = people::search(tx, name, &range)?.users.into_iter();
    Ok(found.map(found_user).collect())
}

fn found_user(user: User) -> FoundValue {
    (user.id.to_string(), user.name, format!("@{}", user.username))
}
