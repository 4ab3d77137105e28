//! The attribute of tests that run on every database engine.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Makes a test of `async fn name(world: World) { … }`. The crate's root has `on_each_engine`, which opens what the test gets.
#[proc_macro_attribute]
pub fn each_engine(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = function.into_iter().collect();
    let [attributes @ .., _async, keyword, name, TokenTree::Group(parameters), TokenTree::Group(body)] = &tokens[..]
    else {
        return "compile_error! { \"expected `async fn name(world: World) { … }`\" }".parse().unwrap_or_default();
    };
    let closure = [parse("async |"), parameters.stream(), parse("|"), TokenTree::from(body.clone()).into()];
    let call = [parse("crate::on_each_engine"), group(Delimiter::Parenthesis, closure)];
    let mut test = parse("#[test]");
    test.extend(attributes.iter().chain([keyword, name]).cloned());
    test.extend([group(Delimiter::Parenthesis, []), group(Delimiter::Brace, call)]);
    test
}

fn parse(code: &str) -> TokenStream {
    code.parse().unwrap_or_default()
}

fn group(delimiter: Delimiter, content: impl IntoIterator<Item = TokenStream>) -> TokenStream {
    TokenTree::Group(Group::new(delimiter, content.into_iter().collect())).into()
}
