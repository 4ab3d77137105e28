//! How much of its limits an app has used.

use crate::{App, Frame, Page, Pager, Tab};
use askama::Template;
use base::Time;

/// One limit.
pub struct Window {
    /// Method and path.
    pub operation: String,
    /// Whose calls count, in words: "@ada" or "the app".
    pub counts: String,
    /// How long the window is, in seconds.
    pub seconds: i64,
    /// Calls used.
    pub used: u64,
    /// Calls allowed.
    pub limit: u64,
    /// When it starts anew.
    pub resets: Time,
}

impl Window {
    /// Above so many calls the meter warns.
    pub const fn scarce(&self) -> u64 {
        self.limit.saturating_mul(4) / 5
    }

    /// Above so many calls nothing is left.
    pub const fn last(&self) -> u64 {
        self.limit.saturating_sub(1)
    }

    /// Whether nothing is left.
    pub const fn is_spent(&self) -> bool {
        self.used >= self.limit
    }

    /// The window's length in words.
    pub fn length(&self) -> String {
        crate::when::span(self.seconds)
    }
}

/// How much of its limits an app has used.
#[derive(Template)]
#[template(path = "usage.html")]
pub struct Usage {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// The app.
    pub app: App,
    /// Limits with at least one call, fullest first.
    pub windows: Vec<Window>,
    /// The neighbouring parts of the list.
    pub pager: Pager,
}

impl Usage {
    const TAB: Tab = Tab::Usage;
}

impl Page for Usage {
    const NAME: &'static str = "usage";

    fn title(&self) -> String {
        format!("Usage: {}", self.app.name)
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::app::usage()
    }
}
