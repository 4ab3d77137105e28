//! Pages about the rules of a site: reports, decisions and appeals for members, and the administration for those who
//! run it. The HTML is in the crate `pages`, the rules are in `network`.

mod access;
mod admin;
mod appeals;
mod report;
mod server_description;
mod setup;
mod site_texts;

use portal::portal_page;
use web::endpoint::{BodySpec, Endpoint, Kind, MAX_TEXT, Parameter};
use web::media_files::SUBTITLES_PARAM;
use web::text_members;

pub static ENDPOINTS: &[&[Endpoint]] = &[PAGES];

static PAGES: &[Endpoint] = &[
    portal_page("showReport", "GET", report::PATH, &report::show)
        .summary("The form that reports a post, an account, a message or a list."),
    portal_page("report", "POST", report::PATH, &report::submit)
        .summary("Reports a post, an account, a message or a list to the moderators.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf category text })),
    portal_page("showDecisions", "GET", appeals::PATH, &appeals::show)
        .summary("What moderators decided about the account."),
    portal_page("appealDecision", "POST", appeals::PATH, &appeals::submit)
        .summary("Appeals a decision.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf action text })),
    portal_page("showAppealLink", "GET", appeals::LINK_PATH, &appeals::show_link)
        .summary("A decision about an account that cannot sign in."),
    portal_page("appealByLink", "POST", appeals::LINK_PATH, &appeals::submit_link)
        .summary("Appeals a decision about an account that cannot sign in.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf action token text })),
    portal_page("showSetup", "GET", setup::PATH, &setup::show).summary("The form of a site's first owner."),
    portal_page("setup", "POST", setup::PATH, &setup::submit)
        .summary("Makes the signed-in person, or an account that it creates, the site's first owner.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf token username name email password })),
    portal_page("showAbout", "GET", "/about", &site_texts::about).summary("What the site is, and its contact."),
    portal_page("showRules", "GET", "/rules", &site_texts::rules).summary("The rules of the site."),
    portal_page("showTerms", "GET", "/terms", &site_texts::terms).summary("The terms of the site."),
    portal_page("showPrivacy", "GET", "/privacy", &site_texts::privacy).summary("How the site treats data."),
    portal_page("findServerDescription", "GET", "/.well-known/nodeinfo", &server_description::show_link)
        .summary("Where the description of the server is (NodeInfo)."),
    portal_page("describeServer", "GET", server_description::PATH, &server_description::show)
        .summary("The server's software, name, registrations and rules, for programs (NodeInfo 2.1)."),
    portal_page("adminQueue", "GET", admin::QUEUE_PATH, &admin::queue::show)
        .summary("Open reports and appeals. Needs the role of a moderator, as every page below it."),
    portal_page("adminAct", "POST", admin::REPORTS_PATH, &admin::queue::act)
        .summary("Acts on the subject of a report, or dismisses the report.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf report act days reason })),
    portal_page("adminReportFile", "GET", admin::REPORT_FILE_PATH, &admin::queue::show_file)
        .params(&[&[
            Parameter::path("report", Kind::ID, "The id of the report."),
            Parameter::path("file", Kind::text(1, 200), "The name of the file."),
            SUBTITLES_PARAM,
        ]])
        .summary("A picture or video of what is reported."),
    portal_page("adminAccount", "GET", admin::ACCOUNTS_PATH, &admin::accounts::show)
        .summary("An account with what was decided about it, and the form that acts on it."),
    portal_page("adminActOnAccount", "POST", admin::ACCOUNTS_PATH, &admin::accounts::act)
        .summary("Acts on an account.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf form user act days reason })),
    portal_page("adminActions", "GET", admin::ACTIONS_PATH, &admin::actions::show)
        .summary("What moderators did, newest first."),
    portal_page("adminLiftAction", "POST", admin::ACTIONS_PATH, &admin::actions::lift)
        .summary("Undoes an action.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf action })),
    portal_page("adminDecideAppeal", "POST", admin::APPEALS_PATH, &admin::queue::decide_appeal)
        .summary("Accepts or rejects an appeal.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf action decision answer })),
    portal_page("adminPeople", "GET", admin::PEOPLE_PATH, &admin::people::show)
        .summary("Applications, invitations and roles."),
    portal_page("adminDecideApplication", "POST", admin::APPLICATIONS_PATH, &admin::people::decide_application)
        .summary("Accepts or refuses an application for an account.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf application decision })),
    portal_page("adminSetRole", "POST", admin::ROLES_PATH, &admin::people::set_role)
        .summary("Grants or takes away a role.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf username role })),
    portal_page("adminInvite", "POST", admin::INVITATIONS_PATH, &admin::people::invite)
        .summary("Creates an invitation, or revokes one.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf invitation })),
    portal_page("adminSite", "GET", admin::SITE_PATH, &admin::site::show).summary("The settings of the site."),
    portal_page("adminSetSite", "POST", admin::SITE_PATH, &admin::site::submit)
        .summary("Changes the settings of the site.")
        .body(BodySpec::Form(text_members! { admin::site::MAX_TYPED_BYTES;
            csrf shown name registrations indexing about rules terms privacy contact
        })),
    portal_page("adminTerms", "GET", admin::TERMS_PATH, &admin::terms::show).summary("The blocked terms."),
    portal_page("adminSetTerm", "POST", admin::TERMS_PATH, &admin::terms::submit)
        .summary("Blocks a term, or no longer.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf act kind term hold })),
    portal_page("adminAudit", "GET", admin::AUDIT_PATH, &admin::audit_log::show).summary("The audit log."),
];
