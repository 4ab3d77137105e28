//! `locum doctor`: what would keep a server from running well, each with a word of advice.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;

use base::{Rng, clock};
use serde_json::{Value, json};
use store::Store;

use crate::cli::{Common, Output};
use crate::config::{Mode, Settings};
use crate::exit::Exit;
use crate::run::Listening;
use crate::world::{self, Record};

/// Less room than this is a warning, a tenth of it a fault.
const ROOM: u64 = 1024 * 1024 * 1024;
/// Before this (2026-01-01) a clock cannot be right.
const EARLIEST: i64 = 1_767_225_600;

/// What was found about one thing.
enum Finding {
    Good(String),
    Doubtful(String),
    Bad(String),
}

type Look = fn(&Settings) -> Finding;

/// Looks at everything; a red line is a failure.
pub(crate) fn doctor(common: &Common, output: Output) -> Result<ExitCode, Exit> {
    let settings = common.settings()?;
    let looks: [(&str, Look); 10] = [
        ("data folder", folder),
        ("disk", disk),
        ("master key", key),
        ("database", database),
        ("migrations", migrations),
        ("port", port),
        ("clock", time),
        ("mail", letters),
        ("media", pictures),
        ("dangers", dangers),
    ];
    let found = looks.map(|(name, look)| (name, look(&settings)));
    let bad = found
        .iter()
        .any(|(_, finding)| matches!(finding, Finding::Bad(_)));
    let row = |(name, finding): (&str, Finding)| {
        let (state, says) = match finding {
            Finding::Good(says) => ("good", says),
            Finding::Doubtful(says) => ("doubtful", says),
            Finding::Bad(says) => ("bad", says),
        };
        json!({"name": name, "state": state, "says": says})
    };
    output.value(&found.into_iter().map(row).collect::<Value>());
    Ok(if bad {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn folder(settings: &Settings) -> Finding {
    let path = &settings.data_dir;
    if !path.exists() {
        return Finding::Doubtful(format!(
            "{} is not there yet; the first start makes it",
            path.display()
        ));
    }
    if let Err(fault) = world::writable(path) {
        return Finding::Bad(fault.to_string());
    }
    let rights = std::fs::metadata(path).map_or(0, |data| data.permissions().mode() & 0o777);
    let made = match Record::read(path) {
        Ok(Some(record)) => format!("made by `locum {}`", record.mode),
        Ok(None) => "empty".to_owned(),
        Err(fault) => return Finding::Bad(fault.to_string()),
    };
    let says = format!("{}, mode {rights:o}, {made}", path.display());
    if rights.is_multiple_of(0o10) {
        Finding::Good(says)
    } else {
        Finding::Doubtful(format!("{says}: others may look inside; chmod 0700"))
    }
}

fn disk(settings: &Settings) -> Finding {
    let place = settings.data_dir.ancestors().find(|path| path.exists());
    let place = place.unwrap_or(Path::new("."));
    match rustix::fs::statvfs(place) {
        Err(error) => Finding::Doubtful(format!("the free room could not be read: {error}")),
        Ok(stat) => {
            let free = stat.f_bavail.saturating_mul(stat.f_frsize);
            let says = format!("{} MiB free", free / (1024 * 1024));
            match free {
                free if free < ROOM / 10 => Finding::Bad(says),
                free if free < ROOM => Finding::Doubtful(says),
                _ => Finding::Good(says),
            }
        }
    }
}

fn key(settings: &Settings) -> Finding {
    let beside = settings.data_dir.join("master.key");
    let file = settings.keys.file.clone().unwrap_or(beside);
    if settings.mode == Mode::Dev && settings.keys.line.is_none() && !file.exists() {
        return Finding::Doubtful("none yet; the first start makes one".to_owned());
    }
    if let Err(exit) = world::master_key(settings, &Rng::Os, false) {
        return Finding::Bad(exit.message().to_owned());
    }
    match std::fs::metadata(&file).map(|data| data.permissions().mode() & 0o077) {
        Ok(0) | Err(_) => Finding::Good("can be read".to_owned()),
        Ok(_) => Finding::Doubtful(format!(
            "{}: others may read it; chmod 0600",
            file.display()
        )),
    }
}

fn database(settings: &Settings) -> Finding {
    match world::wait(Store::migration_status(settings.location.clone())) {
        Ok(_) => Finding::Good(match &settings.location {
            store::DatabaseLocation::File(path) if !path.exists() => {
                "SQLite; the first start makes the file".to_owned()
            }
            store::DatabaseLocation::File(path) => format!("SQLite, {}", path.display()),
            store::DatabaseLocation::Server(_) => "PostgreSQL answers".to_owned(),
        }),
        Err(fault) => Finding::Bad(fault.to_string()),
    }
}

fn migrations(settings: &Settings) -> Finding {
    match world::wait(Store::migration_status(settings.location.clone())) {
        Err(_) => Finding::Bad("unknown while the database does not answer".to_owned()),
        Ok(all) => {
            let missing = all.iter().filter(|one| one.applied_at.is_none()).count();
            let says = format!("{} of {} applied", all.len() - missing, all.len());
            if missing == 0 || settings.migrate_on_start {
                Finding::Good(says)
            } else {
                Finding::Bad(format!("{says}: run `locum migrate up`"))
            }
        }
    }
}

fn port(settings: &Settings) -> Finding {
    match TcpListener::bind(settings.addr) {
        Ok(_) => Finding::Good(format!("{} is free", settings.addr)),
        Err(error) => match Listening::read(&settings.data_dir) {
            Some(server) if server.addr == settings.addr => {
                Finding::Good(format!("{} is this folder's running server", settings.addr))
            }
            _ => Finding::Bad(format!("{}: {error}", settings.addr)),
        },
    }
}

fn time(_settings: &Settings) -> Finding {
    let now = clock::wall_time();
    if now.seconds() < EARLIEST {
        Finding::Bad(format!(
            "{now} is in the past: signatures and ids need the right time"
        ))
    } else {
        Finding::Good(now.to_string())
    }
}

fn letters(settings: &Settings) -> Finding {
    let Some(mail) = &settings.mail else {
        return match settings.mode {
            Mode::Dev => Finding::Good("letters stay in the mailbox of this world".to_owned()),
            Mode::Serve => Finding::Doubtful(
                "no mail server (mail.smtp_url): nobody can confirm an address or set a new \
                 password"
                    .to_owned(),
            ),
        };
    };
    let checked =
        mail::SmtpMailer::new(&mail.url, &mail.from).and_then(|server| server.check_connection());
    match checked {
        Ok(()) => Finding::Good("the mail server lets this program in".to_owned()),
        Err(fault) => Finding::Bad(fault.to_string()),
    }
}

fn pictures(settings: &Settings) -> Finding {
    let Some(bucket) = &settings.media_bucket else {
        return Finding::Good(format!("in {}", settings.media_dir().display()));
    };
    let checked = settings.files().and_then(|files| {
        world::wait(async {
            let checked = files.check_bucket().await;
            checked.map_err(|error| Exit::Failed(error.to_string()))
        })
    });
    match checked {
        Ok(()) => Finding::Good(format!("{bucket} takes files")),
        Err(exit) => Finding::Bad(format!("{bucket}: {}", exit.message())),
    }
}

fn dangers(settings: &Settings) -> Finding {
    if settings.dangers.is_empty() {
        Finding::Good("none is on".to_owned())
    } else {
        Finding::Doubtful(settings.dangers.join(", "))
    }
}
