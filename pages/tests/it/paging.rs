//! Empty pages of longer lists.

use base::{Fault, Time};
use pages::members::{
    BlockedAccountsPage, BlockedAccountsTab, BookmarksPage, LinkPreview, MemberSearchPage, PeoplePage, PostFeed,
    PostListPage, ProfileHeader, ProfilePage, ProfileTab,
};
use pages::{FormField, HtmlPage as _, PageFrame, Pager};

fn before_another() -> Pager {
    Pager { previous: None, next: Some("/next?before=17".to_owned()) }
}

fn empty_feed() -> PostFeed {
    PostFeed { posts: Vec::new(), pager: before_another() }
}

fn render_profile() -> Result<String, Fault> {
    let profile = ProfileHeader {
        id: "7".to_owned(),
        name: "Bob".to_owned(),
        username: "bob".to_owned(),
        avatar: String::new(),
        banner: String::new(),
        description: Vec::new(),
        location: String::new(),
        url: String::new(),
        joined_at: Time::from_seconds(1_795_233_906),
        is_protected: false,
        is_verified: false,
        posts: 0,
        followers: 0,
        following: 0,
    };
    let [title, description, url, image, feed] = Default::default();
    let page = ProfilePage {
        frame: PageFrame::default(),
        profile,
        is_own: false,
        relationship: None,
        tab: ProfileTab::Posts,
        feed: empty_feed(),
        hidden_because: None,
        preview: LinkPreview { kind: "profile", title, description, url, image, feed },
    };
    page.render_html()
}

fn render_people() -> [Result<String, Fault>; 2] {
    let people = PeoplePage {
        frame: PageFrame::default(),
        heading: "Followers".to_owned(),
        username: "bob".to_owned(),
        people: Vec::new(),
        pager: before_another(),
        empty: "Nobody follows this account yet.",
    };
    let blocked = BlockedAccountsPage {
        frame: PageFrame::default(),
        tab: BlockedAccountsTab::Blocked,
        people: Vec::new(),
        pager: before_another(),
    };
    [people.render_html(), blocked.render_html()]
}

fn render_posts() -> [Result<String, Fault>; 2] {
    let posts = PostListPage {
        frame: PageFrame::default(),
        heading: "Quotes".to_owned(),
        back: ("/ada/status/17".to_owned(), "Back to the post"),
        feed: empty_feed(),
        empty: "Nobody has quoted this post yet.",
    };
    let search = MemberSearchPage {
        frame: PageFrame::default(),
        query: FormField::new("boats"),
        is_people: false,
        feed: empty_feed(),
        people: Vec::new(),
        trends: Vec::new(),
        tabs: [("Posts", "/search?q=boats".to_owned()), ("People", "/search?q=boats&tab=people".to_owned())],
    };
    [posts.render_html(), search.render_html()]
}

fn render_bookmarks() -> Result<String, Fault> {
    let page = BookmarksPage {
        frame: PageFrame::default(),
        open: None,
        folders: Vec::new(),
        choices: Vec::new(),
        folder_pager: Pager::default(),
        name: FormField::default(),
        form_id: String::new(),
        cards: Vec::new(),
        pager: before_another(),
    };
    page.render_html()
}

#[test]
fn empty_page_leads_to_the_next_one() {
    let rendered = [render_profile(), render_bookmarks()].into_iter().chain(render_people()).chain(render_posts());
    for (place, html) in rendered.enumerate() {
        let html = html.unwrap();
        assert!(html.contains("rel=\"next\" href=\"/next?before=17\""), "{place}: {html}");
        assert!(html.contains("on this page") && !html.contains("class=\"empty\""), "{place}: {html}");
    }
}
