//! Address filtering: webhooks must not reach the operator's own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use base::Fault;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

#[derive(Clone, Debug, Default)]
pub struct AllowedTargets {
    /// Allows plain HTTP and ports.
    pub allow_http: bool,
    /// Private addresses that are allowed.
    pub private_blocks: Vec<AddressBlock>,
}

/// A CIDR block, `10.1.0.0/16`, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressBlock(IpNet);

impl FromStr for AddressBlock {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let block = text.parse().or_else(|_| text.parse().map(|address: IpAddr| address.into()));
        block.map(Self).map_err(|_| Fault::new(format!("{text:?} is not an address block")))
    }
}

impl AddressBlock {
    /// Every IPv4 and IPv6 address.
    pub const ALL: [Self; 2] = [Self::v4([0, 0, 0, 0], 0), Self::v6(Ipv6Addr::UNSPECIFIED, 0)];

    const fn v4([a, b, c, d]: [u8; 4], prefix_bits: u8) -> Self {
        Self(IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix_bits)))
    }

    const fn v6(base: Ipv6Addr, prefix_bits: u8) -> Self {
        Self(IpNet::V6(Ipv6Net::new_assert(base, prefix_bits)))
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }
}

/// Never allowed: cloud metadata services hand out credentials there.
const FORBIDDEN_BLOCKS: &[AddressBlock] = &[
    AddressBlock::v4([169, 254, 0, 0], 16),
    AddressBlock::v4([100, 100, 100, 200], 32),
    AddressBlock::v4([168, 63, 129, 16], 32),
    AddressBlock::v4([192, 0, 0, 192], 32),
    AddressBlock::v4([0, 0, 0, 0], 8),
    AddressBlock::v4([224, 0, 0, 0], 3),
    AddressBlock::v6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10),
    AddressBlock::v6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32),
    AddressBlock::v6(Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8),
    AddressBlock::v6(Ipv6Addr::UNSPECIFIED, 128),
];

/// IANA's registries of special-purpose addresses.
const PRIVATE_BLOCKS: &[AddressBlock] = &[
    AddressBlock::v4([10, 0, 0, 0], 8),
    AddressBlock::v4([100, 64, 0, 0], 10),
    AddressBlock::v4([127, 0, 0, 0], 8),
    AddressBlock::v4([172, 16, 0, 0], 12),
    AddressBlock::v4([192, 0, 0, 0], 24),
    AddressBlock::v4([192, 0, 2, 0], 24),
    AddressBlock::v4([192, 88, 99, 0], 24),
    AddressBlock::v4([192, 168, 0, 0], 16),
    AddressBlock::v4([198, 18, 0, 0], 15),
    AddressBlock::v4([198, 51, 100, 0], 24),
    AddressBlock::v4([203, 0, 113, 0], 24),
    AddressBlock::v6(Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    AddressBlock::v6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    AddressBlock::v6(Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// The global unicast block of IPv6.
const GLOBAL_IPV6: AddressBlock = AddressBlock::v6(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
/// IPv6 blocks that embed an IPv4 address, and its byte offset.
const IPV4_EMBEDDINGS: &[(AddressBlock, u32)] = &[
    (AddressBlock::v6(Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96), 96),
    (AddressBlock::v6(Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96), 96),
    (AddressBlock::v6(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96), 96),
    (AddressBlock::v6(Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), 16),
    (AddressBlock::v6(Ipv6Addr::UNSPECIFIED, 96), 96),
];

/// The IPv4 address embedded in an IPv6 address.
fn embedded_ipv4(address: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(six) = address else {
        return None;
    };
    if six.is_loopback() || six.is_unspecified() {
        return None;
    }
    let (_, begin) = IPV4_EMBEDDINGS.iter().find(|(block, _)| block.contains(address))?;
    let bits = six.to_bits().checked_shr(128 - 32 - begin)? & u128::from(u32::MAX);
    Some(IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(bits).ok()?)))
}

impl AllowedTargets {
    pub fn is_allowed(&self, address: IpAddr) -> bool {
        if let Some(four) = embedded_ipv4(address) {
            return self.is_allowed(four);
        }
        let in_any = |blocks: &[AddressBlock]| blocks.iter().any(|block| block.contains(address));
        if in_any(FORBIDDEN_BLOCKS) {
            return false;
        }
        let public = !in_any(PRIVATE_BLOCKS) && (address.is_ipv4() || GLOBAL_IPV6.contains(address));
        public || in_any(&self.private_blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::{AddressBlock, AllowedTargets};

    const PUBLIC: [&str; 5] = ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "64:ff9b::101:101", "::ffff:1.1.1.1"];
    const PRIVATE: [&str; 22] = [
        "127.0.0.1",
        "127.255.255.254",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "198.18.0.1",
        "192.0.2.1",
        "198.51.100.1",
        "203.0.113.9",
        "192.88.99.1",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::10.0.0.1",
        "64:ff9b::a00:1",
        "2002:a00:1::",
        "2002:7f00:1::1",
        "fc00::1",
        "fd12:3456::1",
        "2001:db8::1",
    ];
    const NEVER: [&str; 15] = [
        "169.254.169.254",
        "169.254.0.1",
        "169.254.170.2",
        "100.100.100.200",
        "168.63.129.16",
        "0.0.0.0",
        "0.1.2.3",
        "224.0.0.1",
        "255.255.255.255",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "fe80::1",
        "fd00:ec2::254",
        "ff02::1",
    ];

    #[test]
    fn private_addresses_are_refused_unless_allowed_and_metadata_always() {
        let strict = AllowedTargets::default();
        let development = AllowedTargets { allow_http: true, private_blocks: AddressBlock::ALL.to_vec() };
        for text in PUBLIC {
            let address = text.parse().unwrap();
            assert!(strict.is_allowed(address) && development.is_allowed(address), "{text}");
        }
        for text in PRIVATE {
            let address = text.parse().unwrap();
            assert!(!strict.is_allowed(address), "{text}");
            assert!(development.is_allowed(address), "{text}");
        }
        for text in NEVER {
            let address = text.parse().unwrap();
            assert!(!strict.is_allowed(address) && !development.is_allowed(address), "{text}");
        }
    }

    #[test]
    fn an_allowed_block_opens_nothing_beside_it() {
        let some = AllowedTargets {
            allow_http: false,
            private_blocks: vec!["10.1.0.0/16".parse().unwrap(), "::1".parse().unwrap()],
        };
        for (text, allowed) in
            [("10.1.2.3", true), ("::ffff:10.1.2.3", true), ("10.2.0.1", false), ("::1", true), ("127.0.0.1", false)]
        {
            assert_eq!(some.is_allowed(text.parse().unwrap()), allowed, "{text}");
        }
        for text in ["10.0.0.0/33", "ten", "10.0.0.0/-1", "::/129", ""] {
            text.parse::<AddressBlock>().unwrap_err();
        }
    }
}
