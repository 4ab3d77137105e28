//! Every page of the site: which addresses of it are opened, and which call of the API shows the same.

use super::lookups::{POST_EXPANSIONS, Visitor};
use super::world::{Author, World};
use crate::harness::percent_encode;

/// What a page and a call of the API have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Posts,
    People,
    Messages,
}

#[derive(Debug)]
pub(super) struct Sample {
    pub(super) path: String,
    /// A call of the API which shows the same contents.
    pub(super) twin: Option<(Compared, String)>,
    /// Those whom the member mutes or blocks are not on it.
    pub(super) hides_silenced: bool,
}

pub(super) enum Coverage {
    Page(fn(&World<'_>, Visitor<'_>) -> Vec<Sample>),
    /// Opened for each author.
    PerAuthor(fn(&World<'_>, &Author<'_>) -> Vec<Sample>),
    /// It shows nothing that others have written, for this reason.
    NoContent(&'static str),
}

use Coverage::{NoContent, Page, PerAuthor};

/// The page of the search does not show posts for promotion only.
fn organic_search(query: &str) -> String {
    format!("/2/posts/search/recent?query={query}%20-is%3Anullcast")
}

fn page(path: impl Into<String>) -> Sample {
    Sample { path: path.into(), twin: None, hides_silenced: false }
}

fn posts(path: impl Into<String>, twin: impl AsRef<str>) -> Sample {
    let twin = twin.as_ref();
    let mark = if twin.contains('?') { '&' } else { '?' };
    let twin = format!("{twin}{mark}max_results=100&{POST_EXPANSIONS}");
    Sample { twin: Some((Compared::Posts, twin)), ..page(path) }
}

fn people(path: impl Into<String>, twin: String) -> Sample {
    Sample { twin: Some((Compared::People, twin)), ..page(path) }
}

fn of_member(visitor: Visitor<'_>, sample: impl FnOnce(&str) -> Sample) -> Sample {
    match visitor {
        Visitor::Anonymous => Sample { twin: None, ..sample("1") },
        Visitor::Member(user) => sample(&user.id),
    }
}

/// By the id of the endpoint, which may have several entries.
pub(super) static PAGES: &[(&str, Coverage)] = &[
    (
        "showHome",
        Page(|_, visitor| {
            let home = |id: &str| posts("/home", format!("/2/users/{id}/timelines/reverse_chronological"));
            vec![Sample { hides_silenced: true, ..of_member(visitor, home) }]
        }),
    ),
    ("watchConversation", NoContent("the id of a message; the page shows to whom")),
    ("watchHome", NoContent("a number of posts; the tests of the home timeline compare it with the page")),
    (
        "showProfile",
        PerAuthor(|_, author| {
            let (name, id) = (&author.user.username, &author.user.id);
            vec![
                posts(format!("/{name}"), format!("/2/users/{id}/posts?exclude=replies")),
                posts(format!("/{name}?tab=replies"), format!("/2/users/{id}/posts")),
                page(format!("/{name}?tab=media")),
                posts(format!("/{name}?tab=likes"), format!("/2/users/{id}/liked_posts")),
            ]
        }),
    ),
    (
        "showProfile",
        Page(|world, visitor| {
            let own = |user: &str, id: &str| {
                vec![
                    posts(format!("/{user}"), format!("/2/users/{id}/posts?exclude=replies")),
                    posts(format!("/{user}?tab=replies"), format!("/2/users/{id}/posts")),
                    posts(format!("/{user}?tab=likes"), format!("/2/users/{id}/liked_posts")),
                ]
            };
            let mut all = own(&world.hub.username, &world.hub.id);
            if let Visitor::Member(user) = visitor {
                all.extend(own(&user.username, &user.id));
            }
            all
        }),
    ),
    ("showFeed", PerAuthor(|_, author| vec![page(format!("/{}/feed.xml", author.user.username))])),
    (
        "showFollowers",
        PerAuthor(|_, author| {
            let twin = format!("/2/users/{}/followers?max_results=100", author.user.id);
            vec![people(format!("/{}/followers", author.user.username), twin)]
        }),
    ),
    (
        "showFollowers",
        Page(|world, _| {
            [&world.viewer, &world.outsider, &world.hub]
                .map(|user| {
                    people(
                        format!("/{}/followers", user.username),
                        format!("/2/users/{}/followers?max_results=100", user.id),
                    )
                })
                .into()
        }),
    ),
    (
        "showFollowing",
        PerAuthor(|_, author| {
            let twin = format!("/2/users/{}/following?max_results=100", author.user.id);
            vec![people(format!("/{}/following", author.user.username), twin)]
        }),
    ),
    (
        "showFollowing",
        Page(|world, _| {
            let (name, id) = (&world.viewer.username, &world.viewer.id);
            vec![people(format!("/{name}/following"), format!("/2/users/{id}/following?max_results=100"))]
        }),
    ),
    (
        "showPost",
        PerAuthor(|_, author| {
            author.posts.iter().map(|post| page(format!("/{}/status/{post}", author.user.username))).collect()
        }),
    ),
    (
        "showPost",
        Page(|world, _| world.shared_posts().map(|(name, id)| page(format!("/{name}/status/{id}"))).collect()),
    ),
    (
        "showQuotes",
        PerAuthor(|_, author| {
            let post = &author.posts[1];
            vec![posts(
                format!("/{}/status/{post}/quotes", author.user.username),
                format!("/2/posts/{post}/quote_posts"),
            )]
        }),
    ),
    (
        "showQuotes",
        Page(|world, _| {
            world
                .shared_posts()
                .take(2)
                .map(|(name, id)| posts(format!("/{name}/status/{id}/quotes"), format!("/2/posts/{id}/quote_posts")))
                .collect()
        }),
    ),
    (
        "showPostVersions",
        PerAuthor(|_, author| {
            author.edited_posts().map(|post| page(format!("/{}/status/{post}/history", author.user.username))).collect()
        }),
    ),
    ("findPost", PerAuthor(|_, author| vec![page(format!("/i/web/status/{}", author.posts[0]))])),
    ("showRobots", NoContent("a constant text")),
    ("showSitemap", Page(|_, _| vec![page("/sitemap.xml")])),
    (
        "searchAsMember",
        PerAuthor(|_, author| {
            let query = percent_encode(&format!("from:{}", author.user.username));
            let name = &author.user.username;
            vec![
                posts(format!("/search?q={query}"), organic_search(&query)),
                people(format!("/search?q={name}&tab=people"), format!("/2/users/search?query={name}")),
            ]
        }),
    ),
    ("searchAsMember", Page(|_, _| vec![posts("/search?q=Hello", organic_search("Hello")), page("/search")])),
    (
        "showNotifications",
        Page(|_, visitor| {
            let mentions = |id: &str| posts("/notifications?tab=mentions", format!("/2/users/{id}/mentions"));
            let all = [page("/notifications"), page("/notifications?tab=notices"), of_member(visitor, mentions)];
            all.into_iter().map(|sample| Sample { hides_silenced: true, ..sample }).collect()
        }),
    ),
    ("showFollowRequests", Page(|_, _| vec![page("/notifications/requests")])),
    (
        "showBlockedAccounts",
        Page(|_, visitor| {
            vec![of_member(visitor, |id| {
                people("/settings/blocked", format!("/2/users/{id}/blocking?max_results=100"))
            })]
        }),
    ),
    (
        "showMutedAccounts",
        Page(|_, visitor| {
            vec![of_member(visitor, |id| people("/settings/muted", format!("/2/users/{id}/muting?max_results=100")))]
        }),
    ),
    (
        "showBookmarks",
        Page(|_, visitor| vec![of_member(visitor, |id| posts("/bookmarks", format!("/2/users/{id}/bookmarks")))]),
    ),
    ("showBookmarkFolder", Page(|world, _| vec![page(format!("/bookmarks/{}", world.bookmark_folder))])),
    (
        "showWritePost",
        PerAuthor(|_, author| {
            let post = &author.posts[0];
            ["in_reply_to", "quote"]
                .map(|target| page(format!("/compose?{target}={post}")))
                .into_iter()
                .chain([page(format!("/compose?draft={}", author.draft))])
                .collect()
        }),
    ),
    ("showDrafts", Page(|_, _| vec![page("/compose/drafts")])),
    ("showScheduledPosts", Page(|_, _| vec![page("/compose/scheduled")])),
    (
        "showEditPost",
        PerAuthor(|_, author| vec![page(format!("/{}/status/{}/edit", author.user.username, author.posts[0]))]),
    ),
    ("showConversations", Page(|_, _| vec![page("/messages")])),
    ("composeMessage", NoContent("a redirect to a form, by the id of a person")),
    ("showNewMessage", PerAuthor(|_, author| vec![page(format!("/messages/new?to={}", author.user.username))])),
    (
        "showConversation",
        PerAuthor(|_, author| {
            let twin = format!("/2/dm_conversations/with/{}/dm_events?max_results=100", author.user.id);
            vec![Sample {
                twin: Some((Compared::Messages, twin)),
                ..page(format!("/messages/{}", author.conversation))
            }]
        }),
    ),
    ("showMessageFile", NoContent("a file, which `members::message_files` tests")),
    ("showLists", Page(|_, _| vec![page("/lists"), page("/lists?tab=followed")])),
    ("showNewList", NoContent("an empty form")),
    ("showList", PerAuthor(|_, author| author.lists.iter().map(|list| page(format!("/lists/{list}"))).collect())),
    (
        "showList",
        Page(|world, _| {
            world
                .lists_of_authors
                .iter()
                .map(|list| posts(format!("/lists/{list}"), format!("/2/lists/{list}/posts")))
                .collect()
        }),
    ),
    ("showEditList", PerAuthor(|_, author| vec![page(format!("/lists/{}/edit", author.lists[0]))])),
    ("showDeleteList", PerAuthor(|_, author| vec![page(format!("/lists/{}/delete", author.lists[0]))])),
    (
        "showListMembers",
        PerAuthor(|_, author| author.lists.iter().map(|list| page(format!("/lists/{list}/members"))).collect()),
    ),
    (
        "showListMembers",
        Page(|world, _| {
            let lists = world.lists_of_authors.iter();
            lists
                .map(|list| {
                    people(format!("/lists/{list}/members"), format!("/2/lists/{list}/members?max_results=100"))
                })
                .collect()
        }),
    ),
    ("showCommunities", Page(|_, _| vec![page("/communities"), page("/communities?q=Behind")])),
    ("showCommunity", Page(|world, _| vec![page(format!("/communities/{}", world.community))])),
    ("showCommunityMembers", Page(|world, _| vec![page(format!("/communities/{}/members", world.community))])),
    ("showAddToList", PerAuthor(|_, author| vec![page(format!("/{}/lists", author.user.username))])),
    ("showEditProfile", NoContent("the member's own profile")),
    ("showNotificationSettings", NoContent(OWN_SETTINGS)),
    ("showMutedWords", NoContent("the member's own words")),
    (
        "showReport",
        PerAuthor(|world, author| {
            let mut all = vec![
                page(format!("/report?user={}", author.user.id)),
                page(format!("/report?post={}", author.posts[0])),
            ];
            all.extend(author.lists.iter().map(|list| page(format!("/report?list={list}"))));
            all.extend(world.message_of(author).map(|message| page(format!("/report?message={message}"))));
            all
        }),
    ),
    ("showPreview", PerAuthor(|_, author| vec![page(format!("/preview/{}", author.posts[0]))])),
    ("showComposer", PerAuthor(|_, author| vec![page(format!("/intent/post?in_reply_to={}", author.posts[0]))])),
    (
        "embedPost",
        PerAuthor(|world, author| {
            let embed = |post: &String| {
                let url = format!("{}/{}/status/{post}", world.server.url, author.user.username);
                page(format!("/oembed?url={}", percent_encode(&url)))
            };
            author.edited_posts().map(embed).collect()
        }),
    ),
    ("showStart", Page(|_, _| vec![page("/")])),
    ("showAccountData", NoContent(OWN_SETTINGS)),
    ("showDecisions", NoContent("decisions about the member's own posts")),
    ("showSignIn", NoContent(FORM)),
    ("showSignInCode", NoContent(FORM)),
    ("showSignOut", NoContent(FORM)),
    ("showJoin", NoContent(FORM)),
    ("showForgotten", NoContent(FORM)),
    ("showReset", NoContent(FORM)),
    ("showConfirm", NoContent(FORM)),
    ("showSetup", NoContent(FORM)),
    ("showAppealLink", NoContent("an appeal of the person to whom its link was sent")),
    ("redirectToSettings", NoContent(OWN_SETTINGS)),
    ("showSettings", NoContent(OWN_SETTINGS)),
    ("showSecurity", NoContent(OWN_SETTINGS)),
    ("showSessions", NoContent(OWN_SETTINGS)),
    ("showConnectedApps", NoContent(OWN_SETTINGS)),
    ("authorizeRequestToken", NoContent(APPS)),
    ("authenticateRequestToken", NoContent(APPS)),
    ("authorizeOAuth2", NoContent(APPS)),
    ("followCard", NoContent(REDIRECT)),
    ("followCardFrom", NoContent(REDIRECT)),
    ("followLink", NoContent(REDIRECT)),
    ("showCard", NoContent("a card of an advertiser; the tests of cards open it")),
    ("showWritten", NoContent("the member's own post")),
    ("getStyle", NoContent(FILE)),
    ("getScript", NoContent(FILE)),
    ("getHomeScript", NoContent(FILE)),
    ("getConversationScript", NoContent(FILE)),
    ("getPasskeyScript", NoContent(FILE)),
    ("getTagScript", NoContent(FILE)),
    ("recordTagEvent", NoContent(FILE)),
    ("getMark", NoContent(FILE)),
    ("showAbout", NoContent(SITE_TEXT)),
    ("showRules", NoContent(SITE_TEXT)),
    ("showTerms", NoContent(SITE_TEXT)),
    ("showPrivacy", NoContent(SITE_TEXT)),
    ("findServerDescription", NoContent(SITE_TEXT)),
    ("describeServer", NoContent(SITE_TEXT)),
];

const FORM: &str = "a form about the visitor's own account";
const OWN_SETTINGS: &str = "settings of the member's own account";
const APPS: &str = "asks about an app";
const REDIRECT: &str = "a redirect to another site";
const FILE: &str = "a file that is the same for everyone";
const SITE_TEXT: &str = "a text of the site's owners";

/// Pages that are the same for everyone, so that signing in takes nothing away, and why.
pub(super) const PUBLIC_PAGES: &[(&str, &str)] =
    &[("showFeed", "feed readers do not sign in"), ("embedPost", "other sites embed it for all of their readers")];

/// Pages that show what apps, advertisers and moderators may read by other rules than members.
pub(super) const OTHER_AREAS: &[(&str, &str)] = &[
    ("/developer", "an app's owner reads through the app's credentials"),
    ("/ads", "advertisers read their campaigns"),
    ("/admin", "moderators read what was reported"),
];
