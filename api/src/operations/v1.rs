//! Operations of the v1.1 API that clients still call.

use base::Scopes;
use web::endpoint::{BodySpec, Endpoint, ErrorFormat, Kind, MAX_TEXT, Parameter, RateWindow, per_quarter_hour};
use web::text_members;

use crate::v1::{oembed, rate_limits, users};

pub static V1: &[Endpoint] = &[
    Endpoint::get("verifyCredentials", "/1.1/account/verify_credentials.json", &users::verify_credentials)
        .summary("The authenticated user, as a v1.1 object.")
        .permit("1", Scopes::NONE)
        .limits(&[], &[per_quarter_hour(75)])
        .params(&[&[
            Parameter::query("include_email", Kind::BOOL, "Whether to include the email address."),
            Parameter::query("include_entities", Kind::BOOL, "Accepted and ignored: entities are always included."),
            Parameter::query("skip_status", Kind::BOOL, "Accepted and ignored: no post is included."),
            Parameter::query("tweet_mode", TWEET_MODE, "Accepted and ignored: no post is included."),
        ]])
        .error_format(ErrorFormat::Legacy),
    Endpoint::get("showUser", "/1.1/users/show.json", &users::show_user)
        .aliases(&["/1.1/users/show"])
        .summary("A user by id or username, as a v1.1 object.")
        .permit("1A", Scopes::NONE)
        .limits(&[per_quarter_hour(900)], &[per_quarter_hour(900)])
        .params(&[[
            Parameter::query("user_id", Kind::ID, "The id of the user."),
            Parameter::query("screen_name", Kind::text(1, 100), "The username; ignored if an id is given."),
            Parameter::query("include_entities", Kind::BOOL, "Accepted and ignored: entities are always included."),
            Parameter::query("tweet_mode", TWEET_MODE, "Accepted and ignored: no post is included."),
        ]
        .as_slice()])
        .error_format(ErrorFormat::Legacy),
    users_lookup("lookupUsers", "GET").summary("Up to 100 users by ids and usernames, as v1.1 objects."),
    users_lookup("lookupManyUsers", "POST")
        .summary("The same for lists that are too long for a URL.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; user_id screen_name include_entities tweet_mode })),
    Endpoint::get("getRateLimitStatus", "/1.1/application/rate_limit_status.json", &rate_limits::show_status)
        .aliases(&["/1.1/application/rate_limit_status"])
        .summary("The caller's rate limits and what is left of them.")
        .permit("1A", Scopes::NONE)
        .limits(&[per_quarter_hour(180)], &[per_quarter_hour(180)])
        .params(&[&[Parameter::query(
            "resources",
            Kind::text(0, 1_000),
            "Families to list, separated by commas: `users,tweets`. All by default.",
        )]])
        .error_format(ErrorFormat::Legacy),
    Endpoint::get("embedStatus", "/1.1/statuses/oembed.json", &oembed::show_post)
        .aliases(&["/1.1/statuses/oembed"])
        .summary("A public post as HTML for other sites (oEmbed).")
        .allow_anonymous()
        .limits(EMBEDS, EMBEDS)
        .params(&[EMBED])
        .error_format(ErrorFormat::Legacy),
    Endpoint::get("embedPost", "/oembed", &oembed::show_post)
        .summary("A public post as HTML for other sites (oEmbed).")
        .allow_anonymous()
        .limits(EMBEDS, EMBEDS)
        .params(&[EMBED])
        .error_format(ErrorFormat::Legacy),
];

const fn users_lookup(id: &'static str, method: &'static str) -> Endpoint {
    Endpoint::new(id, method, "/1.1/users/lookup.json")
        .handler(&users::lookup_users)
        .aliases(&["/1.1/users/lookup"])
        .permit("1A", Scopes::NONE)
        .limits(LOOKUPS_PER_APP, LOOKUPS_PER_USER)
        .params(&[LOOKUP])
        .error_format(ErrorFormat::Legacy)
}

const TWEET_MODE: Kind = Kind::one_of(&["compat", "extended"]);

const EMBEDS: &[RateWindow] = &[per_quarter_hour(900)];

const LOOKUPS_PER_APP: &[RateWindow] = &[per_quarter_hour(300)];
const LOOKUPS_PER_USER: &[RateWindow] = &[per_quarter_hour(900)];
const LOOKUP: &[Parameter] = &[
    Parameter::query("user_id", Kind::text(0, MAX_TEXT), "Ids of users, separated by commas."),
    Parameter::query("screen_name", Kind::text(0, MAX_TEXT), "Usernames, separated by commas."),
    Parameter::query("include_entities", Kind::BOOL, "Accepted and ignored: entities are always included."),
    Parameter::query("tweet_mode", TWEET_MODE, "Accepted and ignored: no post is included."),
];

const IGNORED: Kind = Kind::text(0, 200);
const EMBED: &[Parameter] = &[
    Parameter::query("id", Kind::ID, "The id of the post; instead of its address."),
    Parameter::query("url", Kind::text(0, 2_000), "The address of the post's page."),
    Parameter::query("maxwidth", Kind::int(1, 100_000), "The width in pixels; the answer's is between 220 and 550.")
        .default_number(oembed::MAX_WIDTH),
    Parameter::query("format", Kind::one_of(&["json"]), "The format."),
    Parameter::query("hide_media", Kind::BOOL, "Accepted and ignored: media are never embedded."),
    Parameter::query("hide_thread", Kind::BOOL, "Accepted and ignored: no other posts are embedded."),
    Parameter::query("omit_script", Kind::BOOL, "Accepted and ignored: no script is embedded."),
    Parameter::query("dnt", Kind::BOOL, "Accepted and ignored: readers are not tracked."),
    Parameter::query("align", IGNORED, "Accepted and ignored, as are the following."),
    Parameter::query("related", IGNORED, ""),
    Parameter::query("lang", IGNORED, ""),
    Parameter::query("theme", IGNORED, ""),
    Parameter::query("link_color", IGNORED, ""),
    Parameter::query("border_color", IGNORED, ""),
    Parameter::query("widget_type", IGNORED, ""),
    Parameter::query("maxheight", IGNORED, ""),
];
