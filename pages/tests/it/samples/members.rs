use super::{
    HOSTILE, HOSTILE_URL, days_ago, hostile_frame, minutes_ago, signed_in_frame, signed_out_frame, with_notice,
};
use pages::members::{
    ActionItem, AttachedMedia, CommunityTarget, ComposeBox, EditHistoryPage, FollowRequestsPage, HomePage, LinkPreview,
    MemberSearchPage, NotificationItem, NotificationTab, NotificationsPage, PeoplePage, PersonCard, PollCard,
    PollChoice, PostCard, PostFeed, PostListPage, PostMedia, PostTextPart, PostVersion, ProfileHeader, ProfilePage,
    ProfileRelationship, ProfileTab, QuotedPost, ThreadPage, WritePostPage, WriteTarget,
};
use pages::{FormField, Pager};

pub(super) fn text_part(text: &str, url: Option<&str>) -> PostTextPart {
    PostTextPart { text: text.to_owned(), url: url.map(str::to_owned) }
}

fn sample_words() -> Vec<PostTextPart> {
    vec![
        text_part("The harbour is open, ", None),
        text_part("@bob", Some("/bob")),
        text_part(": ", None),
        text_part("sea.example", Some("https://sea.example")),
    ]
}

fn sample_post(id: i64) -> PostCard {
    PostCard {
        id: id.to_string(),
        name: "Ada Okafor".to_owned(),
        username: "ada".to_owned(),
        avatar: String::new(),
        language: "en".to_owned(),
        text: sample_words(),
        media: Vec::new(),
        poll: None,
        quoted: None,
        reply_to: None,
        community: None,
        reposted_by: None,
        created_at: minutes_ago(id),
        replies: 2,
        reposts: 1,
        quotes: 1,
        likes: 12,
        is_liked: id % 2 == 0,
        is_reposted: false,
        is_bookmarked: false,
        is_own: true,
        is_editable: false,
        is_edited: false,
        is_protected: false,
        is_sensitive: false,
        hide_state: None,
    }
}

fn sample_poll(label: &str, is_open: bool) -> PollCard {
    let choice = |number, label: &str, votes| PollChoice {
        number,
        label: label.to_owned(),
        votes,
        share: votes * 10,
        is_own: !is_open && number == 1,
    };
    PollCard { choices: vec![choice(1, label, 7), choice(2, "No", 1)], ends_at: minutes_ago(-60), is_open }
}

fn quoted_post(text: &str) -> QuotedPost {
    QuotedPost { username: text.to_owned(), path: "/bob/status/12".to_owned(), text: text.to_owned() }
}

fn sample_media(video: Option<&str>, text: &str) -> PostMedia {
    PostMedia { picture: "/media/3_1.jpg".to_owned(), video: video.map(str::to_owned), description: text.to_owned() }
}

pub(super) fn varied_posts() -> Vec<PostCard> {
    vec![
        PostCard { is_editable: true, is_edited: true, ..sample_post(1) },
        PostCard {
            media: vec![sample_media(None, "A boat"), sample_media(Some("/media/13_1.mp4"), "Waves")],
            ..sample_post(2)
        },
        PostCard {
            poll: Some(sample_poll("Yes", true)),
            community: Some(("Boat owners".to_owned(), "/communities/7".to_owned())),
            is_own: false,
            ..sample_post(3)
        },
        PostCard { poll: Some(sample_poll("Yes", false)), is_own: false, ..sample_post(4) },
        PostCard { media: vec![sample_media(None, "A wound")], is_sensitive: true, is_own: false, ..sample_post(8) },
        PostCard { quoted: Some(quoted_post("bob")), reposted_by: Some("bob".to_owned()), ..sample_post(5) },
        PostCard {
            reply_to: Some(("bob".to_owned(), "/bob/status/12".to_owned())),
            is_protected: true,
            hide_state: Some(false),
            ..sample_post(6)
        },
    ]
}

pub(super) fn hostile_post() -> PostCard {
    PostCard {
        name: HOSTILE.to_owned(),
        username: HOSTILE.to_owned(),
        avatar: format!("/media/{HOSTILE}"),
        language: HOSTILE.to_owned(),
        text: vec![
            text_part(HOSTILE, Some(HOSTILE_URL)),
            text_part(HOSTILE, Some("//elsewhere.example")),
            text_part(HOSTILE, None),
        ],
        media: vec![sample_media(Some(HOSTILE_URL), HOSTILE)],
        poll: Some(sample_poll(HOSTILE, true)),
        quoted: Some(quoted_post(HOSTILE)),
        reply_to: Some((HOSTILE.to_owned(), "/bob/status/12".to_owned())),
        community: Some((HOSTILE.to_owned(), "/communities/7".to_owned())),
        reposted_by: Some(HOSTILE.to_owned()),
        ..sample_post(7)
    }
}

fn link_preview(text: &str) -> LinkPreview {
    LinkPreview {
        kind: "article",
        title: text.to_owned(),
        description: text.to_owned(),
        url: "https://social.example/ada/status/17".to_owned(),
        image: format!("https://social.example/media/{text}"),
        feed: "https://social.example/ada/feed.xml".to_owned(),
    }
}

pub(super) fn feed(posts: Vec<PostCard>) -> PostFeed {
    let next = (!posts.is_empty()).then(|| "/home?before=17".to_owned());
    PostFeed { posts, pager: Pager { previous: None, next } }
}

pub(super) fn compose_box(text: FormField) -> ComposeBox {
    ComposeBox { text, form_id: "f0rm".to_owned(), help: "At most 280 characters.".to_owned() }
}

pub(crate) fn home_states() -> Vec<(&'static str, HomePage)> {
    let of = |frame, posts, text| HomePage {
        frame,
        compose: compose_box(text),
        feed: feed(posts),
        events: Some("/home/live?after=17".to_owned()),
        unconfirmed_email: None,
    };
    let current = pages::PageFrame { path: "/home".to_owned(), ..signed_in_frame() };
    let older = HomePage { events: None, ..of(signed_in_frame(), varied_posts(), FormField::default()) };
    let empty = HomePage { feed: PostFeed::default(), ..of(signed_in_frame(), Vec::new(), FormField::default()) };
    vec![
        ("plain", of(current, varied_posts(), FormField::default())),
        ("older", older),
        ("empty", empty),
        ("refused", of(signed_in_frame(), varied_posts(), FormField::invalid("…", "The text is too long."))),
        ("hostile", of(hostile_frame(), vec![hostile_post()], FormField::invalid(HOSTILE, HOSTILE))),
    ]
}

fn profile_header(text: &str) -> ProfileHeader {
    ProfileHeader {
        id: "7".to_owned(),
        name: text.to_owned(),
        username: "bob".to_owned(),
        avatar: "/media/3_1.jpg".to_owned(),
        banner: "/media/3_2.jpg".to_owned(),
        description: vec![text_part("Boats and bread", None)],
        location: "Lagos".to_owned(),
        url: "https://sea.example".to_owned(),
        joined_at: days_ago(400),
        is_protected: false,
        is_verified: true,
        posts: 21,
        followers: 1,
        following: 3,
    }
}

pub(crate) fn profile_states() -> Vec<(&'static str, ProfilePage)> {
    let of = |frame, relationship| ProfilePage {
        frame,
        profile: profile_header("Bob"),
        is_own: false,
        relationship,
        tab: ProfileTab::Posts,
        feed: feed(varied_posts()),
        hidden_because: None,
        preview: link_preview("Bob"),
    };
    let with = |relationship| of(signed_in_frame(), Some(relationship));
    let plain = ProfileRelationship::default();
    let own =
        ProfilePage { is_own: true, tab: ProfileTab::Likes, feed: feed(Vec::new()), ..of(signed_in_frame(), None) };
    let hidden = ProfilePage {
        profile: ProfileHeader { is_protected: true, ..profile_header("Bob") },
        feed: PostFeed::default(),
        hidden_because: Some("Only approved followers see the posts of this account."),
        ..with(ProfileRelationship { has_requested: true, ..plain })
    };
    let hostile = ProfilePage {
        profile: ProfileHeader {
            username: HOSTILE.to_owned(),
            description: vec![text_part(HOSTILE, Some(HOSTILE_URL))],
            location: HOSTILE.to_owned(),
            url: HOSTILE_URL.to_owned(),
            ..profile_header(HOSTILE)
        },
        feed: feed(vec![hostile_post()]),
        preview: link_preview(HOSTILE),
        ..of(hostile_frame(), Some(plain))
    };
    vec![
        ("visitor", of(signed_out_frame(), None)),
        ("stranger", with(ProfileRelationship { may_message: true, ..plain })),
        ("followed", with(ProfileRelationship { is_following: true, is_followed_by: true, is_muting: true, ..plain })),
        ("blocked", with(ProfileRelationship { is_blocking: true, ..plain })),
        ("protected", hidden),
        ("own", own),
        ("hostile", hostile),
    ]
}

pub(super) fn person_card(name: &str, actions: Vec<(&'static str, &'static str)>) -> PersonCard {
    PersonCard {
        id: "7".to_owned(),
        name: name.to_owned(),
        username: name.to_owned(),
        avatar: String::new(),
        description: name.to_owned(),
        is_protected: true,
        is_verified: true,
        actions: actions.into_iter().map(|(verb, label)| (verb.into(), label)).collect(),
    }
}

pub(crate) fn people_states() -> Vec<(&'static str, PeoplePage)> {
    let of = |frame, people| PeoplePage {
        frame,
        heading: "Followers".to_owned(),
        username: "bob".to_owned(),
        people,
        pager: Pager { previous: Some("/bob/followers".to_owned()), next: None },
        empty: "Nobody follows this account yet.",
    };
    let follow = vec![("follow", "Follow")];
    let request = vec![("approve", "Accept"), ("deny", "Decline")];
    vec![
        ("plain", of(signed_in_frame(), vec![person_card("ada", follow.clone()), person_card("eve", request)])),
        ("visitor", of(signed_out_frame(), vec![person_card("ada", Vec::new())])),
        ("empty", of(signed_in_frame(), Vec::new())),
        ("hostile", of(hostile_frame(), vec![person_card(HOSTILE, follow)])),
    ]
}

pub(crate) fn thread_states() -> Vec<(&'static str, ThreadPage)> {
    let of = |frame, post| ThreadPage {
        frame,
        ancestors: Vec::new(),
        post,
        newest_version: None,
        replies: PostFeed::default(),
        hidden_replies: Vec::new(),
        reply: None,
        oembed_url: Some(
            "https://social.example/oembed?url=https%3A%2F%2Fsocial.example%2Fada%2Fstatus%2F17".to_owned(),
        ),
        preview: link_preview("The harbour is open"),
        path: "/ada/status/17".to_owned(),
    };
    let full = ThreadPage {
        ancestors: vec![sample_post(21), sample_post(22)],
        replies: feed(varied_posts()),
        hidden_replies: vec![PostCard { hide_state: Some(true), ..sample_post(30) }],
        reply: Some(compose_box(FormField::default())),
        oembed_url: None,
        ..of(with_notice(signed_in_frame(), "The post was published."), sample_post(17))
    };
    let alone = PostCard { replies: 0, reposts: 0, quotes: 0, likes: 0, ..sample_post(17) };
    let earlier =
        ThreadPage { newest_version: Some("/ada/status/18".to_owned()), ..of(signed_out_frame(), sample_post(17)) };
    let hostile = ThreadPage {
        newest_version: Some(HOSTILE.to_owned()),
        ancestors: vec![PostCard { id: "8".to_owned(), ..hostile_post() }],
        reply: Some(compose_box(FormField::invalid(HOSTILE, HOSTILE))),
        preview: link_preview(HOSTILE),
        ..of(hostile_frame(), hostile_post())
    };
    vec![
        ("visitor", of(signed_out_frame(), sample_post(17))),
        ("alone", of(signed_out_frame(), alone)),
        ("full", full),
        ("earlier-version", earlier),
        ("hostile", hostile),
    ]
}

pub(crate) fn history_states() -> Vec<(&'static str, EditHistoryPage)> {
    let version = |text: &str, is_current| PostVersion {
        text: vec![text_part(text, None)],
        created_at: minutes_ago(5),
        is_current,
    };
    let of = |frame, text: &str| EditHistoryPage {
        frame,
        username: text.to_owned(),
        post_path: "/ada/status/17".to_owned(),
        versions: vec![version(text, true), version(text, false)],
    };
    vec![("plain", of(signed_in_frame(), "ada")), ("hostile", of(hostile_frame(), HOSTILE))]
}

pub(crate) fn posts_states() -> Vec<(&'static str, PostListPage)> {
    let of = |frame, heading: &str, posts| PostListPage {
        frame,
        heading: heading.to_owned(),
        back: ("/ada/status/17".to_owned(), "Back to the post"),
        feed: feed(posts),
        empty: "Nobody has quoted this post yet.",
    };
    vec![
        ("plain", of(signed_in_frame(), "Quotes", varied_posts())),
        ("empty", of(signed_out_frame(), "Quotes", Vec::new())),
        ("hostile", of(hostile_frame(), HOSTILE, vec![hostile_post()])),
    ]
}

fn write_page(frame: pages::PageFrame, text: FormField) -> WritePostPage {
    WritePostPage {
        frame,
        compose: compose_box(text),
        next: "/home".to_owned(),
        target: WriteTarget::New,
        community: None,
        attached: Vec::new(),
        file: FormField::default(),
        poll_choices: Vec::new(),
        poll: FormField::new("1440"),
        reply_settings: String::new(),
        draft_id: String::new(),
        publish_at: FormField::default(),
    }
}

fn write_to_community() -> WritePostPage {
    let community =
        CommunityTarget { id: "7".to_owned(), name: "Gardeners".to_owned(), is_closed: false, is_shared: true };
    WritePostPage { community: Some(community), ..write_page(signed_in_frame(), FormField::default()) }
}

pub(crate) fn write_states() -> Vec<(&'static str, WritePostPage)> {
    let target = |text: &str| ("17".to_owned(), text.to_owned(), text.to_owned());
    let attached = |text: &str| AttachedMedia { id: "3".to_owned(), description: text.to_owned() };
    let reply = WritePostPage {
        target: WriteTarget::Reply(target("bob")),
        attached: vec![attached("A boat"), attached("")],
        ..write_page(signed_in_frame(), FormField::new("Hello"))
    };
    let poll = WritePostPage {
        poll_choices: vec!["Tea".to_owned(), "Milk".to_owned()],
        poll: FormField::invalid("1440", "A poll has two to four choices."),
        reply_settings: "following".to_owned(),
        ..write_page(signed_in_frame(), FormField::default())
    };
    let edit = WritePostPage {
        target: WriteTarget::Edit(target("ada")),
        ..write_page(signed_in_frame(), FormField::new("Hello"))
    };
    let late = FormField::invalid("2026-11-21T04:05", "Choose a time at least one minute from now.");
    let scheduled = WritePostPage {
        draft_id: "17".to_owned(),
        publish_at: late,
        ..write_page(signed_in_frame(), FormField::new("The harbour opens"))
    };
    let hostile = WritePostPage {
        draft_id: HOSTILE.to_owned(),
        publish_at: FormField::invalid(HOSTILE, HOSTILE),
        next: HOSTILE.to_owned(),
        target: WriteTarget::Quote(target(HOSTILE)),
        attached: vec![attached(HOSTILE)],
        file: FormField::invalid(HOSTILE, HOSTILE),
        poll_choices: vec![HOSTILE.to_owned()],
        poll: FormField::invalid(HOSTILE, HOSTILE),
        reply_settings: HOSTILE.to_owned(),
        ..write_page(hostile_frame(), FormField::invalid(HOSTILE, HOSTILE))
    };
    vec![
        ("plain", write_page(signed_in_frame(), FormField::default())),
        ("refused", write_page(signed_in_frame(), FormField::invalid("…", "The text is too long."))),
        ("reply", reply),
        ("poll", poll),
        ("edit", edit),
        ("to_community", write_to_community()),
        ("scheduled", scheduled),
        ("hostile", hostile),
    ]
}

pub(crate) fn search_states() -> Vec<(&'static str, MemberSearchPage)> {
    let of = |frame, query, posts| MemberSearchPage {
        frame,
        query,
        is_people: false,
        feed: feed(posts),
        people: Vec::new(),
        trends: Vec::new(),
        tabs: [("Posts", "/search?q=boats".to_owned()), ("People", "/search?q=boats&tab=people".to_owned())],
    };
    let boats = || FormField::new("boats");
    let trends = MemberSearchPage {
        trends: vec![("#boats".to_owned(), "/search?q=%23boats".to_owned())],
        ..of(signed_out_frame(), FormField::default(), Vec::new())
    };
    let people = MemberSearchPage {
        is_people: true,
        people: vec![person_card("ada", vec![("follow", "Follow")])],
        ..of(signed_in_frame(), boats(), Vec::new())
    };
    vec![
        ("empty", of(signed_out_frame(), FormField::default(), Vec::new())),
        ("trends", trends),
        ("posts", of(signed_in_frame(), boats(), varied_posts())),
        ("people", people),
        ("nothing", of(signed_in_frame(), boats(), Vec::new())),
        ("hostile", of(hostile_frame(), FormField::invalid(HOSTILE, HOSTILE), vec![hostile_post()])),
    ]
}

fn action_item(text: &str, others: usize, is_new: bool) -> NotificationItem {
    NotificationItem::Action(ActionItem {
        icon: "like",
        people: vec![(text.to_owned(), "bob".to_owned()), (text.to_owned(), "eve".to_owned())],
        others,
        verb: "liked your post",
        post: Some(("/ada/status/17".to_owned(), text.to_owned())),
        at: minutes_ago(5),
        is_new,
    })
}

pub(crate) fn notifications_states() -> Vec<(&'static str, NotificationsPage)> {
    let of = |frame, tab, items| NotificationsPage {
        frame,
        tab,
        items,
        unread_notices: 2,
        follow_requests: 3,
        pager: Pager { previous: None, next: Some("/notifications?before=17".to_owned()) },
    };
    let mention = |post, is_new| NotificationItem::Post(Box::new(post), "Replied to you", is_new);
    let notice = |text: &str, path: &str| NotificationItem::Notice {
        text: text.to_owned(),
        path: path.to_owned(),
        at: minutes_ago(5),
        is_new: true,
    };
    let other = PostCard { is_own: false, ..sample_post(3) };
    let all = vec![action_item("Bob", 7, true), mention(other, true), action_item("Eve", 0, false)];
    let notices =
        vec![notice("A draft post is ready for preview.", "/preview/12?t=sample"), notice("Welcome to the site.", "")];
    let empty = NotificationsPage {
        unread_notices: 0,
        follow_requests: 0,
        pager: Pager::default(),
        ..of(signed_in_frame(), NotificationTab::All, Vec::new())
    };
    let hostile = vec![action_item(HOSTILE, 1, true), mention(hostile_post(), false), notice(HOSTILE, "")];
    vec![
        ("all", of(signed_in_frame(), NotificationTab::All, all)),
        ("notices", of(signed_in_frame(), NotificationTab::Notices, notices)),
        ("none", empty),
        ("hostile", of(hostile_frame(), NotificationTab::Mentions, hostile)),
    ]
}

pub(crate) fn follow_requests_states() -> Vec<(&'static str, FollowRequestsPage)> {
    let of = |frame, people| FollowRequestsPage { frame, people, pager: Pager::default() };
    let answers = vec![("approve", "Accept"), ("deny", "Decline")];
    vec![
        ("several", of(signed_in_frame(), vec![person_card("eve", answers.clone())])),
        ("none", of(signed_in_frame(), Vec::new())),
        ("hostile", of(hostile_frame(), vec![person_card(HOSTILE, answers)])),
    ]
}
