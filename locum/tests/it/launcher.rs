//! `locum run`: the program's exit code, signals and variables, and the server that it uses.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::harness::{CommandOutput, TestRequest, TestServer, locum_command, run_command, shared_server, wait_until};
use crate::sandbox::modes;

/// Prints the names of the signals that it gets, and ends after SIGTERM.
const SIGNAL_PRINTER: &str = r#"
import signal
import time

def report(number, frame):
    print(signal.Signals(number).name, flush=True)
    if number == signal.SIGTERM:
        raise SystemExit(3)

for name in ("INT", "HUP", "QUIT", "USR1", "USR2", "WINCH", "TERM"):
    signal.signal(getattr(signal, "SIG" + name), report)
print("ready", flush=True)
# A signal just before signal.pause() would be reported with the next one.
while True:
    time.sleep(0.05)
"#;

/// A command whose temporary files are in the folder.
pub(crate) fn run_in(folder: &Path, mode: &str, program: &[&str]) -> Command {
    let mut command = locum_command(folder);
    command.env("TMPDIR", folder).args(["run", "--fresh", "--world", "empty", "--mode", mode, "--"]).args(program);
    command
}

pub(crate) fn output_of(mut command: Command) -> CommandOutput {
    let output = command.output().unwrap();
    CommandOutput {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// A program whose output is read while it runs.
struct RunningProgram {
    process: Child,
    output: BufReader<ChildStdout>,
    folder: TempDir,
}

impl RunningProgram {
    fn start(mode: &str, program: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = run_in(folder.path(), mode, program);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output, folder }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }
}

#[test]
fn exit_code_of_the_program_is_returned() {
    for mode in modes() {
        for (script, code) in [("exit 0", 0), ("exit 77", 77), ("kill -KILL $$", 137), ("kill -SEGV $$", 139)] {
            let folder = tempfile::tempdir().unwrap();
            output_of(run_in(folder.path(), mode, &["sh", "-c", script])).assert_exit_code(code);
        }
        let folder = tempfile::tempdir().unwrap();
        let missing = output_of(run_in(folder.path(), mode, &["no-such-program"]));
        missing.assert_exit_code(127);
        assert!(missing.stderr.contains("no-such-program: command not found"), "{missing:?}");
        let refused = output_of(run_in(folder.path(), mode, &["/"]));
        refused.assert_exit_code(126);
        assert!(refused.stderr.contains("error: /: Permission denied"), "{refused:?}");
        assert!(is_empty(folder.path()), "{mode}: files remain");
    }
}

#[test]
fn signals_are_passed_on_to_the_program() {
    let forwarded = [
        (Signal::INT, "SIGINT"),
        (Signal::HUP, "SIGHUP"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::WINCH, "SIGWINCH"),
    ];
    for mode in modes() {
        let mut program = RunningProgram::start(mode, &["python3", "-c", SIGNAL_PRINTER]);
        assert_eq!(program.line(), "ready");
        for (signal, name) in forwarded {
            program.signal(signal);
            assert_eq!(program.line(), name, "{mode}");
        }
        program.signal(Signal::TERM);
        assert_eq!(program.line(), "SIGTERM", "{mode}");
        assert_eq!(program.process.wait().unwrap().code(), Some(3), "{mode}");
        assert!(is_empty(program.folder.path()), "{mode}: files remain");
    }
}

#[test]
fn program_ended_by_a_signal_of_the_user_ends_like_it() {
    for mode in modes() {
        let mut program = RunningProgram::start(mode, &["sh", "-c", "echo ready; exec sleep 60"]);
        assert_eq!(program.line(), "ready");
        program.signal(Signal::TERM);
        assert_eq!(program.process.wait().unwrap().code(), Some(143), "{mode}");
    }
}

#[test]
fn server_and_its_fresh_world_end_when_locum_run_is_killed() {
    for mode in modes() {
        let script = "echo ${LOCUM_BASE_URL#http://}; echo $$; exec sleep 60";
        let mut program = RunningProgram::start(mode, &["sh", "-c", script]);
        let (address, pid) = (program.line(), program.line());
        TcpStream::connect(&address).unwrap();
        program.signal(Signal::KILL);
        program.process.wait().unwrap();
        wait_until("the server has ended", || TcpStream::connect(&address).is_err());
        wait_until("its files are gone", || is_empty(program.folder.path()));
        kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    }
}

#[test]
fn fresh_world_is_new_each_time_and_removed_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "locum=$0; \"$locum\" user create someone -q && \"$locum\" user list --json; echo $LOCUM_CORE__DATA_DIR";
    let binary = locum_command(folder.path()).get_program().to_str().unwrap().to_owned();
    for mode in modes() {
        let listed = output_of(run_in(folder.path(), mode, &["sh", "-c", script, &binary]));
        listed.assert_success();
        assert_eq!(listed.stdout.matches("\"username\": \"someone\"").count(), 1, "{listed:?}");
        let data_dir = listed.stdout.lines().last().unwrap();
        assert!(data_dir.starts_with(folder.path().to_str().unwrap()), "{data_dir}");
        assert!(is_empty(folder.path()), "{mode}: files remain");
    }
}

#[test]
fn running_server_is_used_and_stays() {
    let server = shared_server();
    let data_dir = server.data_dir();
    let run = |more: &[&str]| {
        let args = [&["run", "--mode", "proxy", "--data-dir", data_dir.to_str().unwrap()], more].concat();
        run_command(&data_dir, &args)
    };
    let used = run(&["sh", "-c", "echo $LOCUM_BASE_URL $LOCUM_USER_TOKEN"]);
    used.assert_success();
    assert_eq!(used.stdout, format!("{} {}\n", server.url, server.env_value("USER_TOKEN")));
    assert_eq!(server.send(TestRequest::get("/readyz")).status, 200);
    let refused = run(&["--port", "1", "true"]);
    refused.assert_exit_code(2);
    assert!(refused.stderr.contains("--port 1: a server is running"), "{refused:?}");
    let refused = run(&["--world", "empty", "true"]);
    refused.assert_exit_code(2);
    assert!(refused.stderr.contains("has the world \"demo\""), "{refused:?}");
}

#[test]
fn server_that_cannot_start_is_reported_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["run", "--data-dir", "data", "--set", "listen.addr=192.0.2.1:1", "--set", "core.expose=true", "true"];
    let failed = run_command(folder.path(), &args);
    failed.assert_exit_code(1);
    assert!(failed.stderr.contains("the server did not start"), "{failed:?}");
    assert!(failed.stderr.contains("listen.addr 192.0.2.1"), "{failed:?}");
    let excluded = run_command(folder.path(), &["run", "--fresh", "--data-dir", "data", "true"]);
    excluded.assert_exit_code(2);
}

#[test]
fn production_data_is_not_used() {
    let server = TestServer::start_network(&[]);
    let data_dir = server.data_dir();
    let refused = run_command(&data_dir, &["run", "--data-dir", data_dir.to_str().unwrap(), "true"]);
    refused.assert_exit_code(4);
}

#[test]
fn program_inherits_the_umask_and_ignored_signals() {
    for mode in modes() {
        let folder = tempfile::tempdir().unwrap();
        let run = run_in(folder.path(), mode, &["sh", "-c", "umask; kill -HUP $$; echo alive"]);
        let mut command = locum_command(folder.path());
        let (binary, args) = (command.get_program().to_owned(), run.get_args());
        command = Command::new("sh");
        command.args(["-c", "umask 026; trap '' HUP; exec \"$0\" \"$@\""]).arg(binary).args(args);
        command.env("TMPDIR", folder.path()).current_dir(folder.path());
        assert_eq!(output_of(command).assert_success().stdout, "0026\nalive\n", "{mode}");
    }
}

#[test]
fn proxy_variables_are_printed_for_a_shell() {
    let server = shared_server();
    let plain = server.run_cli(&["env", "--shell", "json"]).json();
    assert_eq!(plain.get("HTTPS_PROXY"), None);
    let all = server.run_cli(&["env", "--intercept", "--shell", "json"]).json();
    for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "API_BASE_URL"] {
        assert_eq!(all[name], server.url, "{name}");
    }
    assert_eq!(all["LOCUM_USER_TOKEN"], server.env_value("USER_TOKEN"));
    let read = |name: &str| std::fs::read_to_string(all[name].as_str().unwrap()).unwrap();
    let authority = read("NODE_EXTRA_CA_CERTS");
    let bundle = read("SSL_CERT_FILE");
    let body = |pem: &str| pem.lines().filter(|line| !line.starts_with("---")).collect::<String>();
    assert!(body(&bundle).starts_with(&body(&authority)), "the authority is not in the bundle");
    for name in ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PERL_LWP_SSL_CA_FILE", "AWS_CA_BUNDLE"] {
        assert_eq!(all[name], all["SSL_CERT_FILE"], "{name}");
    }
    let data_dir = server.data_dir();
    let script = run_command(&data_dir, &["env", "--intercept", "--data-dir", data_dir.to_str().unwrap()]);
    assert!(script.stdout.contains(&format!("export HTTPS_PROXY='{}'\n", server.url)), "{}", script.stdout);
}

#[test]
fn shell_with_proxy_variables_reaches_the_public_hosts_here_and_no_others() {
    let server = shared_server();
    let data_dir = server.data_dir();
    let mut command = locum_command(&data_dir);
    let binary = command.get_program().to_owned();
    let script = "eval \"$(\"$0\" env --intercept --data-dir .)\"; code='curl -s -o /dev/null -w %{http_code}\\n'; \
                  $code https://api.x.com/readyz; $code http://x.com/readyz; $code $LOCUM_BASE_URL/readyz; \
                  $code http://example.com/; curl -s -o /dev/null -w '%{http_connect}\\n' https://example.com/";
    command = Command::new("sh");
    command.args(["-c", script]).arg(binary).current_dir(&data_dir);
    let output = output_of(command);
    assert_eq!(output.stdout, "200\n200\n200\n403\n403\n", "{output:?}");
}
