//! Readable names of browsers.

/// In order of precedence: later names also occur in the user agents of earlier browsers.
const BROWSERS: &[(&str, &str)] = &[
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
    ("curl", "curl"),
];

const SYSTEMS: &[(&str, &str)] = &[
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// A description such as "Firefox on Linux" from a `User-Agent` header.
pub fn device_name(user_agent: &str) -> String {
    let known = |table: &[(&str, &'static str)]| {
        let entry = table.iter().find(|(sign, _)| user_agent.contains(sign));
        entry.map(|(_, name)| *name)
    };
    match (known(BROWSERS), known(SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, Some(system)) => format!("A browser on {system}"),
        (None, None) => "An unknown device".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::device_name;

    #[test]
    fn devices_are_told_by_what_their_owner_calls_them() {
        let cases = [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
                "Safari on macOS",
            ),
            (
                "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Mobile Safari/537.36",
                "Chrome on Android",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0 Safari/537.36 Edg/142.0",
                "Edge on Windows",
            ),
            ("curl/8.5.0", "curl"),
            ("", "An unknown device"),
        ];
        for (header, words) in cases {
            assert_eq!(device_name(header), words);
        }
    }
}
