//! A development server as a child process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::control::encode;
use crate::{ControlClient, Error, World};

const MAIN_WORLD: &str = "main";
/// Of the log, in an error.
const SHOWN_LOG_LINES: usize = 20;
const MAX_BANNER_BYTES: u64 = 1024 * 1024;

/// How a server is started.
#[derive(Clone, Debug)]
#[must_use]
pub struct ServerOptions {
    binary: OsString,
    world: String,
    seed: Option<u64>,
    clock: String,
    timeout: Duration,
    arguments: Vec<OsString>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            binary: std::env::var_os("LOCUM_BINARY").filter(|name| !name.is_empty()).unwrap_or_else(|| "locum".into()),
            world: "demo".to_owned(),
            seed: None,
            clock: "live".to_owned(),
            timeout: Duration::from_mins(1),
            arguments: Vec::new(),
        }
    }
}

impl ServerOptions {
    pub fn new() -> Self {
        Self::default()
    }

    /// By default the binary that `LOCUM_BINARY` names, else `locum` on the `PATH`.
    pub fn binary(mut self, path: impl Into<OsString>) -> Self {
        self.binary = path.into();
        self
    }

    /// The main world: `demo` (the default), `ads`, `empty` or the absolute path of a world file.
    pub fn world(mut self, source: &str) -> Self {
        source.clone_into(&mut self.world);
        self
    }

    /// Of the generated ids and keys.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// `live` (the default), `frozen` or a time (RFC 3339).
    pub fn clock(mut self, clock: &str) -> Self {
        clock.clone_into(&mut self.clock);
        self
    }

    /// Until the server is ready; 60 seconds by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// A further argument of `locum dev`.
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// # Errors
    /// If the server cannot be started, or is not ready in time.
    pub fn start(self) -> Result<Server, Error> {
        Server::launch(&self)
    }
}

/// `locum dev` on free ports, with its data in a temporary folder. It ends when it is dropped, and when this process
/// ends, however that happens.
#[derive(Debug)]
pub struct Server {
    child: Child,
    main: World,
    control: ControlClient,
    next_world: AtomicU64,
    /// Removed after the server has ended.
    _folder: TempDir,
}

impl Server {
    /// With the default options.
    ///
    /// # Errors
    /// As [`ServerOptions::start`].
    pub fn start() -> Result<Self, Error> {
        ServerOptions::default().start()
    }

    fn launch(options: &ServerOptions) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("locum-").tempdir().map_err(start_error)?;
        let log = folder.path().join("run.log");
        let mut child = start_process(options, folder.path(), &log)?;
        let ready = child.stdout.take().map_or_else(
            || Err(Error::Start("the server has no output".to_owned())),
            |output| wait_until_ready(output, options.timeout, &log),
        );
        let banner = match ready {
            Ok(banner) => banner,
            Err(error) => {
                end_process(&mut child);
                return Err(error);
            }
        };
        let address = banner.get("control").and_then(Value::as_str).unwrap_or_default();
        let connected = connect(address, folder.path());
        let (control, variables) = match connected {
            Ok(connected) => connected,
            Err(error) => {
                end_process(&mut child);
                return Err(error);
            }
        };
        let main = World::new(control.clone(), MAIN_WORLD, variables, false);
        Ok(Self { child, main, control, next_world: AtomicU64::new(1), _folder: folder })
    }

    /// The API's base URL. All worlds share it: the keys select the world.
    pub fn url(&self) -> &str {
        self.main.url()
    }

    /// The world that requests without keys reach.
    pub const fn main(&self) -> &World {
        &self.main
    }

    /// Creates an isolated world. `source` is `demo`, `ads`, `empty`, the absolute path of a world file, or the name of
    /// a snapshot.
    ///
    /// # Errors
    /// If the server does not answer, or refuses.
    pub fn create_world(&self, source: &str) -> Result<World, Error> {
        let name = format!("world-{}", self.next_world.fetch_add(1, Ordering::Relaxed));
        let body = json!({"name": name, "from": source});
        let created = self.control.request("POST", "/worlds", Some(&body))?;
        Ok(World::new(self.control.for_world(&name), &name, read_variables(&created), true))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end_process(&mut self.child);
    }
}

/// One server for all tests of this process, started by the first that asks for it, with the default options.
///
/// # Errors
/// If it did not start: then for all that ask.
pub fn shared_server() -> Result<&'static Server, Error> {
    static SHARED: OnceLock<Result<Server, String>> = OnceLock::new();
    let started = SHARED.get_or_init(|| Server::start().map_err(|error| error.to_string()));
    started.as_ref().map_err(|error| Error::Start(error.clone()))
}

fn start_process(options: &ServerOptions, folder: &Path, log: &Path) -> Result<Child, Error> {
    let mut command = Command::new(&options.binary);
    command.args(["dev", "--json", "--until-eof", "--port", "0", "--control-port", "0", "--ads-sandbox-port", "0"]);
    command.arg("--data-dir").arg(folder).args(["--remove-data", "--db", "sqlite"]);
    command.args(["--world", &options.world, "--clock", &options.clock]);
    if let Some(seed) = options.seed {
        command.args(["--seed", &seed.to_string()]);
    }
    // Its input is closed however this process ends.
    command.args(&options.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(File::create(log).map_err(start_error)?);
    // Ctrl+C is for the tests; with their end the server ends as well, and removes its data.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map_err(|error| {
        let binary = PathBuf::from(&options.binary);
        Error::Start(format!("{} cannot be started: {error}; LOCUM_BINARY may name another", binary.display()))
    })
}

/// What the server writes once it is ready: an object, of which the last line is `}`.
fn wait_until_ready(output: ChildStdout, timeout: Duration, log: &Path) -> Result<Value, Error> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        for line in BufReader::new(output.take(MAX_BANNER_BYTES)).lines().map_while(Result::ok) {
            text.push_str(&line);
            text.push('\n');
            if line == "}" {
                break;
            }
        }
        // Nobody waits any longer if the time is over.
        let _ = sender.send(text);
    });
    let text = receiver.recv_timeout(timeout);
    let text =
        text.map_err(|_| Error::Start(format!("the server is not ready after {timeout:?}:\n{}", log_end(log))))?;
    serde_json::from_str(&text).map_err(|_| Error::Start(format!("the server did not start:\n{}", log_end(log))))
}

fn connect(address: &str, folder: &Path) -> Result<(ControlClient, BTreeMap<String, String>), Error> {
    let token = std::fs::read_to_string(folder.join("control.token")).map_err(start_error)?;
    let control = ControlClient::new(address, token.trim(), MAIN_WORLD);
    let keys = control.request("GET", &format!("/worlds/{}/keys", encode(MAIN_WORLD)), None)?;
    Ok((control, read_variables(&keys)))
}

fn read_variables(keys: &Value) -> BTreeMap<String, String> {
    let variables = keys.get("variables").and_then(Value::as_object).into_iter().flatten();
    variables.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

fn log_end(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(SHOWN_LOG_LINES)..).unwrap_or_default().join("\n")
}

fn start_error(error: std::io::Error) -> Error {
    Error::Start(error.to_string())
}

/// Its data is temporary: nothing is lost.
fn end_process(child: &mut Child) {
    // An error says that it has ended already.
    let _ = child.kill();
    let _ = child.wait();
}
