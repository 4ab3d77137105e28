//! Any text is read or refused, with a reason; what is read comes back from its print.

#![no_main]

use libfuzzer_sys::fuzz_target;
use query::{Dialect, Level, Product, parse};

fuzz_target!(|text: &str| {
    for product in Product::ALL {
        let dialect = Dialect::new(product, Level::Enterprise);
        match parse(text, dialect) {
            Ok(query) => {
                let print = query.to_string();
                // A print may be longer than what was written: `ipad` for `-(-ipad)`, `"a(b"`.
                if print.chars().count() <= dialect.longest() {
                    assert_eq!(parse(&print, dialect).as_ref(), Ok(&query), "{print:?}");
                }
            }
            Err(problems) => assert!(!problems.details().is_empty()),
        }
    }
});
