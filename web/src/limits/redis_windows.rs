//! Windows of rate limits in Valkey or Redis. Their times are that server's.

use std::time::Duration;

use base::{Error, Fault, Secret};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, FromRedisValue, Script, ScriptInvocation};
use store::rate_windows::{UnusedCalls, WindowLease, WindowRequest};
use tokio::sync::Mutex;

/// The longest wait for a connection, and for each answer.
const TIMEOUT: Duration = Duration::from_secs(1);
const KEY_PREFIX: &str = "locum:rate:";

/// As [`store::rate_windows::lease`], for each key with its limit and length. Four numbers for each: what is granted,
/// what all nodes were granted, in how many milliseconds the window ends, and the server's time in milliseconds then.
const LEASE_SCRIPT: &str = "local answers = {}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i, key in ipairs(KEYS) do
  local limit, length = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local used = tonumber(redis.call('GET', key) or '0')
  local left = math.max(limit - used, 0)
  local granted = math.min(math.max(math.floor(left / 10), 1), left)
  if granted > 0 then used = redis.call('INCRBY', key, granted) end
  local rest = redis.call('PTTL', key)
  if rest < 0 then
    redis.call('PEXPIRE', key, length)
    rest = length
  end
  table.insert(answers, granted)
  table.insert(answers, used)
  table.insert(answers, rest)
  table.insert(answers, now + rest)
end
return answers";
/// A window that ended by then is left alone. Of two ends of one window, one may be later by a few milliseconds; those
/// of two windows are at least a second apart. Older servers cannot tell the end itself.
const RETURN_SCRIPT: &str = "local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + redis.call('PTTL', KEYS[1])
if used >= tonumber(ARGV[1]) and math.abs(ends - tonumber(ARGV[2])) < 500 then
  redis.call('DECRBY', KEYS[1], ARGV[1])
end
return 0";

pub(super) struct RedisWindows {
    client: Client,
    /// None before the first use and after a failure.
    connection: Mutex<Option<MultiplexedConnection>>,
    lease: Script,
    give_back: Script,
}

impl RedisWindows {
    pub(super) fn new(url: &Secret) -> Result<Self, Fault> {
        // With TLS, the client uses the process's provider; another part may have set it already.
        let _set = rustls::crypto::ring::default_provider().install_default();
        let client = Client::open(url.expose_secret()).map_err(Fault::context("limits.url"))?;
        let (lease, give_back) = (Script::new(LEASE_SCRIPT), Script::new(RETURN_SCRIPT));
        Ok(Self { client, connection: Mutex::default(), lease, give_back })
    }

    pub(super) async fn lease(&self, requests: &[WindowRequest]) -> Result<Vec<WindowLease>, Error> {
        let mut invocation = self.lease.prepare_invoke();
        for request in requests {
            invocation.key(window_key(&request.digest)).arg(request.limit).arg(request.length_ms);
        }
        let numbers: Vec<i64> = self.invoke(&invocation).await?;
        let count = |calls: i64| u32::try_from(calls).unwrap_or(u32::MAX);
        let leases = numbers.as_chunks::<4>().0.iter().map(|[granted, used, resets_in_ms, ends_at_ms]| WindowLease {
            granted: count(*granted),
            used: count(*used),
            resets_in_ms: *resets_in_ms,
            ends_at_ms: *ends_at_ms,
        });
        let leases: Vec<WindowLease> = leases.collect();
        if leases.len() != requests.len() {
            return Err(Fault::new("the store of rate limits gave a wrong number of answers").into());
        }
        Ok(leases)
    }

    pub(super) async fn give_back(&self, unused: &UnusedCalls) -> Result<(), Error> {
        let mut invocation = self.give_back.prepare_invoke();
        invocation.key(window_key(&unused.digest)).arg(unused.calls).arg(unused.ends_at_ms);
        let _zero: i64 = self.invoke(&invocation).await?;
        Ok(())
    }

    pub(super) async fn forget(&self, digests: &[[u8; 32]]) -> Result<(), Error> {
        let mut connection = self.connect().await?;
        let keys: Vec<Vec<u8>> = digests.iter().map(window_key).collect();
        let removed: Result<i64, _> = redis::cmd("DEL").arg(keys).query_async(&mut connection).await;
        let removed = removed.map_err(|error| Fault::from_cause("the store of rate limits", error).into_transient());
        Ok(removed.map(drop)?)
    }

    async fn invoke<T: FromRedisValue>(&self, invocation: &ScriptInvocation<'_>) -> Result<T, Error> {
        let mut connection = self.connect().await?;
        let answer = invocation.invoke_async(&mut connection).await;
        if answer.is_err() {
            *self.connection.lock().await = None;
        }
        answer.map_err(|error| Fault::from_cause("the store of rate limits", error).into_transient().into())
    }

    pub(super) async fn connect(&self) -> Result<MultiplexedConnection, Fault> {
        let mut connection = self.connection.lock().await;
        if let Some(connection) = &*connection {
            return Ok(connection.clone());
        }
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(Some(TIMEOUT)).set_response_timeout(Some(TIMEOUT));
        let connected = self.client.get_multiplexed_async_connection_with_config(&config).await;
        let connected =
            connected.map_err(|error| Fault::from_cause("connecting to limits.url", error).into_transient())?;
        Ok(connection.insert(connected).clone())
    }
}

fn window_key(digest: &[u8; 32]) -> Vec<u8> {
    [KEY_PREFIX.as_bytes(), digest].concat()
}
