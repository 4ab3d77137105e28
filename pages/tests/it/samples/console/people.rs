use crate::samples::{
    HOSTILE, development_frame, hostile_frame, minutes_ago, signed_in_frame, signed_out_frame, with_notice,
};
use pages::console::{
    MintedToken, PeoplePage, PersonApp, PersonItem, PersonPage, PersonPost, PersonRelation, PostFields, ProfileFields,
    SelectOption, word_options,
};
use pages::{FormField, PageFrame, Pager};

fn person(username: &str, name: &str, marks: Vec<&'static str>) -> PersonItem {
    PersonItem {
        id: "1789440129884192768".to_owned(),
        username: username.to_owned(),
        name: name.to_owned(),
        path: "/console/people/ada".to_owned(),
        marks,
        followers: 12,
        posts: 1,
    }
}

pub(crate) fn people_states() -> Vec<(&'static str, PeoplePage)> {
    let page = |frame, people| PeoplePage {
        frame: development_frame(frame),
        path: "/console/people",
        sign_in: "/console/sign-in",
        query: FormField::default(),
        people,
        pager: Pager { previous: None, next: Some("/console/people?after=12".to_owned()) },
        username: FormField::default(),
        name: FormField::default(),
        description: FormField::default(),
    };
    let people = || vec![person("ada", "Ada Okafor", vec!["verified"]), person("bob", "Bob", vec!["protected"])];
    let refused = PeoplePage {
        username: FormField::invalid("ada", "This username is taken."),
        query: FormField::new("ada"),
        ..page(signed_in_frame(), people())
    };
    let hostile = PeoplePage {
        query: FormField::new(HOSTILE),
        username: FormField::invalid(HOSTILE, HOSTILE),
        ..page(hostile_frame(), vec![person(HOSTILE, HOSTILE, Vec::new())])
    };
    vec![
        ("none", page(signed_out_frame(), Vec::new())),
        ("some", page(signed_in_frame(), people())),
        ("refused", refused),
        ("hostile", hostile),
    ]
}

fn relation(title: &'static str, undo: (&'static str, &'static str), people: Vec<PersonItem>) -> PersonRelation {
    PersonRelation { title, undo, accept: None, people, is_truncated: true }
}

fn person_page(frame: PageFrame, text: &str) -> PersonPage {
    let (username, name) = if text.is_empty() { ("ada", "Ada Okafor") } else { (text, text) };
    let other = || vec![person(if text.is_empty() { "bob" } else { text }, name, Vec::new())];
    let requests = PersonRelation {
        accept: Some(("approve", "Approve")),
        ..relation("Follow requests", ("deny", "Deny"), other())
    };
    PersonPage {
        frame: development_frame(frame),
        people: "/console/people",
        sign_in: "/console/sign-in",
        person: person(username, name, vec!["verified", "protected"]),
        facts: vec![("ID", "1789440129884192768".to_owned()), ("Biography", text.to_owned())],
        created: minutes_ago(90_000),
        is_active: true,
        profile: ProfileFields {
            username: FormField::new(username),
            name: FormField::new(name),
            description: FormField::new(text),
            verified_type: word_options(&["none", "blue"], "blue"),
            subscription_type: word_options(&["None", "Premium"], "None"),
            protected: true,
            ..ProfileFields::default()
        },
        post: PostFields::default(),
        target_post: FormField::default(),
        target_user: FormField::default(),
        recipient: FormField::default(),
        message: FormField::default(),
        apps: vec![SelectOption::new("1", name)],
        relations: vec![requests, relation("Following", ("unfollow", "Unfollow"), other())],
        posts: vec![PersonPost {
            id: "1789440129884192768".to_owned(),
            link: "/ada/status/1789440129884192768".to_owned(),
            text: format!("The harbour lights are on. {text}"),
            at: minutes_ago(3),
            kind: "reply",
            likes: 1,
            reposts: 2,
            replies: 1,
        }],
        pager: Pager::default(),
        connected_apps: vec![PersonApp {
            name: name.to_owned(),
            access: "Read and write".to_owned(),
            values: vec![("OAuth 1.0a token", "1789440129…".to_owned())],
            last_used: Some(minutes_ago(4)),
        }],
        lists: vec![(name.to_owned(), "private, 3 members".to_owned())],
        spaces: vec![(name.to_owned(), "live".to_owned())],
        minted: None,
        actor_path: Some("/console/people/bob".to_owned()),
    }
}

pub(crate) fn person_states() -> Vec<(&'static str, PersonPage)> {
    let minted = MintedToken { app: "demo".to_owned(), values: vec![("Token", "aHR0cHM6Ly9s".to_owned())] };
    let minted =
        PersonPage { minted: Some(minted), ..person_page(with_notice(signed_in_frame(), "The post was created."), "") };
    let refused = PersonPage {
        post: PostFields {
            text: FormField::invalid("again", "You are not allowed to create a Tweet with duplicate content."),
            reply_to: FormField::new("12"),
            ..PostFields::default()
        },
        profile: ProfileFields {
            url: FormField::invalid("x", "The `url` must be an address"),
            ..ProfileFields::default()
        },
        ..person_page(signed_in_frame(), "")
    };
    let suspended = PersonPage {
        is_active: false,
        posts: Vec::new(),
        connected_apps: Vec::new(),
        relations: vec![relation("Following", ("unfollow", "Unfollow"), Vec::new())],
        ..person_page(signed_out_frame(), "")
    };
    let hostile = PersonPage {
        target_user: FormField::invalid(HOSTILE, HOSTILE),
        message: FormField::invalid(HOSTILE, HOSTILE),
        ..person_page(hostile_frame(), HOSTILE)
    };
    vec![("minted", minted), ("refused", refused), ("suspended", suspended), ("hostile", hostile)]
}
