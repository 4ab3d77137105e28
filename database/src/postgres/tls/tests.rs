//! Against a PostgreSQL of its own, with a certificate by an authority of its own.

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;

use super::super::PostgresConnection;
use super::super::session::SessionLimits;
use super::{ConnectionTarget, TlsMode, TlsOptions};

/// A server that is gone with the test.
struct TlsServer {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
}

impl TlsServer {
    /// None where PostgreSQL is not installed.
    fn start() -> Option<Self> {
        let Some(programs) = installed_programs() else {
            eprintln!("no PostgreSQL under /usr/lib/postgresql: not run");
            return None;
        };
        let folder = TempDir::new().unwrap();
        // The server's user passes through.
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { folder, programs, port };
        server.shell(
            "printf %s 'p?ss' > password
             $BIN/initdb -D data -U locum --pwfile=password -A scram-sha-256 --no-sync
             new_key() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $1.key -subj /CN=$1 \"${@:2}\"; }
             new_key ca -x509 -days 30 -out ca.pem
             new_key other -x509 -days 30 -out other.pem
             new_key server -out server.csr
             echo subjectAltName=DNS:localhost > names
             openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names -out server.pem
             cp server.pem server.key data/
             chmod 600 data/server.key
             printf '%s\\n' 'ssl = on' \"ssl_cert_file = 'server.pem'\" \"ssl_key_file = 'server.key'\" >> \
                  data/postgresql.conf",
        );
        server.shell(&format!(
            "$BIN/pg_ctl -D data -l data/log -w start -o \"-p {port} -k $PWD -c listen_addresses=127.0.0.1 \
             -c fsync=off\""
        ));
        Some(server)
    }

    /// Runs a script as the user that the server may run as.
    fn shell(&self, script: &str) {
        let mut command = Command::new("bash");
        if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
            command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "bash"]);
        }
        let output = command
            .args(["-euc", script])
            .current_dir(self.folder.path())
            .env("BIN", &self.programs)
            .env("HOME", self.folder.path())
            .stdout(std::fs::File::create(self.folder.path().join("output")).unwrap())
            .stderr(std::process::Stdio::piped())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}: {errors}");
    }

    fn set_tls(&self, on: bool) {
        let line = if on { "on" } else { "off" };
        let sql = format!("ALTER SYSTEM SET ssl = {line}");
        let mut admin = self.open("localhost", "sslmode=prefer").unwrap();
        admin.batch_execute(&sql).unwrap();
        admin.batch_execute("SELECT pg_reload_conf(), pg_sleep(0.3)").unwrap();
    }

    /// As what `pg_hba.conf` lets in.
    fn set_access(&self, rule: &str) {
        self.shell(&format!(
            "echo '{rule} all all 127.0.0.1/32 scram-sha-256' > data/pg_hba.conf; $BIN/pg_ctl -D data reload; sleep 0.3"
        ));
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn open(&self, host: &str, query: &str) -> Result<PostgresConnection, String> {
        let url = format!("postgres://locum:p%3Fss@{host}:{}/postgres?{query}", self.port);
        let target = Arc::new(ConnectionTarget::parse(&url).map_err(|fault| fault.to_string())?);
        PostgresConnection::connect(&target, SessionLimits::BACKGROUND).map_err(|fault| fault.to_string())
    }

    fn is_encrypted(&self, host: &str, query: &str) -> Result<bool, String> {
        let mut connection = self.open(host, query)?;
        let sql = "SELECT CAST(CAST(ssl AS INTEGER) AS BIGINT) FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        let mut encrypted = false;
        let read = connection.for_each_row(sql, &[], &mut |row| {
            encrypted = row.read()?;
            Ok(true)
        });
        read.map_err(|fault| fault.to_string())?;
        Ok(encrypted)
    }

    fn refusal(&self, host: &str, query: &str) -> String {
        self.is_encrypted(host, query).expect_err(query)
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        self.shell("$BIN/pg_ctl -D data -m immediate -w stop");
    }
}

fn installed_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let programs = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    programs.filter(|path: &PathBuf| path.join("initdb").exists()).max()
}

#[test]
fn server_is_verified_as_far_as_the_mode_asks() {
    let Some(server) = TlsServer::start() else {
        return;
    };
    let right = format!("sslrootcert={}", server.path("ca.pem"));
    let wrong = format!("sslrootcert={}", server.path("other.pem"));

    for query in [
        "application_name=it".to_owned(),
        "sslmode=prefer".to_owned(),
        "sslmode=require".to_owned(),
        "sslmode=require&channel_binding=require".to_owned(),
        format!("sslmode=verify-ca&{right}"),
        format!("sslmode=verify-full&{right}"),
        format!("{right}&sslmode=verify-full&channel_binding=require"),
    ] {
        assert_eq!(server.is_encrypted("localhost", &query), Ok(true), "{query}");
    }
    for query in ["sslmode=disable", "sslmode=allow"] {
        assert_eq!(server.is_encrypted("localhost", query), Ok(false), "{query}");
    }

    for mode in ["require", "verify-ca", "verify-full"] {
        let refusal = server.refusal("localhost", &format!("sslmode={mode}&{wrong}"));
        assert!(refusal.contains("UnknownIssuer"), "{refusal}");
    }
    let refusal = server.refusal("127.0.0.1", &format!("sslmode=verify-full&{right}"));
    assert!(refusal.contains("not valid for name \"127.0.0.1\""), "{refusal}");
    assert_eq!(server.is_encrypted("127.0.0.1", &format!("sslmode=verify-ca&{right}")), Ok(true));
    // No public authority vouches for it.
    let refusal = server.refusal("localhost", "sslmode=verify-full");
    assert!(refusal.contains("UnknownIssuer") || refusal.contains("no trusted authorities"), "{refusal}");
}

#[test]
fn modes_that_leave_the_choice_follow_the_server() {
    let Some(server) = TlsServer::start() else {
        return;
    };
    server.set_access("hostssl");
    assert_eq!(server.is_encrypted("localhost", "sslmode=allow"), Ok(true));
    let refusal = server.refusal("localhost", "sslmode=disable");
    assert!(refusal.contains("no encryption"), "{refusal}");
    server.set_access("hostnossl");
    assert_eq!(server.is_encrypted("localhost", "sslmode=prefer"), Ok(false));
    let refusal = server.refusal("localhost", "sslmode=require");
    assert!(refusal.contains("pg_hba.conf"), "{refusal}");

    server.set_access("host");
    server.set_tls(false);
    let refusal = server.refusal("localhost", "sslmode=require");
    assert!(refusal.contains("server does not support TLS"), "{refusal}");
    assert_eq!(server.is_encrypted("localhost", ""), Ok(false));
}

#[test]
fn url_loses_what_only_tls_reads() {
    let options = TlsOptions::extract("postgres://a:p?w@h/d?sslmode=verify-ca&connect_timeout=5&sslrootcert=%2Fca.pem");
    let options = options.unwrap();
    assert_eq!(options.url, "postgres://a:p?w@h/d?connect_timeout=5");
    assert_eq!(options.mode, Some(TlsMode::VerifyCa));
    assert_eq!(options.root_cert.as_deref(), Some("/ca.pem"));
    let options = TlsOptions::extract("postgres://h/d?sslmode=require").unwrap();
    assert_eq!(options.url, "postgres://h/d");
}

#[test]
fn combinations_that_verify_nothing_are_refused() {
    let refusal = |query: &str| {
        let target = ConnectionTarget::parse(&format!("postgres://h/d?{query}"));
        target.err().expect(query).to_string()
    };
    assert!(refusal("sslmode=verify").contains("one of disable, allow, prefer, require, verify-ca, verify-full"));
    assert!(refusal("sslmode=verify-ca").contains("needs sslrootcert"));
    assert!(refusal("sslmode=require&sslrootcert=system").contains("needs sslmode=verify-full"));
    let missing = Path::new("/does/not/exist.pem").display().to_string();
    assert!(refusal(&format!("sslmode=verify-ca&sslrootcert={missing}")).contains(&missing));
}
