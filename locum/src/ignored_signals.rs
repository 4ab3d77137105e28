//! Signals that this process was started with ignored, as under `nohup`.

use rustix::process::Signal;

pub(crate) fn is_ignored(signal: Signal) -> bool {
    ignored_signals() >> (signal.as_raw() - 1) & 1 == 1
}

/// The bits of `SigIgn` in `proc_pid_status(5)`; none where there is no such file.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}
