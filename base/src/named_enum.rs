/// Declares an enumeration whose variants have names, such as those by which they are stored.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$variant_attribute:meta])* $variant:ident = $text:literal,)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility enum $name { $($(#[$variant_attribute])* $variant,)* }

        impl $name {
            /// In the order of the declaration.
            $visibility const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];

            $visibility const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            $visibility fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }
    };
}
