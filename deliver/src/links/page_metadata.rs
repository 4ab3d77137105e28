//! Title, description and image of a page: Open Graph, else Twitter cards, else the elements of HTML.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

/// More are not looked at.
const MAX_META_ELEMENTS: usize = 500;

/// As the page writes them, untrimmed, or empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PageMetadata {
    pub(super) title: String,
    pub(super) description: String,
    pub(super) image: Option<PageImage>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PageImage {
    /// Possibly relative.
    pub(super) url: String,
    /// Pixels, if the page says so.
    pub(super) size: Option<(i64, i64)>,
}

pub(super) fn read_page_metadata(html: &str) -> PageMetadata {
    let tokenizer = Tokenizer::new(HeadSink::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    // Ends at the body, or at the end of what was received.
    let _position = tokenizer.feed(&input);
    tokenizer.sink.0.into_inner().into_metadata()
}

#[derive(Debug, Default)]
struct PageHead {
    title: String,
    is_in_title: bool,
    /// Names in lower case and contents.
    meta: Vec<(String, String)>,
}

impl PageHead {
    fn into_metadata(self) -> PageMetadata {
        let first = |names: &[&str]| {
            let found = names.iter().find_map(|name| {
                let mut all = self.meta.iter();
                all.find(|(known, content)| known == name && !content.trim().is_empty())
            });
            found.map(|(_, content)| content.clone())
        };
        let side =
            |name: &str| first(&[name]).and_then(|text| text.trim().parse::<i64>().ok()).filter(|side| *side > 0);
        let open_graph = first(&["og:image:secure_url", "og:image:url", "og:image"]);
        let size = side("og:image:width").zip(side("og:image:height")).filter(|_| open_graph.is_some());
        let image = open_graph.or_else(|| first(&["twitter:image", "twitter:image:src"]));
        PageMetadata {
            image: image.map(|url| PageImage { url, size }),
            description: first(&["og:description", "twitter:description", "description"]).unwrap_or_default(),
            title: first(&["og:title", "twitter:title"]).unwrap_or(self.title),
        }
    }

    fn read_meta(&mut self, tag: &Tag) {
        let attribute =
            |name: &str| tag.attrs.iter().find(|found| &*found.name.local == name).map(|found| &*found.value);
        let name = attribute("property").or_else(|| attribute("name"));
        if let (Some(name), Some(content)) = (name, attribute("content"))
            && self.meta.len() < MAX_META_ELEMENTS
        {
            self.meta.push((name.trim().to_ascii_lowercase(), content.to_owned()));
        }
    }

    fn start(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        match &*tag.name {
            "meta" => self.read_meta(tag),
            "title" => {
                self.is_in_title = self.title.is_empty();
                return TokenSinkResult::RawData(RawKind::Rcdata);
            }
            "script" => return TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "noscript" => return TokenSinkResult::RawData(RawKind::Rawtext),
            // Stops the tokenizer.
            "body" => return TokenSinkResult::Script(()),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

#[derive(Debug, Default)]
struct HeadSink(RefCell<PageHead>);

impl TokenSink for HeadSink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut head = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return head.start(&tag),
            Token::TagToken(_) => head.is_in_title = false,
            Token::CharacterTokens(text) if head.is_in_title => head.title.push_str(&text),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::{PageImage, PageMetadata, read_page_metadata};

    #[test]
    fn open_graph_comes_before_cards_and_these_before_the_elements() {
        let page = |head: &str| read_page_metadata(&format!("<!doctype html><html><head>{head}</head><body>"));
        let plain = "<title>A &amp; <b>B</b></title><meta name=description content='What &quot;it&quot; is'>";
        let expected =
            PageMetadata { title: "A & <b>B</b>".to_owned(), description: "What \"it\" is".to_owned(), image: None };
        assert_eq!(page(plain), expected);
        let cards = "<meta name='twitter:title' content=C><meta name='twitter:image' content='/i.png'>";
        let image = Some(PageImage { url: "/i.png".to_owned(), size: None });
        assert_eq!(page(&format!("{plain}{cards}")), PageMetadata { title: "C".to_owned(), image, ..expected });
        let graph = "<META Property='OG:Title' content=D><meta property='og:image' content='https://x/i'>\
                     <meta property='og:image:width' content=800><meta property='og:image:height' content=600>";
        let found = page(&format!("{plain}{cards}{graph}"));
        let image = PageImage { url: "https://x/i".to_owned(), size: Some((800, 600)) };
        assert_eq!((&*found.title, found.image), ("D", Some(image)));
    }

    #[test]
    fn scripts_comments_and_the_body_say_nothing() {
        let html = "<script>'<title>no</title>'</script><!-- <title>no</title> --><style><title>no</title></style>\
                    <title></title><body><title>no</title><meta property='og:title' content=no>";
        assert_eq!(read_page_metadata(html), PageMetadata::default());
        for broken in ["", "<title>x", "<meta", "<title>x</title><meta name=\"description\" content=\"", "\0<<<>>"] {
            let found = read_page_metadata(broken);
            assert!(found.description.is_empty() && found.title.len() <= 1, "{found:?}");
        }
    }
}
