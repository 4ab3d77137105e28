//! Environment variables that lead clients to the server, and make them trust its certificates.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::java_trust_store;
use super::trust_files::TrustFiles;
use crate::dev::EnvFile;
use crate::worlds::{MAIN_WORLD, world_folder};
use instance::ListeningAddresses;
use instance::command_error::CommandError;

type Variables = Vec<(String, String)>;

const LOOPBACK: &str = "localhost,127.0.0.1,::1,.localhost";

/// Unset in the sandbox, where no proxy can be reached.
pub(super) const PROXY_VARIABLES: [&str; 10] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "FTP_PROXY",
    "ftp_proxy",
];

/// Programs of many languages read certificate authorities from one of these.
const BUNDLE_VARIABLES: [&str; 14] = [
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "PERL_LWP_SSL_CA_FILE",
    "HTTPS_CA_FILE",
    "HTTPLIB2_CA_CERTS",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "WEBSOCKET_CLIENT_CA_BUNDLE",
    "PIP_CERT",
    "DENO_CERT",
    "NIX_SSL_CERT_FILE",
];

#[derive(Clone, Debug)]
pub(super) struct EnvironmentChanges {
    /// Later values take precedence.
    pub(super) set: Variables,
    pub(super) removed: Vec<&'static str>,
}

impl EnvironmentChanges {
    pub(super) fn apply(&self, command: &mut Command) {
        for name in &self.removed {
            command.env_remove(name);
        }
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
    }
}

/// The further world that `LOCUM_WORLD` names; none for the main one.
pub(super) fn chosen_world() -> Option<String> {
    std::env::var("LOCUM_WORLD").ok().filter(|name| !name.is_empty() && name != MAIN_WORLD)
}

/// The lines of `dev.env` of the world that `LOCUM_WORLD` names, or of the main one, and the data directory for
/// commands of this binary.
pub(crate) fn client_variables(data_dir: &Path) -> Result<Variables, CommandError> {
    let folder = match chosen_world() {
        None => data_dir.to_owned(),
        Some(name) => find_world(data_dir, &name)
            .ok_or_else(|| CommandError::Failed(format!("LOCUM_WORLD: no world has the name {name}")))?,
    };
    let mut variables = EnvFile::load(&folder)?.variables();
    variables.push(("LOCUM_CORE__DATA_DIR".to_owned(), data_dir.display().to_string()));
    Ok(variables)
}

fn find_world(data_dir: &Path, name: &str) -> Option<PathBuf> {
    let folder = world_folder(data_dir, name);
    (!name.contains(['/', '.']) && EnvFile::file_path(&folder).exists()).then_some(folder)
}

pub(super) fn sandbox_variables(files: &TrustFiles) -> Variables {
    trust_variables(files)
}

pub(crate) fn proxy_variables(server: &ListeningAddresses, files: &TrustFiles) -> Variables {
    let address = server.local_addr();
    let proxy = format!("http://{address}");
    let mut variables = trust_variables(files);
    let mut set = |name: &str, value: String| variables.push((name.to_owned(), value));
    for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"] {
        set(name, proxy.clone());
    }
    for name in ["NO_PROXY", "no_proxy"] {
        set(name, LOOPBACK.to_owned());
    }
    set("NODE_USE_ENV_PROXY", "1".to_owned());
    let preload = format!("--require \"{}\"", files.node_preload.display());
    set("NODE_OPTIONS", append_option("NODE_OPTIONS", &preload));
    let java = java_options(&address.ip().to_string(), address.port(), files);
    set("JAVA_TOOL_OPTIONS", append_option("JAVA_TOOL_OPTIONS", &java));
    // Read by the command line client xurl.
    set("API_BASE_URL", server.base_url.clone());
    set("AUTH_URL", format!("{}/i/oauth2/authorize", server.base_url));
    set("TOKEN_URL", format!("{}/2/oauth2/token", server.base_url));
    variables
}

fn trust_variables(files: &TrustFiles) -> Variables {
    let bundle = files.bundle.display().to_string();
    let mut variables: Variables = BUNDLE_VARIABLES.iter().map(|name| ((*name).to_owned(), bundle.clone())).collect();
    let authority = files.authority.display().to_string();
    variables.push(("NODE_EXTRA_CA_CERTS".to_owned(), authority.clone()));
    variables.push(("LOCUM_CA_FILE".to_owned(), authority));
    // The settings of the system are read first, because the list of folders starts with an empty name.
    let php = std::env::var("PHP_INI_SCAN_DIR").unwrap_or_default();
    variables.push(("PHP_INI_SCAN_DIR".to_owned(), format!("{php}:{}", files.php.display())));
    variables
}

fn java_options(host: &str, port: u16, files: &TrustFiles) -> String {
    let mut options = String::new();
    for scheme in ["https", "http"] {
        let option = format!("-D{scheme}.proxyHost={host} -D{scheme}.proxyPort={port} ");
        options.push_str(&option);
    }
    let (path, password) = (files.java.display(), java_trust_store::PASSWORD);
    options
        + &format!(
            "-Dhttp.nonProxyHosts=localhost|127.*|[::1] \"-Djavax.net.ssl.trustStore={path}\" \
             -Djavax.net.ssl.trustStoreType=JKS -Djavax.net.ssl.trustStorePassword={password}"
        )
}

/// Keeps the options that are set already.
fn append_option(variable: &str, option: &str) -> String {
    match std::env::var(variable) {
        Ok(present) if present.contains(option) => present,
        Ok(present) if !present.trim().is_empty() => format!("{present} {option}"),
        _ => option.to_owned(),
    }
}
