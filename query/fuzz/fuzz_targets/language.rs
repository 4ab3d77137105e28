//! Any text is parsed or rejected with a reason, and the canonical text of a query parses to the same query.

#![no_main]

use libfuzzer_sys::fuzz_target;
use query::{AccessTier, QueryDialect, QueryProduct, parse};

fuzz_target!(|text: &str| {
    for product in QueryProduct::ALL {
        let dialect = QueryDialect::new(product, AccessTier::Enterprise);
        match parse(text, dialect) {
            Ok(query) => {
                let print = query.to_string();
                // The canonical text may be longer than the original: `ipad` for `-(-ipad)`, `"a(b"`.
                if print.chars().count() <= dialect.max_length() {
                    assert_eq!(parse(&print, dialect).as_ref(), Ok(&query), "{print:?}");
                }
            }
            Err(problems) => assert!(!problems.details().is_empty()),
        }
    }
});
