//! Values of the configuration, each with its type.

use std::path::PathBuf;
use std::time::Duration;

use base::Secret;
use network::registration::RegistrationPolicy;

use super::{Keys, Mail};
use crate::config::KEYS;
use crate::config::parse::{self, RateLimits};
use crate::config::values::{Origin, Values};
use crate::exit::Exit;

/// Reads keys as what they stand for.
pub(super) struct Reader<'a>(pub(super) &'a Values);

impl<'a> Reader<'a> {
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.0.text(name)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(self.text(name).unwrap_or_default())
    }

    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let items = self.text(name).into_iter().flat_map(parse::items);
        items.map(str::to_owned).collect()
    }

    pub(super) fn switch(&self, name: &str) -> bool {
        self.text(name).and_then(parse::switch).unwrap_or(false)
    }

    pub(super) fn span(&self, name: &str) -> Duration {
        self.text(name).and_then(parse::span).unwrap_or_default()
    }

    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, Exit> {
        let parsed = self.text(name).and_then(|text| text.parse().ok());
        parsed.ok_or_else(|| Exit::Usage(format!("{name} has no value that fits")))
    }

    pub(super) fn edge(&self) -> Result<edge::ListenerLimits, Exit> {
        Ok(edge::ListenerLimits {
            header_timeout: self.span("listen.header_timeout"),
            body_timeout: self.span("listen.body_timeout"),
            idle_timeout: self.span("listen.idle_timeout"),
            max_connections: self.number("listen.max_connections")?,
            max_connections_per_ip: self.number("listen.max_connections_per_ip")?,
            shutdown_grace: self.span("listen.shutdown_grace"),
            ..edge::ListenerLimits::default()
        })
    }

    pub(super) fn rate_limits(&self) -> RateLimits {
        self.text("limits.rate_limits")
            .and_then(parse::rate_limits)
            .unwrap_or(RateLimits::Table)
    }

    pub(super) fn registration(&self) -> RegistrationPolicy {
        match self.text("auth.registration") {
            Some("open") => RegistrationPolicy::Open,
            Some("invite") => RegistrationPolicy::Invite,
            _ => RegistrationPolicy::Closed,
        }
    }

    /// The mail server. What is wrong with its address is told without the password in it.
    pub(super) fn mail(&self) -> Result<Option<Mail>, Exit> {
        let (url, from) = (self.text("mail.smtp_url"), self.text("mail.from"));
        let (Some(url), Some(from)) = (url, from) else {
            return match url {
                None => Ok(None),
                Some(_) => Err(Exit::Usage(
                    "mail.from is not set; letters need an address that they come from".to_owned(),
                )),
            };
        };
        let url = Secret::new(url);
        mail::SmtpMailer::new(&url, from)
            .map_err(|fault| Exit::Usage(format!("mail.smtp_url, mail.from: {fault}")))?;
        let from = from.to_owned();
        Ok(Some(Mail { url, from }))
    }

    /// The bucket of media files.
    pub(super) fn bucket(&self) -> Result<Option<media::Bucket>, Exit> {
        let Some(url) = self.text("media.s3_url") else {
            return Ok(None);
        };
        let mut bucket = media::Bucket::parse_url(url).ok_or_else(|| {
            Exit::Usage("media.s3_url is not `s3://bucket` or `s3://bucket/prefix`".to_owned())
        })?;
        let needed = |name: &str| {
            let text = self.text(name).map(str::to_owned);
            text.ok_or_else(|| Exit::Usage(format!("{name} is not set; media.s3_url needs it")))
        };
        bucket.endpoint = self.text("media.s3_endpoint").map(str::to_owned);
        bucket.region = needed("media.s3_region")?;
        bucket.access_key = needed("media.s3_access_key")?;
        bucket.secret_key = needed("media.s3_secret_key")?;
        Ok(Some(bucket))
    }

    /// What the operator decided about advertising.
    pub(super) fn ads(&self) -> Result<ads::AdsConfig, Exit> {
        let rates = self.text("ads.exchange_rates");
        Ok(ads::AdsConfig {
            rates: rates
                .and_then(ads::config::CurrencyRates::parse)
                .unwrap_or_default(),
            count_videos_immediately: self.text("ads.count_videos") == Some("posts"),
            narrow_audience_size: self.number("ads.narrow_audience")?,
        })
    }

    pub(super) fn keys(&self) -> Keys {
        let held = self.0.get("secrets.master_key");
        let file = held.and_then(|value| match &value.origin {
            Origin::Held(path, _) => Some(path.clone()),
            _ => None,
        });
        Keys {
            line: held.map(|value| Secret::new(value.text.clone())),
            file,
            old: self
                .list("secrets.old_master_key_files")
                .into_iter()
                .map(PathBuf::from)
                .collect(),
            beside_data: self.switch("secrets.danger_key_in_data_dir"),
        }
    }

    pub(super) fn dangers(&self) -> Vec<&'static str> {
        let keys = KEYS.iter().filter(|key| key.is_danger());
        keys.map(|key| key.name)
            .filter(|name| self.switch(name))
            .collect()
    }
}
