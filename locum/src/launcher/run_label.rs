//! The label of the requests that arrive while a program runs.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use base::Fault;
use http::Method;
use serde_json::Value;

use super::intercept_variables::chosen_world;
use instance::command::{ControlEndpoint, send_request};
use instance::command_error::CommandError;
use instance::output::print_diagnostic;

/// A third of the lease of a label.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(10);

/// Ends the label when it is dropped. If this process is killed, the server ends it half a minute later.
pub(super) struct RunLabel {
    stop: Option<Sender<()>>,
    renewal: Option<JoinHandle<()>>,
    endpoint: ControlEndpoint,
    path: String,
}

impl RunLabel {
    pub(super) fn start(data_dir: &Path, label: &str, is_quiet: bool) -> Result<Self, CommandError> {
        let world = chosen_world();
        let open_endpoint = || ControlEndpoint::data_folder_socket(data_dir).with_world(world.as_ref());
        let endpoint = open_endpoint();
        let path = format!("/control/v1/runs/{}", base::percent::encode(label));
        let (status, answer) = send_request(&endpoint, Method::PUT, &path, Vec::new())?;
        if status != 200 {
            let text = String::from_utf8_lossy(&answer).into_owned();
            let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
            let message = answer.pointer("/errors/0/message").and_then(Value::as_str).map_or(text, str::to_owned);
            return Err(CommandError::Usage(format!("--label {label}: {message}")));
        }
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let others = answer.pointer("/data/other_active_labels").and_then(Value::as_array).map_or(0, Vec::len);
        if others > 0 && !is_quiet {
            print_diagnostic(
                "locum: other labelled programs run at the same time: only requests with the header X-Locum-Run get a \
                 label meanwhile",
            );
        }
        let (stop, stopped) = channel();
        let (renewed, renewed_path) = (open_endpoint(), path.clone());
        let renew = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(RENEWAL_INTERVAL) {
                // The program matters more than its label.
                let _unreachable = send_request(&renewed, Method::PUT, &renewed_path, Vec::new());
            }
        };
        let thread = std::thread::Builder::new().name("run-label".to_owned()).spawn(renew);
        let renewal = thread.map_err(Fault::context("starting a thread"))?;
        Ok(Self { stop: Some(stop), renewal: Some(renewal), endpoint, path })
    }
}

impl Drop for RunLabel {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _panicked = self.renewal.take().map(JoinHandle::join);
        let _unreachable = send_request(&self.endpoint, Method::DELETE, &self.path, Vec::new());
    }
}
