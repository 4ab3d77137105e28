//! What an app is entitled to beyond its credential (contract core §13.14, §13.22, §13.26).

crate::named_enum! {
    /// The names are as stored, as written in commands and as shown in refusals.
    pub enum Entitlement {
        FullArchive = "full_archive",
        Blocks = "blocks",
        FollowsAndLikes = "follows_and_likes",
        Ads = "ads",
        /// Serving promoted posts and reporting engagement, which advertisers are charged by.
        AdsServing = "ads_serving",
    }
}

impl Entitlement {
    pub const fn description(self) -> &'static str {
        match self {
            Self::FullArchive => "Search and counts over posts of all time",
            Self::Blocks => "Blocking users",
            Self::FollowsAndLikes => "Following users and liking posts",
            Self::Ads => "The Ads API",
            Self::AdsServing => "Serving what is promoted, and reporting it",
        }
    }

    pub fn is_listed_in(self, list: &str) -> bool {
        list.split(' ').any(|name| name == self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Entitlement;

    #[test]
    fn a_list_holds_whole_names() {
        let list = "blocks full_archive";
        assert!(Entitlement::Blocks.is_listed_in(list) && Entitlement::FullArchive.is_listed_in(list));
        assert!(!Entitlement::FollowsAndLikes.is_listed_in(list));
        assert!(!Entitlement::Blocks.is_listed_in("blocksx"));
        for known in Entitlement::ALL {
            assert_eq!(Entitlement::parse(known.name()), Some(known));
        }
        assert_eq!(Entitlement::parse(""), None);
    }
}
