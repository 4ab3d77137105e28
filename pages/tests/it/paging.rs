//! Pages of longer lists, and where one comes back to.

use pages::members::{
    BlockedAccountsPage, BookmarksPage, HomePage, MemberSearchPage, PeoplePage, PostListPage, ProfilePage, ThreadPage,
};
use pages::{HtmlPage, PageFrame, Pager, SignUpPage};

use crate::samples::{blocked_accounts, bookmarks, members, sign_in};

fn before_another() -> Pager {
    Pager { previous: None, next: Some("/next?before=17".to_owned()) }
}

/// The state of this name, such as one with rows.
fn state<P>(all: Vec<(&'static str, P)>, name: &str) -> P {
    all.into_iter().find(|(state, _)| *state == name).unwrap().1
}

#[test]
fn empty_page_leads_to_the_next_one() {
    let mut profile: ProfilePage = state(members::profile_states(), "own");
    profile.feed.posts.clear();
    profile.feed.pager = before_another();
    let mut posts: PostListPage = state(members::posts_states(), "plain");
    posts.feed.posts.clear();
    posts.feed.pager = before_another();
    let mut search: MemberSearchPage = state(members::search_states(), "posts");
    search.feed.posts.clear();
    search.feed.pager = before_another();
    let mut bookmarks: BookmarksPage = state(bookmarks::bookmarks_states(), "plain");
    bookmarks.cards.clear();
    bookmarks.pager = before_another();
    let people: PeoplePage = state(members::people_states(), "plain");
    let people = PeoplePage { people: Vec::new(), pager: before_another(), ..people };
    let blocked: BlockedAccountsPage = state(blocked_accounts::blocked_accounts_states(), "several");
    let blocked = BlockedAccountsPage { people: Vec::new(), pager: before_another(), ..blocked };
    let rendered = [
        profile.render_html(),
        posts.render_html(),
        search.render_html(),
        bookmarks.render_html(),
        people.render_html(),
        blocked.render_html(),
    ];
    for (place, html) in rendered.into_iter().enumerate() {
        let html = html.unwrap();
        assert!(html.contains("rel=\"next\" href=\"/next?before=17\""), "{place}: {html}");
        assert!(html.contains("on this page") && !html.contains("class=\"empty\""), "{place}: {html}");
    }
}

#[test]
fn buttons_lead_back_to_the_page_that_they_are_on() {
    let mut home: HomePage = state(members::home_states(), "older");
    home.frame = PageFrame { path: "/home".to_owned(), query: "before=17".to_owned(), ..home.frame };
    assert!(home.render_html().unwrap().contains("name=\"next\" value=\"/home?before=17\""));
}

#[test]
fn links_to_sign_in_lead_back() {
    let thread: ThreadPage = state(members::thread_states(), "visitor");
    let sign_up: SignUpPage = state(sign_in::sign_up_states(), "plain");
    let sign_up = SignUpPage { next: "/ada/status/17".to_owned(), ..sign_up };
    for html in [thread.render_html().unwrap(), sign_up.render_html().unwrap()] {
        assert!(html.contains("<a href=\"/login?next=%2Fada%2Fstatus%2F17\">Sign in</a>"), "{html}");
    }
}
