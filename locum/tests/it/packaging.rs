//! The files for installation with systemd.

use std::path::PathBuf;
use std::process::Command;

use crate::harness::{locum_command, run_command};

/// Tenths; systemd calls everything below 2.0 safe.
const MAX_EXPOSURE: &str = "20";

fn unit_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../packaging/systemd").join(name)
}

fn settings(unit: &str, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(unit_path(unit)).unwrap();
    let values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    values.map(str::to_owned).collect()
}

#[test]
fn unit_starts_the_server_on_the_paths_of_its_initial_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let config = run_command(folder.path(), &["init", "--base-url", "https://social.example"]);
    let config = config.assert_success().stdout.clone();
    assert!(config.contains("data_dir = \"/var/lib/locum\""), "{config}");
    assert_eq!(settings("locum.service", "StateDirectory"), ["locum"]);
    assert!(config.contains(&format!("addr = \"{}\"", settings("locum.socket", "ListenStream")[0])), "{config}");
    let start = settings("locum.service", "ExecStart").remove(0);
    let arguments: Vec<&str> = start.strip_prefix("/usr/bin/locum ").unwrap().split(' ').collect();
    let output = locum_command(folder.path()).args(&arguments).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("/etc/locum/locum.toml"), "its arguments are understood: {stderr}");
    assert_eq!(settings("locum.service", "Type"), ["notify"]);
    assert_eq!(settings("locum.service", "UMask"), ["0077"]);
}

#[test]
fn unit_runs_as_an_ordinary_user_without_rights() {
    for (name, value) in [
        ("User", "locum"),
        ("NoNewPrivileges", "true"),
        ("CapabilityBoundingSet", ""),
        ("AmbientCapabilities", ""),
        ("ProtectSystem", "strict"),
        ("PrivateUsers", "true"),
        ("MemoryDenyWriteExecute", "true"),
    ] {
        assert_eq!(settings("locum.service", name), [value], "{name}");
    }
    assert!(settings("locum.service", "ReadWritePaths").is_empty(), "only the state directory is writable");
}

#[test]
fn exposure_of_the_unit_is_below_two() {
    let mut analysis = Command::new("systemd-analyze");
    analysis.args(["security", "--no-pager", "--offline=true"]).arg(format!("--threshold={MAX_EXPOSURE}"));
    let Ok(output) = analysis.arg(unit_path("locum.service")).output() else {
        eprintln!("skipped: systemd-analyze is not installed (Debian package `systemd`)");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("Overall exposure level"), "{output:?}");
}
