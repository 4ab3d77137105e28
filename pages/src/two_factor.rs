//! Two-factor sign-in: the security settings with the events of an account, and the page that asks for a code.

use askama::Template;
use base::Time;
use qrcode::{Color, QrCode};

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame, PasskeySettings};

/// Form fields: `code`, `next`.
#[derive(Template)]
#[template(path = "sign_in_code.html")]
pub struct SignInCodePage {
    pub frame: PageFrame,
    pub action: String,
    /// Local path to go to afterwards, validated by the server.
    pub next: String,
    pub app: Option<String>,
    pub code: FormField,
    /// Starts again with another account.
    pub restart: String,
}

html_page!(SignInCodePage, |_| "Enter your code".to_owned(), |page| vec![("code", &page.code)]);

pub enum TwoFactorForms {
    /// Form fields: `password`.
    Off { action: String, password: FormField },
    On {
        recovery_codes: i64,
        /// Form fields: `codes_password`, `codes_code`.
        replace_codes: String,
        codes_password: FormField,
        codes_code: FormField,
        /// Form fields: `off_password`, `off_code`.
        turn_off: String,
        off_password: FormField,
        off_code: FormField,
    },
}

pub struct SecurityEventItem {
    pub at: Time,
    pub what: String,
    /// Whether it may be somebody else's attempt.
    pub is_warning: bool,
    pub app: Option<String>,
    pub device: Option<String>,
    /// May be empty.
    pub address: String,
    pub by_operator: bool,
}

#[derive(Template)]
#[template(path = "security.html")]
pub struct SecurityPage {
    pub frame: PageFrame,
    pub two_factor: TwoFactorForms,
    pub passkeys: PasskeySettings,
    /// Newest first.
    pub events: Vec<SecurityEventItem>,
}

impl SecurityPage {
    const SECTION: &'static str = "Security";
}

html_page!(SecurityPage, |_| "Security".to_owned(), |page| {
    let mut fields = match &page.two_factor {
        TwoFactorForms::Off { password, .. } => vec![("password", password)],
        TwoFactorForms::On { codes_password, codes_code, off_password, off_code, .. } => vec![
            ("codes_password", codes_password),
            ("codes_code", codes_code),
            ("off_password", off_password),
            ("off_code", off_code),
        ],
    };
    fields.extend(page.passkeys.fields());
    fields
});

/// Form fields: `code`.
#[derive(Template)]
#[template(path = "two_factor_setup.html")]
pub struct TwoFactorSetupPage {
    pub frame: PageFrame,
    pub action: String,
    /// What the QR code contains.
    pub uri: String,
    /// Base32.
    pub secret: String,
    pub code: FormField,
}

impl TwoFactorSetupPage {
    const SECTION: &'static str = "Security";

    /// None if the URI is too long for a QR code.
    fn qr_drawing(&self) -> Option<QrDrawing> {
        QrDrawing::draw(&self.uri)
    }

    /// In groups of four, which are easier to type.
    fn secret_groups(&self) -> String {
        let letters: Vec<char> = self.secret.chars().collect();
        let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
        groups.join(" ")
    }
}

html_page!(TwoFactorSetupPage, |_| "Turn on two-factor sign-in".to_owned(), |page| vec![("code", &page.code)]);

/// Shown once.
#[derive(Template)]
#[template(path = "recovery_codes.html")]
pub struct RecoveryCodesPage {
    pub frame: PageFrame,
    pub codes: Vec<String>,
}

impl RecoveryCodesPage {
    const SECTION: &'static str = "Security";
}

html_page!(RecoveryCodesPage, |_| "Recovery codes".to_owned());

/// Modules around the code that stay light.
const QUIET_ZONE: usize = 4;

/// Both in modules.
struct QrDrawing {
    width: usize,
    /// The `d` of an SVG path.
    path: String,
}

impl QrDrawing {
    fn draw(text: &str) -> Option<Self> {
        let code = QrCode::new(text).ok()?;
        let width = code.width();
        let dark = (0_usize..).zip(code.to_colors()).filter(|(_, color)| *color == Color::Dark);
        let modules = dark.map(|(index, _)| {
            let (x, y) = (index % width.max(1), index / width.max(1));
            format!("M{} {}h1v1h-1z", x.saturating_add(QUIET_ZONE), y.saturating_add(QUIET_ZONE))
        });
        Some(Self { path: modules.collect(), width: width.saturating_add(2 * QUIET_ZONE) })
    }
}
