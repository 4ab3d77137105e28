//! For whom calls are counted.

use std::net::IpAddr;

use identity::apps::Caller;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateLimitSubject {
    /// App-only calls, by app id.
    App(i64),
    /// App id and user id.
    User(i64, i64),
    Account(i64),
    /// App id and address: of a client without a secret, which anyone can pretend to be.
    PublicClient(i64, IpAddr),
    /// Calls without credentials.
    Address(IpAddr),
}

impl RateLimitSubject {
    pub const fn belongs_to_app(self, app: i64) -> bool {
        matches!(self, Self::App(id) | Self::User(id, _) | Self::PublicClient(id, _) if id == app)
    }

    pub fn from_caller(caller: &Caller) -> Self {
        let app = caller.app_id.get();
        caller.user.map_or(Self::App(app), |user| Self::User(app, user.get()))
    }

    pub fn from_address(address: IpAddr) -> Self {
        Self::Address(mask_address(address))
    }

    pub fn from_public_client(app: i64, address: IpAddr) -> Self {
        Self::PublicClient(app, mask_address(address))
    }
}

/// The /64 network of an IPv6 address, which one client usually has to itself.
fn mask_address(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => IpAddr::V6((u128::from(six) & !u128::from(u64::MAX)).into()),
    }
}
