//! Audiences: how large they are, who may use them, and what targets them.

use base::Error;
use pages::manager::{Act, AdsManager, Block, Cell, Empty, Figure, Link, Row, Table};
use serde_json::{Value, json};
use store::Tx;

use super::ask::{Desk, Listed, items, number, text};
use super::forms::{Ask, Plan, Then};
use super::stand::{Sent, Stand, offered};
use super::words::{all_said, said, whole};
use super::{column, numbers};

/// The account's own audiences, and those that others share with it.
pub(super) fn list(tx: &mut Tx<'_>, desk: &Desk, _: &Stand) -> Result<AdsManager, Error> {
    let create = desk.offer(
        "POST",
        "custom_audiences",
        "Create audience",
        "/audiences/new",
    );
    let create = create.map(|link| link.kind("primary"));
    let mut own = false;
    let mut blocks = Vec::new();
    for (scope, title, none) in [
        ("OWNER", "Own audiences", "No audience yet"),
        ("SHARED", "Shared with this account", "Nothing is shared"),
    ] {
        let found = desk.list(
            tx,
            "custom_audiences",
            &[("permission_scope", scope.to_owned())],
        )?;
        let rows = found.rows.iter().map(|one| row(desk, one));
        own |= scope == "OWNER" && !found.rows.is_empty();
        let mine = scope == "OWNER";
        blocks.push(Block::Table(Table {
            title: title.to_owned(),
            columns: vec![
                column("Audience"),
                column("State"),
                column("Kind"),
                numbers("Size"),
            ],
            rows: rows.collect(),
            empty: Empty {
                title: none.to_owned(),
                text: if mine {
                    "Make one of a list of people whom you know: by their email addresses, \
                     usernames, ids or phone numbers."
                        .to_owned()
                } else {
                    "Other accounts may let this one use theirs: tell them the ID of this account."
                        .to_owned()
                },
                link: create.clone().filter(|_| mine),
            },
            ..Table::default()
        }));
    }
    Ok(AdsManager {
        heading: "Audiences".to_owned(),
        lead: "People whom line items target or leave out, by lists that you brought.".to_owned(),
        actions: create.filter(|_| own).into_iter().collect(),
        blocks,
        ..AdsManager::default()
    })
}

fn row(desk: &Desk, audience: &Value) -> Row {
    let id = text(audience, "id");
    Row {
        name: text(audience, "name").to_owned(),
        cells: vec![
            Cell::of(text(audience, "name"))
                .leads(desk.path(&format!("/audiences/{id}")))
                .below(text(audience, "description")),
            state(audience),
            Cell::of(said(text(audience, "audience_type")))
                .below(said(text(audience, "permission_level"))),
            Cell::of(size(audience)),
        ],
        acts: Vec::new(),
    }
}

fn state(audience: &Value) -> Cell {
    let targetable = audience.get("targetable").and_then(Value::as_bool) == Some(true);
    let mut state = super::words::badge(if targetable { "READY" } else { "PROCESSING" });
    if !targetable {
        "Not targetable".clone_into(&mut state.text);
    }
    Cell::badge(state).below(all_said(audience, "reasons_not_targetable"))
}

fn size(audience: &Value) -> String {
    number(audience, "audience_size").map_or_else(|| "–".to_owned(), whole)
}

/// One audience.
pub(super) fn one(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<AdsManager, Error> {
    let audience = desk.one(tx, "custom_audiences/{}", id)?;
    let mut blocks = vec![Block::Figures(vec![
        Figure {
            label: "Size".to_owned(),
            value: size(&audience),
            below: "people of this network".to_owned(),
        },
        Figure {
            label: "Kind".to_owned(),
            value: said(text(&audience, "audience_type")),
            below: String::new(),
        },
        Figure {
            label: "This account may".to_owned(),
            value: said(text(&audience, "permission_level")),
            below: String::new(),
        },
    ])];
    blocks.push(targeted(tx, desk, id)?);
    if audience.get("is_owner").and_then(Value::as_bool) == Some(true) {
        blocks.push(permissions(tx, desk, id)?);
    }
    let about = text(&audience, "description");
    Ok(AdsManager {
        trail: vec![Link::to("Audiences", desk.path("/audiences"))],
        heading: text(&audience, "name").to_owned(),
        badge: state(&audience).badge,
        lead: match (
            about,
            all_said(&audience, "reasons_not_targetable").as_str(),
        ) {
            (about, "") => about.to_owned(),
            ("", why) => format!("{why}."),
            (about, why) => format!("{about} ({why})"),
        },
        actions: actions(desk, &audience),
        blocks,
        ..AdsManager::default()
    })
}

fn actions(desk: &Desk, audience: &Value) -> Vec<Link> {
    let here = format!("/audiences/{}", text(audience, "id"));
    let own = audience.get("is_owner").and_then(Value::as_bool) == Some(true);
    let writes = text(audience, "permission_level") == "READ_WRITE";
    let lists = matches!(text(audience, "audience_type"), "CRM" | "");
    let path = "custom_audiences/{}";
    let people = desk.offer(
        "POST",
        "custom_audiences/{}/users",
        "Add or remove people",
        &format!("{here}/people"),
    );
    let edit = desk.offer("PUT", path, "Edit", &format!("{here}/edit"));
    let delete = desk.offer("DELETE", path, "Delete", &format!("{here}/delete"));
    offered([
        people
            .filter(|_| writes && lists)
            .map(|link| link.kind("primary")),
        edit.filter(|_| own),
        delete.filter(|_| own).map(|link| link.kind("danger-quiet")),
    ])
}

fn targeted(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Block, Error> {
    let path = "custom_audiences/{}/targeted";
    let found = if desk.may("GET", path) {
        let all = [("with_active", "false".to_owned())];
        Listed::of(&desk.ask(tx, "GET", path, &[id], &all)?)
    } else {
        Listed::default()
    };
    let rows = found.rows.iter().flat_map(|campaign| {
        let name = text(campaign, "campaign_name");
        let above = desk.path(&format!("/campaigns/{}", text(campaign, "campaign_id")));
        items(campaign, "line_items").iter().map(move |item| {
            let own = text(item, "id");
            let serves = item.get("servable").and_then(Value::as_bool) == Some(true);
            let state = if serves { "RUNNING" } else { "UNKNOWN" };
            Row {
                name: own.to_owned(),
                cells: vec![
                    Cell::of(super::line_items::name_of(item))
                        .leads(desk.path(&format!("/line-items/{own}"))),
                    Cell::of(name).leads(above.clone()),
                    Cell::badge(super::words::badge(state)),
                ],
                acts: Vec::new(),
            }
        })
    });
    Ok(Block::Table(Table {
        title: "Targeted by".to_owned(),
        columns: ["Line item", "Campaign", "Status"].map(column).into(),
        rows: rows.collect(),
        empty: Empty {
            title: "No line item targets it".to_owned(),
            text: "Add it under Targeting on the page of a line item.".to_owned(),
            link: None,
        },
        ..Table::default()
    }))
}

fn permissions(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Block, Error> {
    let path = "custom_audiences/{}/permissions";
    let found = if desk.may("GET", path) {
        Listed::of(&desk.ask(tx, "GET", path, &[id], &[])?)
    } else {
        Listed::default()
    };
    let grants = desk.may("POST", path);
    let here = format!("/audiences/{id}");
    let share = Link::to("Share it", desk.path(&format!("{here}/share")));
    let share = Some(share).filter(|_| grants);
    let rows = found.rows.iter().map(|one| Row {
        acts: Some(Act {
            text: "Revoke",
            path: desk.path(&format!("{here}/revoke")),
            sends: vec![("permission_id", text(one, "id").to_owned())],
            ..Act::default()
        })
        .filter(|_| grants)
        .into_iter()
        .collect(),
        name: text(one, "granted_account_id").to_owned(),
        cells: vec![
            Cell::of(text(one, "granted_account_id")),
            Cell::of(said(text(one, "permission_level"))),
            Cell::of(super::words::day(text(one, "created_at"))),
        ],
    });
    let rows: Vec<Row> = rows.collect();
    Ok(Block::Table(Table {
        title: "Shared with".to_owned(),
        columns: ["Account", "May", "Since"].map(column).into(),
        actions: share
            .clone()
            .filter(|_| !rows.is_empty())
            .into_iter()
            .collect(),
        rows,
        empty: Empty {
            title: "Shared with nobody".to_owned(),
            text: "Another account can target it, too, without seeing who is in it.".to_owned(),
            link: share,
        },
        ..Table::default()
    }))
}

fn about(now: &Value) -> Vec<Ask> {
    vec![
        Ask::text("name", "Name").at_first(text(now, "name")),
        Ask::area("description", "Description")
            .at_first(text(now, "description"))
            .help("For yourself. It may stay empty."),
    ]
}

/// The form of a new one.
pub(super) fn create(desk: &Desk) -> Plan {
    Plan {
        heading: "Create an audience".to_owned(),
        lead: "It is empty at first. On its page a list of people is added to it.".to_owned(),
        trail: vec![Link::to("Audiences", desk.path("/audiences"))],
        path: "custom_audiences",
        asks: about(&Value::Null),
        submit: "Create audience",
        action: desk.path("/audiences/new"),
        then: Then::Made(desk.path("/audiences")),
        done: "created",
        ..Plan::at(desk, "/audiences")
    }
}

/// A form below an audience.
fn below(tx: &mut Tx<'_>, desk: &Desk, id: &str, act: &str) -> Result<(Value, Plan), Error> {
    let now = desk.one(tx, "custom_audiences/{}", id)?;
    let here = format!("/audiences/{id}");
    let plan = Plan {
        trail: vec![
            Link::to("Audiences", desk.path("/audiences")),
            Link::to(text(&now, "name"), desk.path(&here)),
        ],
        ids: vec![id.to_owned()],
        action: desk.path(&format!("{here}/{act}")),
        ..Plan::at(desk, &here)
    };
    Ok((now, plan))
}

/// The form of a change.
pub(super) fn edit(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let (now, plan) = below(tx, desk, id, "edit")?;
    Ok(Some(Plan {
        heading: "Edit the audience".to_owned(),
        method: "PUT",
        path: "custom_audiences/{}",
        asks: about(&now),
        submit: "Save changes",
        ..plan
    }))
}

/// The form that takes a list of people.
pub(super) fn people(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let (_, plan) = below(tx, desk, id, "people")?;
    let kinds = super::members::KINDS.map(|(kind, said)| (kind.to_owned(), said.to_owned()));
    let acts = [("Update", "Add them"), ("Delete", "Remove them")];
    let acts = acts.map(|(act, said)| (act.to_owned(), said.to_owned()));
    Ok(Some(Plan {
        heading: "Add or remove people".to_owned(),
        lead: "What you send is made unreadable at once (SHA-256): neither the file nor anything \
               in it is kept, and nobody is told who of it is here."
            .to_owned(),
        path: "custom_audiences/{}/users",
        asks: vec![
            Ask::choice("operation_type", "What to do", acts.into()),
            Ask::choice("identifier", "They are known by", kinds.into()).help(
                "A file whose first line names its columns may have several: email, username, \
                 user_id, phone, device_id.",
            ),
            Ask::file("list", "File", ".csv,.txt,text/csv,text/plain")
                .answers(&["users"])
                .help("CSV or one a line: up to 50,000 people and 5 MB."),
            Ask::area("text", "Or paste them here").help("One a line."),
        ],
        submit: "Send the list",
        done: "listed",
        work: Some(send_people),
        ..plan
    }))
}

/// Everybody on a list becomes what the interface takes: digests.
fn send_people(tx: &mut Tx<'_>, desk: &Desk, plan: &Plan, sent: &Sent) -> Result<Value, Error> {
    let users = super::members::read(sent)?;
    let act = match sent.text("operation_type") {
        "Delete" => "Delete",
        _ => "Update",
    };
    let body = json!([{ "operation_type": act, "params": { "users": users } }]);
    desk.tell(tx, plan.method, plan.path, &plan.ids(), body)
}

/// The form that shares.
pub(super) fn share(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let (_, plan) = below(tx, desk, id, "share")?;
    let levels = [
        ("READ_ONLY", "Target it"),
        ("READ_WRITE", "Target it, and add and remove people"),
    ];
    let levels = levels.map(|(level, said)| (level.to_owned(), said.to_owned()));
    Ok(Some(Plan {
        heading: "Share the audience".to_owned(),
        lead: "The other account sees its name and size, and nobody who is in it.".to_owned(),
        path: "custom_audiences/{}/permissions",
        asks: vec![
            Ask::text("granted_account_id", "ID of the other account")
                .help("As its Account page says, for example 18ce54d4x5t."),
            Ask::choice("permission_level", "It may", levels.into()),
        ],
        submit: "Share",
        done: "shared",
        ..plan
    }))
}

/// The button that ends a permission.
pub(super) fn revoke(desk: &Desk, id: &str) -> Plan {
    Plan {
        method: "DELETE",
        path: "custom_audiences/{}/permissions/{}",
        ids: vec![id.to_owned()],
        submit: "",
        done: "revoked",
        work: Some(|tx, desk, plan, sent| {
            let mut ids = plan.ids();
            ids.push(sent.text("permission_id"));
            desk.ask(tx, plan.method, plan.path, &ids, &[])
        }),
        ..Plan::at(desk, &format!("/audiences/{id}"))
    }
}
