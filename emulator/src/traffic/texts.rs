//! Texts of posts, put together from phrases.

use base::Fault;

use super::actions::ActionKind;
use super::dice::Dice;
use super::phrases::{Language, PHRASE_BOOKS, PhraseBook};

/// `hour` is the writer's, from 0 to 23.
pub(super) fn write_text(dice: &Dice, kind: ActionKind, language: Language, hour: usize) -> Result<String, Fault> {
    let book = PHRASE_BOOKS.iter().find(|book| book.language == language);
    let book = book.ok_or_else(|| Fault::new("a language without phrases"))?;
    match kind {
        ActionKind::Reply => write_reply(dice, book),
        ActionKind::Quote => write_quote(dice, book),
        _ => write_statement(dice, book, hour),
    }
}

fn write_statement(dice: &Dice, book: &PhraseBook, hour: usize) -> Result<String, Fault> {
    let (subject, tag) = dice.choose(&book.subjects)?.copied().unwrap_or_default();
    let mut text = String::new();
    if (6..10).contains(&hour) && dice.has_luck(25)? {
        text.push_str(dice.word(&book.mornings)?);
        text.push_str(book.space);
    }
    text.push_str(&dice.word(&book.statements)?.replace("{}", subject));
    if dice.has_luck(60)? {
        text.push_str(book.space);
        text.push_str(dice.word(&book.remarks)?);
    }
    if dice.has_luck(35)? {
        text.push_str(" #");
        text.push_str(tag);
    }
    Ok(text)
}

fn write_reply(dice: &Dice, book: &PhraseBook) -> Result<String, Fault> {
    let mut text = dice.word(&book.replies)?.to_owned();
    if dice.has_luck(70)? {
        text.push_str(book.space);
        text.push_str(dice.word(&book.remarks)?);
    }
    if dice.has_luck(30)? {
        let (subject, _) = dice.choose(&book.subjects)?.copied().unwrap_or_default();
        text.push_str(book.space);
        text.push_str(&dice.word(&book.statements)?.replace("{}", subject));
    }
    Ok(text)
}

fn write_quote(dice: &Dice, book: &PhraseBook) -> Result<String, Fault> {
    let mut text = dice.word(&book.replies)?.to_owned();
    text.push_str(book.space);
    text.push_str(dice.word(&book.remarks)?);
    let (_, tag) = dice.choose(&book.subjects)?.copied().unwrap_or_default();
    if dice.has_luck(40)? {
        text.push_str(" #");
        text.push_str(tag);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{ActionKind, Dice, PHRASE_BOOKS, write_text};

    #[test]
    fn a_seed_determines_texts_which_are_short_and_seldom_repeat() {
        assert_eq!(PHRASE_BOOKS.len(), 7);
        for book in PHRASE_BOOKS.iter() {
            let write = |number| write_text(&Dice::of_action(7, number), ActionKind::Post, book.language, 8).unwrap();
            let texts: HashSet<String> = (0..300).map(write).collect();
            assert!(texts.len() > 250, "{:?}: {}", book.language, texts.len());
            assert!(texts.iter().all(|text| text.chars().count() <= 130 && !text.contains("{}")), "{texts:?}");
            assert_eq!(write(3), write(3));
        }
    }
}
