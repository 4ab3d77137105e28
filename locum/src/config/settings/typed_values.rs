//! Conversion of configuration values to their types.

use std::path::PathBuf;
use std::time::Duration;

use base::Secret;
use network::registration::RegistrationPolicy;

use super::{MailSettings, MasterKeySettings};
use crate::command_error::CommandError;
use crate::config::KEYS;
use crate::config::parse::{self, RateLimitPolicy};
use crate::config::values::{ConfigValues, ValueOrigin};

pub(super) struct TypedValues<'a>(pub(super) &'a ConfigValues);

impl<'a> TypedValues<'a> {
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get_text(name)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(self.text(name).unwrap_or_default())
    }

    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let items = self.text(name).into_iter().flat_map(parse::list_items);
        items.map(str::to_owned).collect()
    }

    pub(super) fn boolean(&self, name: &str) -> bool {
        self.text(name).and_then(parse::parse_bool).unwrap_or(false)
    }

    pub(super) fn duration(&self, name: &str) -> Duration {
        self.text(name).and_then(parse::parse_duration).unwrap_or_default()
    }

    pub(super) fn parse_value<T: std::str::FromStr>(&self, name: &str) -> Result<T, CommandError> {
        let parsed = self.text(name).and_then(|text| text.parse().ok());
        parsed.ok_or_else(|| CommandError::Usage(format!("{name} has no valid value")))
    }

    pub(super) fn connection_limits(&self) -> Result<edge::ListenerLimits, CommandError> {
        Ok(edge::ListenerLimits {
            header_timeout: self.duration("listen.header_timeout"),
            body_timeout: self.duration("listen.body_timeout"),
            idle_timeout: self.duration("listen.idle_timeout"),
            max_connections: self.parse_value("listen.max_connections")?,
            max_connections_per_ip: self.parse_value("listen.max_connections_per_ip")?,
            shutdown_grace: self.duration("listen.shutdown_grace"),
            ..edge::ListenerLimits::default()
        })
    }

    pub(super) fn rate_limit_policy(&self) -> RateLimitPolicy {
        self.text("limits.rate_limits").and_then(parse::parse_rate_limits).unwrap_or(RateLimitPolicy::Table)
    }

    pub(super) fn registration_policy(&self) -> RegistrationPolicy {
        match self.text("auth.registration") {
            Some("open") => RegistrationPolicy::Open,
            Some("invite") => RegistrationPolicy::Invite,
            _ => RegistrationPolicy::Closed,
        }
    }

    /// Errors never contain the password.
    pub(super) fn mail_settings(&self) -> Result<Option<MailSettings>, CommandError> {
        let (url, from) = (self.text("mail.smtp_url"), self.text("mail.from"));
        let (Some(url), Some(from)) = (url, from) else {
            return match url {
                None => Ok(None),
                Some(_) => {
                    Err(CommandError::Usage("mail.from is not set; mail.smtp_url requires a sender address".to_owned()))
                }
            };
        };
        let url = Secret::new(url);
        mail::SmtpMailer::new(&url, from)
            .map_err(|fault| CommandError::Usage(format!("mail.smtp_url, mail.from: {fault}")))?;
        let from = from.to_owned();
        Ok(Some(MailSettings { url, from }))
    }

    pub(super) fn media_bucket(&self) -> Result<Option<media::Bucket>, CommandError> {
        let Some(url) = self.text("media.s3_url") else {
            return Ok(None);
        };
        let mut bucket = media::Bucket::parse_url(url).ok_or_else(|| {
            CommandError::Usage("media.s3_url: expected `s3://bucket` or `s3://bucket/prefix`".to_owned())
        })?;
        let needed = |name: &str| {
            let text = self.text(name).map(str::to_owned);
            text.ok_or_else(|| CommandError::Usage(format!("{name} is not set; media.s3_url requires it")))
        };
        bucket.endpoint = self.text("media.s3_endpoint").map(str::to_owned);
        bucket.region = needed("media.s3_region")?;
        bucket.access_key = needed("media.s3_access_key")?;
        bucket.secret_key = needed("media.s3_secret_key")?;
        Ok(Some(bucket))
    }

    pub(super) fn ads_config(&self) -> Result<ads_engine::AdsConfig, CommandError> {
        let rates = self.text("ads.exchange_rates");
        Ok(ads_engine::AdsConfig {
            rates: rates.and_then(ads_engine::CurrencyRates::parse).unwrap_or_default(),
            count_videos_immediately: self.text("ads.count_videos") == Some("posts"),
            narrow_audience_size: self.parse_value("ads.narrow_audience")?,
        })
    }

    pub(super) fn master_key_settings(&self) -> MasterKeySettings {
        let configured = self.0.get("secrets.master_key");
        let file = configured.and_then(|value| match &value.origin {
            ValueOrigin::SecretFile(path, _) => Some(path.clone()),
            _ => None,
        });
        MasterKeySettings {
            key_line: configured.map(|value| Secret::new(value.text.clone())),
            file,
            old_key_files: self.list("secrets.old_master_key_files").into_iter().map(PathBuf::from).collect(),
            allow_in_data_dir: self.boolean("secrets.danger_key_in_data_dir"),
        }
    }

    pub(super) fn enabled_dangers(&self) -> Vec<&'static str> {
        let keys = KEYS.iter().filter(|key| key.is_dangerous());
        keys.map(|key| key.name).filter(|name| self.boolean(name)).collect()
    }
}
