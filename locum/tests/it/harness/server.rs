//! A running server in a folder of its own.

mod nodes;
mod sharing;

pub(crate) use sharing::{keep_for_test, own_server, shared_server};

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::database::TestDatabase;
use super::process::{
    CommandOutput, ProcessGuard, limited_locum_command, locum_command, locum_command_with_socket, run_command,
};
use super::world_template::WorldTemplate;
use super::{
    DatabaseEngine, PostgresServer, TcpProxy, TestApp, TestRequest, TestResponse, TestUser, WAIT_TIMEOUT, free_address,
    suite_engine, unique_number, wait_until,
};

/// A data folder with its database, and the process that serves it.
pub(crate) struct TestServer {
    folder: TempDir,
    database: Option<Arc<TestDatabase>>,
    args: Vec<String>,
    /// Where a real network is met, if this is one; its keys go with each command.
    network: Option<Vec<String>>,
    /// The public listener, if it outlives the process.
    socket: Option<TcpListener>,
    /// Variables that only a build for tests reads.
    variables: Vec<(&'static str, &'static str)>,
    max_descriptors: Option<u64>,
    process: Option<ServerProcess>,
    pub(crate) url: String,
    /// The lines of `dev.env`, without their prefix.
    pub(crate) env: BTreeMap<String, String>,
    agent: ureq::Agent,
    app: OnceLock<TestApp>,
}

struct ServerProcess {
    // Dropped before the process is waited for: its number may then be another's.
    guard: ProcessGuard,
    child: Child,
}

impl TestServer {
    /// Starts a server on a new folder, without rate limits unless the arguments say otherwise.
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::start_on_engine(suite_engine(), args)
    }

    /// Starts a server whose connections to the database server go through a proxy.
    pub(crate) fn start_behind_proxy(args: &[&str]) -> (Self, TcpProxy) {
        let mut server = Self::prepare(args);
        let database = server.database.take().and_then(Arc::into_inner).expect("the suite runs on PostgreSQL");
        let target = database.server_address().to_socket_addrs().unwrap().next().unwrap();
        let proxy = TcpProxy::start(target);
        server.database = Some(Arc::new(database.at_address(proxy.address)));
        server.restart();
        (server, proxy)
    }

    /// Starts a real network, `locum serve`, as far as one can be on this machine.
    pub(crate) fn start_network(args: &[&str]) -> Self {
        let mut server = Self::prepare_network(args);
        server.restart();
        server
    }

    /// Starts a real network on a socket that is kept open between its processes.
    pub(crate) fn start_network_on_socket(socket: TcpListener, args: &[&str]) -> Self {
        let base_url = format!("core.base_url=http://{}", socket.local_addr().unwrap());
        let mut server = Self::prepare_network(&[&["--set", &base_url], args].concat());
        server.socket = Some(socket);
        server.restart();
        server
    }

    /// A real network in which nothing was started yet.
    pub(crate) fn prepare_network(args: &[&str]) -> Self {
        let address = free_address();
        let keys = [
            format!("listen.addr={address}"),
            format!("core.base_url=http://{address}"),
            "core.danger_plain_http=true".to_owned(),
            "secrets.danger_key_in_data_dir=true".to_owned(),
            "limits.danger_rate_limits=true".to_owned(),
            "limits.rate_limits=off".to_owned(),
        ];
        let sets = keys.into_iter().flat_map(|key| ["--set".to_owned(), key]);
        let own = args.iter().map(ToString::to_string);
        let mut server = Self::prepare(&["--rate-limits", "off"]);
        server.args = Vec::new();
        server.network = Some(sets.chain(own).collect());
        server
    }

    /// Starts a development server on a database of a server that the test has started.
    pub(crate) fn start_on_postgres(postgres: &PostgresServer, args: &[&str]) -> Self {
        let mut server = Self::prepare_on_engine(DatabaseEngine::Sqlite, args);
        server.database = Some(Arc::new(TestDatabase::create_on(&postgres.url)));
        server.restart();
        server
    }

    /// Kills it, and serves the same data anew beside those who still hold on to it.
    pub(crate) fn kill_and_serve_again(&self) -> Self {
        self.signal(Signal::KILL);
        wait_until("it is gone", || self.try_send(TestRequest::get("/readyz")).is_none());
        let mut server = Self::prepare_on_engine(DatabaseEngine::Sqlite, &[]);
        server.database.clone_from(&self.database);
        server.args.clone_from(&self.args);
        std::os::unix::fs::symlink(self.data_dir(), server.data_dir()).unwrap();
        server.restart();
        server
    }

    /// Starts a server on one of the engines.
    pub(crate) fn start_on_engine(engine: DatabaseEngine, args: &[&str]) -> Self {
        let mut server = match WorldTemplate::find(engine, args) {
            Some(template) => {
                let mut server = Self::prepare_in_empty_folder(args);
                server.database = template.copy_to(&server.data_dir()).map(Arc::new);
                server
            }
            None => Self::prepare_on_engine(engine, args),
        };
        server.restart();
        server
    }

    /// Starts a server that has created its data itself: it is another network than all others.
    pub(crate) fn start_other_network(args: &[&str]) -> Self {
        let mut server = Self::prepare(args);
        server.restart();
        server
    }

    /// The data of a server that has ended, for others.
    pub(super) fn into_data(mut self) -> (TempDir, Option<TestDatabase>) {
        let folder = std::mem::replace(&mut self.folder, TempDir::new().unwrap());
        (folder, self.database.take().and_then(Arc::into_inner))
    }

    /// A folder in which nothing was started yet.
    pub(crate) fn prepare(args: &[&str]) -> Self {
        Self::prepare_on_engine(suite_engine(), args)
    }

    pub(super) fn prepare_on_engine(engine: DatabaseEngine, args: &[&str]) -> Self {
        let mut server = Self::prepare_in_empty_folder(args);
        server.database = TestDatabase::create(engine).map(Arc::new);
        server
    }

    fn prepare_in_empty_folder(args: &[&str]) -> Self {
        let mut args: Vec<String> = args.iter().map(ToString::to_string).collect();
        if !args.iter().any(|arg| arg == "--rate-limits") {
            args.extend(["--rate-limits", "off"].map(str::to_owned));
        }
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(WAIT_TIMEOUT));
        Self {
            folder: TempDir::new().unwrap(),
            database: None,
            args,
            network: None,
            socket: None,
            variables: Vec::new(),
            max_descriptors: None,
            process: None,
            url: String::new(),
            env: BTreeMap::new(),
            agent: config.build().into(),
            app: OnceLock::new(),
        }
    }

    /// Gives a server that was not started yet a database without tables, to which it applies the migrations itself.
    pub(crate) fn use_empty_database(&mut self) {
        self.database = TestDatabase::create_empty().map(Arc::new);
    }

    /// The data folder.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The database of its own that it has on a database server.
    pub(crate) fn database(&self) -> &TestDatabase {
        self.database.as_ref().expect("the suite runs on PostgreSQL")
    }

    /// A path beside the data folder.
    pub(crate) fn sibling_path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What leads a command to this server's data.
    pub(crate) fn location_args(&self) -> Vec<String> {
        let mut args = vec!["--data-dir".to_owned(), self.data_dir().display().to_string()];
        if let Some(database) = &self.database {
            args.extend(["--db".to_owned(), database.url.clone()]);
        }
        args.extend(self.network.iter().flatten().cloned());
        args
    }

    /// Sets a variable of the process that is started next.
    pub(crate) fn set_variable(&mut self, name: &'static str, value: &'static str) {
        self.variables.push((name, value));
    }

    /// Limits the descriptors of the process that is started next.
    pub(crate) fn set_descriptor_limit(&mut self, max: u64) {
        self.max_descriptors = Some(max);
    }

    /// Starts the process anew and waits until it serves.
    pub(crate) fn restart(&mut self) {
        self.spawn();
        wait_until("the server says where it is", || {
            let child = &mut self.process.as_mut().unwrap().child;
            let (id, ended) = (child.id(), child.try_wait().unwrap());
            assert!(ended.is_none(), "it ended: {ended:?}\n{}\n{}", self.stdout(), self.stderr());
            self.url = self.listening_address(id, "base_url").unwrap_or_default();
            !self.url.is_empty()
        });
        wait_until("the server is ready", || self.send(TestRequest::get("/readyz")).status == 200);
        self.env = self.read_env();
    }

    /// Starts the process, and does not wait for it.
    pub(crate) fn spawn(&mut self) {
        let file = |name| File::create(self.sibling_path(name)).unwrap();
        let folder = self.folder.path();
        let mut command = match (self.max_descriptors, &self.socket) {
            (Some(max), _) => limited_locum_command(folder, max),
            (None, Some(socket)) => locum_command_with_socket(folder, socket),
            (None, None) => locum_command(folder),
        };
        let child = command
            .args(match self.network {
                Some(_) => &["serve"][..],
                None => &["dev", "--port", "0", "--control-port", "0"],
            })
            .args(self.location_args())
            .args(&self.args)
            .envs(self.variables.iter().copied())
            .stdout(file("out.log"))
            .stderr(file("err.log"))
            .spawn()
            .unwrap();
        let guard = ProcessGuard::watch(child.id(), self.folder.path());
        self.process = Some(ServerProcess { guard, child });
    }

    fn listening_address(&self, id: u32, name: &str) -> Option<String> {
        let message = self.listening_addresses().filter(|message| message["pid"] == id)?;
        Some(message[name].as_str().unwrap_or_default().to_owned())
    }

    /// What a process says about its listeners; one that was killed left its own word.
    pub(crate) fn listening_addresses(&self) -> Option<serde_json::Value> {
        let text = std::fs::read_to_string(self.data_dir().join("server.json")).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The number of the process.
    pub(crate) fn pid(&self) -> u32 {
        self.process.as_ref().unwrap().child.id()
    }

    /// The address of the control interface.
    pub(crate) fn control_url(&self) -> String {
        let id = self.process.as_ref().unwrap().child.id();
        format!("http://{}", self.listening_address(id, "control").unwrap())
    }

    /// Asks the control interface something.
    pub(crate) fn send_control(&self, request: TestRequest) -> TestResponse {
        request.send(&self.agent, &self.control_url())
    }

    /// Calls the control API with the control token.
    pub(crate) fn call_control(&self, request: TestRequest) -> TestResponse {
        let token = std::fs::read_to_string(self.data_dir().join("control.token")).unwrap();
        self.send_control(request.bearer(token.trim()))
    }

    /// Has the running server execute a command; its result, or why it was refused.
    pub(crate) fn execute_command(&self, arguments: &[&str]) -> Result<serde_json::Value, String> {
        let token = std::fs::read_to_string(self.data_dir().join("control.token")).unwrap();
        let request = TestRequest::post("/_control/command").json(&serde_json::json!({ "arguments": arguments }));
        let mut response = self.send_control(request.bearer(token.trim())).assert_status(200);
        match response["refused"].as_str().or(response["invalid"].as_str()) {
            Some(why) => Err(why.to_owned()),
            None => Ok(response["done"].take()),
        }
    }

    fn read_env(&self) -> BTreeMap<String, String> {
        let text = std::fs::read_to_string(self.data_dir().join("dev.env"));
        let text = text.unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.strip_prefix("LOCUM_")?.split_once('='));
        lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// A line of `dev.env`.
    pub(crate) fn env_value(&self, name: &str) -> &str {
        self.env.get(name).unwrap_or_else(|| panic!("dev.env has no {name}"))
    }

    /// Adds an argument to the next starts.
    pub(crate) fn add_argument(&mut self, argument: &str) {
        self.args.push(argument.to_owned());
    }

    /// Adds an argument to the next commands and starts of a real network.
    pub(crate) fn add_network_argument(&mut self, argument: &str) {
        self.network.as_mut().expect("this is a real network").push(argument.to_owned());
    }

    /// Whether the process has not ended.
    pub(crate) fn is_running(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| process.child.try_wait().unwrap().is_none())
    }

    /// What it wrote to stdout since it started.
    pub(crate) fn stdout(&self) -> String {
        std::fs::read_to_string(self.sibling_path("out.log")).unwrap_or_default()
    }

    /// What it wrote to stderr since it started.
    pub(crate) fn stderr(&self) -> String {
        std::fs::read_to_string(self.sibling_path("err.log")).unwrap_or_default()
    }

    /// Ends it without a warning.
    pub(crate) fn kill(&mut self) {
        if let Some(ServerProcess { guard, mut child }) = self.process.take() {
            drop(guard);
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Asks it to end, and gives its exit code and how long it took.
    pub(crate) fn stop(&mut self) -> (Option<i32>, Duration) {
        self.signal(Signal::TERM);
        self.wait_for_exit()
    }

    /// Its exit code and how long it took to end.
    pub(crate) fn wait_for_exit(&mut self) -> (Option<i32>, Duration) {
        let start = base::clock::monotonic_now();
        let ServerProcess { guard, mut child } = self.process.take().unwrap();
        drop(guard);
        let status = child.wait().unwrap();
        (status.code(), start.elapsed())
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let id = self.process.as_ref().unwrap().child.id();
        let pid = Pid::from_raw(id.try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Kills the process, if it has one that still runs.
    fn kill_if_running(&self) {
        let id = self.process.as_ref().map(|process| process.child.id());
        let pid = id.and_then(|id| Pid::from_raw(id.try_into().ok()?));
        if let Some(pid) = pid {
            // It may have ended by itself.
            let _ended = kill_process(pid, Signal::KILL);
        }
    }

    /// Kills and starts again.
    pub(crate) fn crash_and_restart(&mut self) {
        self.kill();
        self.restart();
    }

    /// Runs a command on its data, answered in JSON.
    pub(crate) fn run_cli(&self, args: &[&str]) -> CommandOutput {
        let mut all: Vec<String> = args.iter().map(ToString::to_string).collect();
        all.push("--json".to_owned());
        all.extend(self.location_args());
        run_command(self.folder.path(), &all)
    }

    /// What a command prints for people, once it ended well.
    pub(crate) fn run_text_cli(&self, args: &[&str]) -> String {
        let mut all: Vec<String> = args.iter().map(ToString::to_string).collect();
        all.extend(self.location_args());
        run_command(self.folder.path(), &all).assert_success().stdout.clone()
    }

    /// Asks it something.
    pub(crate) fn send(&self, request: TestRequest) -> TestResponse {
        request.send(&self.agent, &self.url)
    }

    /// Asks it something at another of its addresses.
    pub(crate) fn send_to(&self, url: &str, request: TestRequest) -> TestResponse {
        request.send(&self.agent, url)
    }

    /// The same, where it may be gone in the middle.
    pub(crate) fn try_send(&self, request: TestRequest) -> Option<TestResponse> {
        request.try_send(&self.agent, &self.url).ok()
    }

    /// The status of a response that may not end; its body is not read.
    pub(crate) fn send_for_head(&self, request: TestRequest) -> Option<u16> {
        request.try_send_for_head(&self.agent, &self.url).ok()
    }

    /// Runs statements in its database, which it must not have open.
    pub(crate) fn run_sql(&self, statements: &str) {
        if let Some(database) = &self.database {
            database.run_sql(statements);
        } else {
            let file = rusqlite::Connection::open(self.data_dir().join("locum.db")).unwrap();
            file.execute_batch(statements).unwrap();
        }
    }

    /// Takes in lines.
    pub(crate) fn import_lines(&self, lines: &[serde_json::Value]) -> CommandOutput {
        let path = self.sibling_path(&format!("lines{}.jsonl", unique_number()));
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        std::fs::write(&path, lines.join("\n")).unwrap();
        self.run_cli(&["import", "jsonl", path.to_str().unwrap()])
    }

    /// An app that may do everything.
    pub(crate) fn default_app(&self) -> &TestApp {
        self.app.get_or_init(|| self.new_app("enterprise"))
    }

    /// A new app with an owner of its own.
    pub(crate) fn new_app(&self, access_level: &str) -> TestApp {
        let owner = format!("owner{}", unique_number());
        self.run_cli(&["user", "create", &owner, "--password", "a long secret"]).assert_success();
        let name = format!("app {}", unique_number());
        let level = ["--access-level", access_level, "--permission", "messages"];
        let created = ["app", "create", &name, "--owner", &owner];
        TestApp::from_json(owner.clone(), &self.run_cli(&[&created[..], &level[..]].concat()).json())
    }

    /// A new person whose handle begins like this, with an OAuth 2.0 token of all scopes.
    pub(crate) fn new_user(&self, name: &str) -> TestUser<'_> {
        self.new_user_with(name, &[])
    }

    /// The same, made with further arguments of `user create`.
    pub(crate) fn new_user_with(&self, name: &str, more: &[&str]) -> TestUser<'_> {
        let username = format!("{name}{}", unique_number());
        let created = ["user", "create", &username, "--password", "a long secret", "--name", name];
        let user = self.run_cli(&[&created[..], more].concat()).json();
        TestUser::with_new_token(self, self.default_app(), user["id"].as_str().unwrap(), &username)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let logged = self.stderr();
            let lines: Vec<&str> = logged.lines().collect();
            let problems = lines.iter().filter(|line| line.contains(" WARN ") || line.contains(" ERROR "));
            let problems: Vec<_> = problems.copied().collect();
            for (title, lines) in [("the last problems in", problems), ("the end of", lines)] {
                eprintln!("--- {title} the server's log:");
                lines.iter().skip(lines.len().saturating_sub(15)).for_each(|line| eprintln!("{line}"));
            }
        }
        self.kill();
    }
}
