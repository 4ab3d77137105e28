//! `locum doctor`: checks the configuration and environment, with advice for each problem.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use base::{Fault, Rng, clock};
use serde_json::{Value, json};
use store::Store;

use super::certificate_check::check_certificate;
use super::proxy_check::check_proxies;
use crate::runtime::BackupSchedule;
use instance::ListeningAddresses;
use instance::arguments::GlobalArgs;
use instance::command_error::CommandError;
use instance::config::{RunMode, ServerSettings};
use instance::output::OutputOptions;
use instance::{self, InstanceManifest};

/// Less free space than this is a warning; less than a tenth of it is a failure.
const MIN_FREE_BYTES: u64 = 1024 * 1024 * 1024;
/// 2026-01-01; an earlier clock is certainly wrong.
const EARLIEST_CLOCK_SECONDS: i64 = 1_767_225_600;

pub(super) enum DoctorFinding {
    Healthy(String),
    Warning(String),
    Failure(String),
}

type DoctorCheck = fn(&ServerSettings) -> DoctorFinding;

/// Exits with a failure if any check fails.
pub(crate) fn run_doctor(common: &GlobalArgs, output: OutputOptions) -> Result<ExitCode, CommandError> {
    let settings = common.load_settings()?;
    let checks: [(&str, DoctorCheck); 15] = [
        ("data directory", check_data_folder),
        ("disk", check_disk_space),
        ("master key", check_master_key),
        ("database", check_database),
        ("migrations", check_migrations),
        ("port", check_port),
        ("proxies", check_proxies),
        ("certificate", check_certificate),
        ("clock", check_clock),
        ("rate limits", check_rate_limits),
        ("mail", check_mail),
        ("media", check_media),
        ("ffmpeg", check_ffmpeg),
        ("backups", check_backups),
        ("dangers", check_dangers),
    ];
    let found = checks.map(|(name, check)| (name, check(&settings)));
    let bad = found.iter().any(|(_, finding)| matches!(finding, DoctorFinding::Failure(_)));
    let row = |(name, finding): (&str, DoctorFinding)| {
        let (state, message) = match finding {
            DoctorFinding::Healthy(message) => ("good", message),
            DoctorFinding::Warning(message) => ("doubtful", message),
            DoctorFinding::Failure(message) => ("bad", message),
        };
        json!({"name": name, "state": state, "says": message})
    };
    output.print_value(&found.into_iter().map(row).collect::<Value>());
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn check_data_folder(settings: &ServerSettings) -> DoctorFinding {
    let path = &settings.core.data_dir;
    if !path.exists() {
        return DoctorFinding::Warning(format!("{} does not exist yet; the first start creates it", path.display()));
    }
    if let Err(fault) = instance::check_writable(path) {
        return DoctorFinding::Failure(fault.to_string());
    }
    let rights = std::fs::metadata(path).map_or(0, |data| data.permissions().mode() & 0o777);
    let made = match InstanceManifest::read(path) {
        Ok(Some(record)) => format!("created by `locum {}`", record.mode),
        Ok(None) => "empty".to_owned(),
        Err(fault) => return DoctorFinding::Failure(fault.to_string()),
    };
    let message = format!("{}, mode {rights:o}, {made}", path.display());
    if rights.is_multiple_of(0o10) {
        DoctorFinding::Healthy(message)
    } else {
        DoctorFinding::Warning(format!("{message}: accessible to other users; run chmod 0700"))
    }
}

fn check_disk_space(settings: &ServerSettings) -> DoctorFinding {
    let place = settings.core.data_dir.ancestors().find(|path| path.exists());
    let place = place.unwrap_or(Path::new("."));
    match rustix::fs::statvfs(place) {
        Err(error) => DoctorFinding::Warning(format!("failed to determine the free space: {error}")),
        Ok(stat) => {
            let free = stat.f_bavail.saturating_mul(stat.f_frsize);
            let message = format!("{} MiB free", free / (1024 * 1024));
            match free {
                free if free < MIN_FREE_BYTES / 10 => DoctorFinding::Failure(message),
                free if free < MIN_FREE_BYTES => DoctorFinding::Warning(message),
                _ => DoctorFinding::Healthy(message),
            }
        }
    }
}

fn check_master_key(settings: &ServerSettings) -> DoctorFinding {
    let default_file = settings.core.data_dir.join("master.key");
    let file = settings.master_key_file.clone().unwrap_or(default_file);
    if settings.mode == RunMode::Dev && settings.secrets.master_key.is_none() && !file.exists() {
        return DoctorFinding::Warning("none yet; the first start creates one".to_owned());
    }
    let decrypts = instance::load_keyring(settings, &Rng::Os, false).and_then(|keyring| {
        let has_data = settings.core.data_dir.exists() && instance::has_database(settings).unwrap_or(false);
        let options = instance::store_options(settings, Rng::Os, keyring);
        Ok(has_data && instance::block_on(Store::verify_master_key(options))?)
    });
    let message = match decrypts {
        Ok(true) => "readable, and decrypts what is stored",
        Ok(false) => "readable",
        Err(exit) => return DoctorFinding::Failure(exit.message().to_owned()),
    };
    match std::fs::metadata(&file).map(|data| data.permissions().mode() & 0o077) {
        Ok(0) | Err(_) => DoctorFinding::Healthy(message.to_owned()),
        Ok(_) if settings.mode == RunMode::Dev => {
            DoctorFinding::Warning(format!("{}: readable by other users until the next start", file.display()))
        }
        Ok(_) => DoctorFinding::Failure(format!("{}: readable by other users; run chmod 0600", file.display())),
    }
}

fn check_database(settings: &ServerSettings) -> DoctorFinding {
    let location = settings.database_location();
    let is_read_only = instance::block_on(async {
        Store::migration_status(location.clone()).await?;
        Store::is_read_only(location).await
    });
    match is_read_only {
        Ok(true) => DoctorFinding::Failure(
            "PostgreSQL refuses writes: it is a standby, or default_transaction_read_only is on".to_owned(),
        ),
        Ok(false) => DoctorFinding::Healthy(match settings.database_location() {
            store::DatabaseLocation::File(path) if !path.exists() => {
                "SQLite; the first start creates the file".to_owned()
            }
            store::DatabaseLocation::File(path) => format!("SQLite, {}", path.display()),
            store::DatabaseLocation::Server(_) => "PostgreSQL responds".to_owned(),
        }),
        Err(fault) => DoctorFinding::Failure(fault.to_string()),
    }
}

fn check_migrations(settings: &ServerSettings) -> DoctorFinding {
    match instance::block_on(Store::migration_status(settings.database_location())) {
        Err(_) => DoctorFinding::Failure("unknown: the database does not respond".to_owned()),
        Ok(all) => {
            let missing = all.iter().filter(|one| one.applied_at.is_none());
            let (count, is_usable) = (missing.clone().count(), missing.clone().all(|one| one.is_contraction));
            let message = format!("{} of {} applied", all.len() - count, all.len());
            if is_usable || settings.db.migrate_on_start {
                DoctorFinding::Healthy(message)
            } else {
                DoctorFinding::Failure(format!("{message}: run `locum migrate up`"))
            }
        }
    }
}

fn check_port(settings: &ServerSettings) -> DoctorFinding {
    match TcpListener::bind(settings.listen.addr) {
        Ok(_) => DoctorFinding::Healthy(format!("{} is free", settings.listen.addr)),
        Err(error) => match ListeningAddresses::read(&settings.core.data_dir) {
            Some(server) if server.addr == settings.listen.addr => DoctorFinding::Healthy(format!(
                "{} is used by the running server of this data directory",
                settings.listen.addr
            )),
            _ => DoctorFinding::Failure(format!("{}: {error}", settings.listen.addr)),
        },
    }
}

fn check_clock(_settings: &ServerSettings) -> DoctorFinding {
    let now = clock::wall_time();
    if now.seconds() < EARLIEST_CLOCK_SECONDS {
        DoctorFinding::Failure(format!("{now} is in the past: signatures and ids need the correct time"))
    } else {
        DoctorFinding::Healthy(now.to_string())
    }
}

fn check_rate_limits(settings: &ServerSettings) -> DoctorFinding {
    let Some(url) = &settings.limits.url else {
        let place = match settings.database_location() {
            store::DatabaseLocation::File(_) => "this server",
            store::DatabaseLocation::Server(_) => "PostgreSQL",
        };
        return DoctorFinding::Healthy(format!("counted in {place}"));
    };
    match instance::block_on(web::limits::check_shared_server(&url.0)) {
        Ok(()) => DoctorFinding::Healthy("the server of limits.url accepts connections".to_owned()),
        Err(fault) => DoctorFinding::Failure(format!("{fault}: each node counts on its own meanwhile")),
    }
}

fn check_mail(settings: &ServerSettings) -> DoctorFinding {
    let Some(mail) = &settings.mail else {
        return match settings.mode {
            RunMode::Dev => DoctorFinding::Healthy("emails stay in the development mailbox".to_owned()),
            RunMode::Serve => DoctorFinding::Warning(
                "no mail server (mail.smtp_url): users cannot confirm an address or reset their \
                 password"
                    .to_owned(),
            ),
        };
    };
    let checked = mail::SmtpMailer::new(&mail.url, &mail.from).and_then(|server| server.check_connection());
    match checked {
        Ok(()) => DoctorFinding::Healthy("the mail server accepts the credentials".to_owned()),
        Err(fault) => DoctorFinding::Failure(fault.to_string()),
    }
}

fn check_media(settings: &ServerSettings) -> DoctorFinding {
    let Some(bucket) = &settings.media_bucket else {
        return DoctorFinding::Healthy(format!("in {}", settings.media_dir.display()));
    };
    let checked = settings.open_media_files().and_then(|files| {
        instance::block_on(async {
            let checked = files.check_bucket().await;
            checked.map_err(|error| CommandError::Failed(error.to_string()))
        })
    });
    match checked {
        Ok(()) => DoctorFinding::Healthy(format!("{bucket} is writable")),
        Err(exit) => DoctorFinding::Failure(format!("{bucket}: {}", exit.message())),
    }
}

fn check_ffmpeg(settings: &ServerSettings) -> DoctorFinding {
    match settings.transcoder() {
        Ok(Some(transcoder)) => DoctorFinding::Healthy(transcoder.ffmpeg.display().to_string()),
        Ok(None) => DoctorFinding::Healthy("none: videos and GIFs are served as they were uploaded".to_owned()),
        Err(exit) => DoctorFinding::Failure(exit.message().to_owned()),
    }
}

/// A backup that is overdue by more than its interval is a failure.
fn check_backups(settings: &ServerSettings) -> DoctorFinding {
    let schedule = match BackupSchedule::from_settings(settings) {
        Ok(Some(schedule)) => schedule,
        Ok(None) if settings.mode == RunMode::Dev => return DoctorFinding::Healthy("not scheduled".to_owned()),
        Ok(None) if matches!(settings.database_location(), store::DatabaseLocation::Server(_)) => {
            let advice = "not seen from here: back up with `pg_dump`, and media files with `locum backup --media-only`";
            return DoctorFinding::Warning(advice.to_owned());
        }
        Ok(None) => return DoctorFinding::Warning("not scheduled: set backup.to, or run `locum backup`".to_owned()),
        Err(exit) => return DoctorFinding::Failure(exit.message().to_owned()),
    };
    let location = &schedule.location;
    if let Err(exit) = instance::block_on(location.check_writable()) {
        return DoctorFinding::Failure(exit.message().to_owned());
    }
    match instance::block_on(async { Ok::<_, Fault>(schedule.newest_backup_time().await) }) {
        Err(fault) => DoctorFinding::Failure(fault.to_string()),
        Ok(Err(exit)) => DoctorFinding::Failure(exit.message().to_owned()),
        Ok(Ok(None)) => DoctorFinding::Warning(format!("none yet in {location}")),
        Ok(Ok(Some(newest))) => {
            let message = format!("the newest in {location} was made at {newest}");
            let age = u64::try_from(clock::wall_time().ms().saturating_sub(newest.ms())).unwrap_or(0);
            if Duration::from_millis(age) > schedule.every.saturating_mul(2) {
                DoctorFinding::Failure(format!("{message}: see the server's log for why later ones failed"))
            } else {
                DoctorFinding::Healthy(message)
            }
        }
    }
}

fn check_dangers(settings: &ServerSettings) -> DoctorFinding {
    if settings.dangers.is_empty() {
        DoctorFinding::Healthy("none enabled".to_owned())
    } else {
        DoctorFinding::Warning(settings.dangers.join(", "))
    }
}
