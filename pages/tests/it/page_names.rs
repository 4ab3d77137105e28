//! The pages that the source of this crate declares, for there is no list of them at run time.

use std::fs;
use std::path::Path;

/// [`pages::HtmlPage::NAME`] of each page, in order.
pub(crate) fn declared_page_names() -> Vec<String> {
    let mut names = Vec::new();
    collect_names(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut names);
    names.sort();
    names
}

fn collect_names(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_names(&path, names);
        } else if !path.ends_with("src/page.rs") {
            // `page.rs` defines the trait and the macro.
            let source = fs::read_to_string(&path).unwrap();
            let by_macro = source.split("html_page!(").skip(1);
            let by_hand = source.split("HtmlPage for ").skip(1);
            names.extend(by_macro.chain(by_hand).map(|declaration| first_literal(declaration, &path)));
        }
    }
}

/// The name is the first string literal of a declaration.
fn first_literal(declaration: &str, path: &Path) -> String {
    let literal = declaration.split('"').nth(1);
    literal.unwrap_or_else(|| panic!("{}: a page without a name", path.display())).to_owned()
}
