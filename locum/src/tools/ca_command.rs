//! `locum ca`.

use std::path::Path;

use base::clock;
use serde_json::json;

use crate::tls::{AuthorityFiles, CertificateFacts, LocalAuthority};
use instance::ListeningAddresses;
use instance::arguments::{CaCommand, GlobalArgs};
use instance::command_error::CommandError;
use instance::config::RunMode;
use instance::output::{OutputOptions, print_diagnostic, print_line};

pub(crate) fn run_ca_command(common: &GlobalArgs, verb: CaCommand, output: OutputOptions) -> Result<(), CommandError> {
    let settings = common.load_settings()?;
    if settings.mode == RunMode::Serve {
        return Err(CommandError::WrongMode("only a development server has a certificate authority".to_owned()));
    }
    let files = AuthorityFiles::of_data_dir(&settings.core.data_dir);
    match verb {
        CaCommand::Path => {
            read_facts(&files)?;
            let path = absolute(&files.certificate).display().to_string();
            if output.json {
                output.print_value(&json!({ "path": path }));
            } else {
                print_line(&path);
            }
        }
        CaCommand::Show => show(&files, output)?,
        CaCommand::Renew => {
            LocalAuthority::create(&files, &settings.emulated_hosts(), clock::wall_time())?;
            show(&files, output)?;
            if ListeningAddresses::read(&settings.core.data_dir).is_some() {
                print_diagnostic("Restart the running server, which still uses the old one.");
            }
        }
    }
    Ok(())
}

fn show(files: &AuthorityFiles, output: OutputOptions) -> Result<(), CommandError> {
    let facts = read_facts(files)?;
    output.print_value(&json!({
        "path": absolute(&files.certificate).display().to_string(),
        "valid_from": facts.not_before.to_string(),
        "valid_until": facts.not_after.to_string(),
        "hosts": facts.permitted_names,
    }));
    Ok(())
}

fn read_facts(files: &AuthorityFiles) -> Result<CertificateFacts, CommandError> {
    let pem = std::fs::read(&files.certificate).map_err(|error| {
        let path = files.certificate.display();
        CommandError::Failed(format!("{path}: {error}; start `locum dev` to create it"))
    })?;
    Ok(CertificateFacts::from_pem(&pem)?)
}

fn absolute(path: &Path) -> std::path::PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
