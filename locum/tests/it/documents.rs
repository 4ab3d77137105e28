//! What documents say about tests.

use std::path::{Path, PathBuf};

const CRATES: &[&str] = &[
    "ads",
    "api",
    "base",
    "database",
    "deliver",
    "edge",
    "identity",
    "instance",
    "locum",
    "media",
    "network",
    "pages",
    "portal",
    "post-search",
    "query",
    "search",
    "store",
    "view",
    "web",
];

/// Where a test's code may be: `a::b` in `tests/it/a/b.rs`, `src/a/b.rs`, or the file above it.
fn places(root: &Path, name: &str, modules: &[&str]) -> Vec<PathBuf> {
    let folder = root.join(name);
    let above = modules.len().saturating_sub(1);
    let mut found = Vec::new();
    for modules in [modules, &modules[..above]] {
        for base in ["tests/it", "src"] {
            let path = folder.join(base).join(modules.join("/"));
            found.push(path.with_extension("rs"));
            found.push(path.join("mod.rs"));
        }
    }
    found
}

#[test]
fn every_test_named_in_the_security_document_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut found = 0;
    for quoted in text.split('`').skip(1).step_by(2) {
        let Some((name, path)) = quoted.split_once(' ') else {
            continue;
        };
        let plain = |email: char| email.is_ascii_alphanumeric() || "_:".contains(email);
        if !CRATES.contains(&name) || !path.contains("::") || !path.chars().all(plain) {
            continue;
        }
        let modules: Vec<&str> = path.split("::").collect();
        let (test, folders) = modules.split_last().unwrap();
        let expected = format!("fn {test}(");
        let there = places(root, name, folders)
            .iter()
            .any(|path| std::fs::read_to_string(path).is_ok_and(|code| code.contains(&expected)));
        assert!(there, "docs/security.md names {quoted}");
        found += 1;
    }
    assert!(found > 100, "{found}");
    for item in [("A", 14), ("B", 18), ("C", 12), ("D", 16), ("F", 8), ("G", 14), ("I", 14), ("J", 22)] {
        for number in 1..=item.1 {
            let row = format!("| {}{number} | ", item.0);
            assert_eq!(text.matches(&row).count(), 1, "{row}");
        }
    }
}
