//! The sandbox of `locum run`: what is reachable inside, and what happens where it is not available.

use std::net::{TcpListener, UdpSocket};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::harness::locum_command;
use crate::launcher::{output_of, run_in};

/// Prints what it reaches.
const EXPLORER: &str = r#"
import json, os, socket, ssl, sys, urllib.request
tcp, udp = int(sys.argv[1]), int(sys.argv[2])
base = os.environ["LOCUM_BASE_URL"]

def attempt(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__ + " " + str(error)

def fetch(url, **options):
    return attempt(lambda: urllib.request.urlopen(url, timeout=10, **options).status)

def connect(address, port):
    return attempt(lambda: socket.create_connection((address, port), 10).close())

def send(address, port):
    return attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (address, port)))

def own_server():
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    listener.accept()[0].sendall(b"hello")
    return client.recv(5).decode()

bundle = "/etc/ssl/certs/ca-certificates.crt"
print(json.dumps({
    "base": fetch(base + "/readyz"),
    "https": fetch("https://api.x.com/readyz"),
    "system bundle": fetch("https://upload.twitter.com/readyz", context=ssl.create_default_context(cafile=bundle))
        if os.path.exists(bundle) else 200,
    "http": fetch("http://api.twitter.com/readyz"),
    "own": own_server(),
    "name": attempt(lambda: socket.getaddrinfo("example.com", 80)),
    "emulated": [info[4][0] for info in socket.getaddrinfo("api.x.com", 443, socket.AF_INET, socket.SOCK_STREAM)],
    "tcp": connect("192.0.2.1", 80),
    "tcp6": connect("2001:db8::1", 80),
    "udp": send("192.0.2.1", 53),
    "resolver": connect("127.0.0.53", 53),
    "outside": connect("127.0.0.1", tcp),
    "outside udp": send("127.0.0.1", udp),
    "interfaces": [name for _, name in socket.if_nameindex()],
    "proxies": [name for name in os.environ if name.lower().endswith("_proxy")],
}))
"#;

/// The modes that work on this machine.
pub(crate) fn modes() -> &'static [&'static str] {
    if is_available() { &["sandbox", "proxy"] } else { &["proxy"] }
}

/// Containers often may not create namespaces.
fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let output = output_of(run_in(folder.path(), "sandbox", &["true"]));
        let is_refused = output.code == 1 && output.stderr.contains("the sandbox is not available");
        assert!(output.code == 0 || is_refused, "{output:?}");
        assert!(output.code == 0 || std::env::var_os("LOCUM_FULL_TESTS").is_none(), "{output:?}");
        output.code == 0
    })
}

/// Runs the explorer, with what `confine` makes of the command.
#[track_caller]
fn check_reach(confine: impl FnOnce(&Command) -> Command) {
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    let outside_udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    outside.set_nonblocking(true).unwrap();
    outside_udp.set_nonblocking(true).unwrap();
    let tcp = outside.local_addr().unwrap().port().to_string();
    let udp = outside_udp.local_addr().unwrap().port().to_string();
    let folder = tempfile::tempdir().unwrap();
    let mut command = run_in(folder.path(), "sandbox", &["python3", "-c", EXPLORER, &tcp, &udp]);
    command.env("HTTPS_PROXY", "http://127.0.0.1:1").env("http_proxy", "http://127.0.0.1:1");
    let output = output_of(confine(&command));
    let found: Value = output.assert_success().json();
    for reached in ["base", "https", "system bundle", "http"] {
        assert_eq!(found[reached], 200, "{reached}: {found}");
    }
    assert_eq!(found["own"], "hello", "{found}");
    assert_eq!(found["emulated"], serde_json::json!(["127.0.0.1"]), "{found}");
    for (what, error) in [
        ("name", "gaierror"),
        ("tcp", "Network is unreachable"),
        ("tcp6", "OSError"),
        ("udp", "Network is unreachable"),
        ("resolver", "ConnectionRefusedError"),
        ("outside", "ConnectionRefusedError"),
    ] {
        assert!(found[what].as_str().is_some_and(|text| text.contains(error)), "{what}: {found}");
    }
    assert_eq!(found["interfaces"], serde_json::json!(["lo"]), "{found}");
    assert_eq!(found["proxies"], serde_json::json!([]), "{found}");
    assert!(outside.accept().is_err(), "a connection left the sandbox");
    assert!(outside_udp.recv(&mut [0]).is_err(), "a datagram left the sandbox");
}

#[test]
fn sandbox_reaches_the_server_and_nothing_else() {
    if is_available() {
        check_reach(|command| wrap(&["env"], command));
    }
}

/// As for an ordinary user, who may create namespaces only inside one of users.
#[test]
fn sandbox_without_rights_reaches_the_server_and_nothing_else() {
    if is_available() && rustix::process::getuid().is_root() {
        check_reach(|command| wrap(&["setpriv", "--bounding-set", "-sys_admin,-net_admin", "--"], command));
    }
}

/// Runs a command where no network namespace may be created.
fn without_namespaces(command: &Command) -> Command {
    let script = "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$0\" \"$@\"";
    wrap(&["unshare", "--user", "--map-root-user", "sh", "-c", script], command)
}

/// The command as arguments of another.
fn wrap(outer: &[&str], command: &Command) -> Command {
    let mut confined = Command::new(outer[0]);
    confined.args(&outer[1..]).arg(command.get_program());
    confined.args(command.get_args()).current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => confined.env(name, value),
            None => confined.env_remove(name),
        };
    }
    confined
}

#[test]
fn program_runs_with_a_proxy_where_the_sandbox_is_refused() {
    if !is_available() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "curl -sS -o /dev/null -w %{http_code} https://api.x.com/readyz";
    let automatic = output_of(without_namespaces(&run_in(folder.path(), "auto", &["sh", "-c", script])));
    assert_eq!(automatic.assert_success().stdout, "200", "{automatic:?}");
    assert!(automatic.stderr.contains("locum: proxy, the sandbox is not available (creating namespaces"));
    let required = output_of(without_namespaces(&run_in(folder.path(), "sandbox", &["true"])));
    required.assert_exit_code(1);
    assert!(required.stderr.contains("error: the sandbox is not available: creating namespaces"), "{required:?}");
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "files remain");
}

#[test]
fn mode_is_chosen_and_announced() {
    let folder = tempfile::tempdir().unwrap();
    let output = output_of(run_in(folder.path(), "auto", &["true"]));
    let expected = if is_available() { "locum: sandbox: " } else { "locum: proxy, " };
    assert!(output.assert_success().stderr.starts_with(expected), "{output:?}");
    let mut quiet = locum_command(folder.path());
    quiet.args(["run", "-q", "--data-dir", "data", "--mode", "proxy", "true"]);
    let quiet = output_of(quiet);
    assert_eq!(quiet.assert_success().stderr, "");
}

/// What the recipes for containers make of a network of its own: the server listens on port 443, and the hosts file or
/// an alias leads the public names there.
const SIDECAR: &str = r#"
set -e
ip link set lo up
printf '127.0.0.1 localhost api.x.com upload.twitter.com x.com\n' > hosts
mount --bind hosts /etc/hosts
mkfifo ready
"$0" dev -q --world empty --control-port 0 --data-dir data --ready-fd 3 "$@" 3> ready &
trap "kill $!; wait" EXIT
read -r url < ready
export SSL_CERT_FILE=data/ca/ca.pem CURL_CA_BUNDLE=data/ca/ca.pem
for host in api.x.com upload.twitter.com x.com; do
  curl -sS -o /dev/null -w '%{http_code}\n' https://$host/readyz
done
"$0" health --ready --json --data-dir data > /dev/null
"#;

#[test]
fn server_on_port_443_serves_clients_that_know_its_names_and_authority() {
    if !is_available() {
        return;
    }
    let recipes: [&[&str]; 2] = [&["--listen", "127.0.0.1:443"], &["--listen", "0.0.0.0:443", "--expose"]];
    for arguments in recipes {
        let folder = tempfile::tempdir().unwrap();
        let mut command = locum_command(folder.path());
        command.args(arguments);
        let outer = ["unshare", "--user", "--map-root-user", "--net", "--mount", "sh", "-c", SIDECAR];
        let output = output_of(wrap(&outer, &command));
        assert_eq!(output.assert_success().stdout, "200\n200\n200\n", "{arguments:?}: {output:?}");
    }
}
