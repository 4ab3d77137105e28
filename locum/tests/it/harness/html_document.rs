//! A strict reader of documents: the tokenizer of browsers, and nesting that must close itself.

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts, states,
};
use std::cell::RefCell;

const VOID: &[&str] = &["meta", "link", "input", "br", "hr", "img", "track"];

/// An element and the text within it.
#[derive(Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) text: String,
    /// The places of the elements around it, outermost first.
    around: Vec<usize>,
    place: usize,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A document's elements in their order.
#[derive(Default)]
pub(crate) struct Document {
    pub(crate) elements: Vec<Element>,
    open: Vec<usize>,
    faults: Vec<String>,
}

impl Document {
    pub(crate) fn read(html: &str) -> Result<Self, String> {
        let sink = Sink(RefCell::new(Self::default()));
        let options = TokenizerOpts { exact_errors: true, ..TokenizerOpts::default() };
        let tokenizer = Tokenizer::new(sink, options);
        let input = BufferQueue::default();
        input.push_back(StrTendril::from_slice(html));
        let _ = tokenizer.feed(&input);
        tokenizer.end();
        let document = tokenizer.sink.0.into_inner();
        match (document.faults.is_empty(), document.open.is_empty()) {
            (true, true) => Ok(document),
            (true, false) => Err("something is never closed".to_owned()),
            (false, _) => Err(document.faults.join("; ")),
        }
    }

    pub(crate) fn elements(&self, name: &str) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(move |element| element.name == name)
    }

    pub(crate) fn within(&self, outer: &Element) -> impl Iterator<Item = &Element> {
        let place = outer.place;
        self.elements.iter().filter(move |element| element.around.contains(&place))
    }

    fn opened(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name = tag.name.to_string();
        let inner = self.open.last().map(|place| self.elements[*place].name.clone());
        if inner.as_deref() == Some("p") && !is_phrase(&name) {
            self.faults.push(format!("{name} within p"));
        }
        let place = self.elements.len();
        self.elements.push(Element {
            attributes: tag.attrs.iter().map(|found| (found.name.local.to_string(), found.value.to_string())).collect(),
            around: self.open.clone(),
            text: String::new(),
            place,
            name: name.clone(),
        });
        if !VOID.contains(&name.as_str()) && !tag.self_closing {
            self.open.push(place);
        }
        match name.as_str() {
            "textarea" | "title" => TokenSinkResult::RawData(states::RawKind::Rcdata),
            "script" => TokenSinkResult::RawData(states::RawKind::ScriptData),
            "style" => TokenSinkResult::RawData(states::RawKind::Rawtext),
            _ => TokenSinkResult::Continue,
        }
    }

    fn closed(&mut self, name: &str) {
        let open = self.open.pop().map(|place| self.elements[place].name.clone());
        if open.as_deref() != Some(name) {
            self.faults.push(format!("</{name}> closes {open:?}"));
        }
    }
}

fn is_phrase(name: &str) -> bool {
    const PHRASES: &[&str] = &[
        "a", "bdi", "br", "button", "circle", "code", "em", "img", "input", "label", "mark", "meter", "path", "rect",
        "span", "strong", "svg", "time",
    ];
    PHRASES.contains(&name)
}

struct Sink(RefCell<Document>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut document = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return document.opened(&tag),
            Token::TagToken(tag) => document.closed(&tag.name),
            Token::CharacterTokens(text) => {
                for place in document.open.clone() {
                    document.elements[place].text.push_str(&text);
                }
            }
            Token::ParseError(fault) => document.faults.push(fault.into_owned()),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}
