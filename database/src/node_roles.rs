//! Roles: what a server does. All of them, unless it shares the work with servers of other roles.

base::named_enum! {
    pub enum NodeRole {
        /// Requests to the APIs and pages.
        Api = "api",
        /// Streams to connected clients.
        Stream = "stream",
        /// The search index, for itself and for nodes without one.
        Search = "search",
        /// What is sent to others and done in the background.
        Deliver = "deliver",
    }
}

impl NodeRole {
    const fn bit(self) -> u8 {
        match self {
            Self::Api => 1,
            Self::Stream => 2,
            Self::Search => 4,
            Self::Deliver => 8,
        }
    }
}

/// A set of roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRoles(u8);

impl NodeRoles {
    pub const ALL: Self = Self(15);
    pub const NONE: Self = Self(0);

    pub const fn contains(self, role: NodeRole) -> bool {
        self.0 & role.bit() != 0
    }

    pub fn iter(self) -> impl Iterator<Item = NodeRole> {
        NodeRole::ALL.into_iter().filter(move |role| self.contains(*role))
    }

    /// Names separated by commas, as stored. Unknown names, which a newer version may store, are left out.
    pub(crate) fn from_names(names: &str) -> Self {
        names.split(',').filter_map(NodeRole::parse).collect()
    }

    pub(crate) fn to_names(self) -> String {
        let names: Vec<&str> = self.iter().map(NodeRole::name).collect();
        names.join(",")
    }
}

impl FromIterator<NodeRole> for NodeRoles {
    fn from_iter<I: IntoIterator<Item = NodeRole>>(roles: I) -> Self {
        Self(roles.into_iter().fold(0, |bits, role| bits | role.bit()))
    }
}

#[cfg(test)]
mod tests {
    use super::{NodeRole, NodeRoles};

    #[test]
    fn roles_are_stored_by_name() {
        for roles in [NodeRoles::NONE, NodeRoles::ALL, [NodeRole::Search].into_iter().collect()] {
            assert_eq!(NodeRoles::from_names(&roles.to_names()), roles);
        }
        assert_eq!(NodeRoles::ALL.to_names(), "api,stream,search,deliver");
        assert_eq!(NodeRoles::from_names("deliver,future").to_names(), "deliver");
    }
}
