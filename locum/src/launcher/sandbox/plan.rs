//! What the child sets up, handed over in a file.

use std::path::{Path, PathBuf};

use base::Fault;
use serde::{Deserialize, Serialize};

pub(super) const SOCKET_NAME: &str = "socket";
const FILE_NAME: &str = "plan.json";

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SandboxPlan {
    pub(super) mounts: Vec<BindMount>,
    /// Listened to on 127.0.0.1, in this order.
    pub(super) ports: Vec<u16>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BindMount {
    pub(super) source: PathBuf,
    pub(super) target: PathBuf,
}

impl SandboxPlan {
    pub(super) fn write(&self, folder: &Path) -> Result<(), Fault> {
        let text = serde_json::to_vec(self).map_err(Fault::context("the plan of the sandbox"))?;
        std::fs::write(folder.join(FILE_NAME), text).map_err(Fault::context("the plan of the sandbox"))
    }

    pub(super) fn read(folder: &Path) -> Result<Self, Fault> {
        let text = std::fs::read(folder.join(FILE_NAME)).map_err(Fault::context("the plan of the sandbox"))?;
        serde_json::from_slice(&text).map_err(Fault::context("the plan of the sandbox"))
    }
}
