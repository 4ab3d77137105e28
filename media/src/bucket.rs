//! A bucket of an S3-compatible server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, RetryConfig};

use crate::FileStoreError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest silence; a whole response may take longer, as a video is read as fast as it is
/// watched.
const READ_TIMEOUT: Duration = Duration::from_mins(1);
const RETRY_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Clone)]
pub struct Bucket {
    name: String,
    prefix: Path,
    pub endpoint: Option<String>,
    pub region: String,
    pub access_key: String,
    pub secret_key: String,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bucket({self})")
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.name, self.prefix)
    }
}

impl Bucket {
    /// Parses `s3://name/prefix`.
    pub fn parse_url(url: &str) -> Option<Self> {
        let location = url.strip_prefix("s3://")?;
        let (name, prefix) = location.split_once('/').unwrap_or((location, ""));
        let plain = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'.' | b'_');
        if name.is_empty() || !name.bytes().all(plain) {
            return None;
        }
        Some(Self {
            name: name.to_owned(),
            prefix: Path::parse(prefix.trim_end_matches('/')).ok()?,
            endpoint: None,
            region: String::new(),
            access_key: String::new(),
            secret_key: String::new(),
        })
    }

    /// What is below a folder of the bucket.
    #[must_use]
    pub fn subfolder(&self, name: &str) -> Self {
        Self { prefix: self.prefix.clone().join(name), ..self.clone() }
    }

    pub fn uses_plain_http(&self) -> bool {
        let endpoint = self.endpoint.as_deref().unwrap_or_default();
        endpoint.starts_with("http://")
    }

    pub(crate) fn open(&self) -> Result<Arc<dyn ObjectStore>, FileStoreError> {
        // The HTTP client uses the process's provider; another part may have set it already.
        let _set = rustls::crypto::ring::default_provider().install_default();
        let options = ClientOptions::new()
            .with_timeout_disabled()
            .with_connect_timeout(CONNECT_TIMEOUT)
            .with_read_timeout(READ_TIMEOUT)
            .with_allow_http(self.uses_plain_http());
        let retry = RetryConfig { max_retries: 3, retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&self.name)
            .with_region(&self.region)
            .with_access_key_id(&self.access_key)
            .with_secret_access_key(&self.secret_key)
            .with_virtual_hosted_style_request(false)
            // Not every compatible server supports bulk deletion.
            .with_disable_bulk_delete(true)
            .with_client_options(options)
            .with_retry(retry);
        if let Some(endpoint) = &self.endpoint {
            builder = builder.with_endpoint(endpoint.trim_end_matches('/'));
        }
        let store = builder.build().map_err(FileStoreError::from)?;
        Ok(Arc::new(PrefixStore::new(store, self.prefix.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::Bucket;

    #[test]
    fn an_address_names_a_bucket_and_a_prefix() {
        let shown = |url| Bucket::parse_url(url).map(|bucket| bucket.to_string());
        assert_eq!(shown("s3://media").as_deref(), Some("s3://media/"));
        assert_eq!(shown("s3://my.media/a/b/").as_deref(), Some("s3://my.media/a/b"));
        assert_eq!(shown("s3://a//b").as_deref(), Some("s3://a/b"));
        let subfolder = |url| Bucket::parse_url(url).unwrap().subfolder("c").to_string();
        assert_eq!((subfolder("s3://a"), subfolder("s3://a/b")), ("s3://a/c".to_owned(), "s3://a/b/c".to_owned()));
        for wrong in ["", "media", "s3://", "s3:///a", "s3://a b", "https://a", "s3://a/../b"] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }
}
