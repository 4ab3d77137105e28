use base::cursor::CursorCodec;

use super::{PageRequest, PageTokenScope, PageTokens, SortKeys};

fn codec() -> CursorCodec {
    CursorCodec::new(&[7; 32]).unwrap()
}

fn scope(viewer: &str) -> PageTokenScope {
    PageTokenScope::new("usersFollowers").add_fact("12").add_fact(viewer)
}

fn page(token: Option<&str>) -> PageRequest {
    let token = token.map(|token| ("pagination_token", token));
    PageRequest::parse(&codec(), &scope("me"), 3, token).unwrap()
}

fn fetch(all: &[i64], page: &PageRequest) -> Vec<i64> {
    let (above, below) = page.descending_bounds();
    let mut rows: Vec<i64> = all.iter().copied().filter(|n| above < *n && *n < below).collect();
    let most = usize::try_from(page.fetch_limit()).unwrap();
    if page.is_backward() {
        rows.drain(..rows.len().saturating_sub(most));
    } else {
        rows.truncate(most);
    }
    rows
}

#[test]
fn a_walk_visits_every_row_once_there_and_back() {
    let all: Vec<i64> = (1..=10).rev().collect();
    let (mut seen, mut token, mut back) = (Vec::new(), None, None);
    loop {
        let page = page(token.as_deref());
        let cut = page.slice_rows(fetch(&all, &page), |n| *n);
        assert_eq!(cut.tokens.previous.is_some(), !seen.is_empty());
        seen.extend_from_slice(&cut.rows);
        back = cut.tokens.previous.or(back);
        token = cut.tokens.next;
        if token.is_none() {
            break;
        }
    }
    assert_eq!(seen, all);
    let mut pages = Vec::new();
    while let Some(token) = back {
        let page = page(Some(&token));
        let cut = page.slice_rows(fetch(&all, &page), |n| *n);
        assert!(cut.tokens.next.is_some());
        pages.push(cut.rows);
        back = cut.tokens.previous;
    }
    assert_eq!(pages, [vec![4, 3, 2], vec![7, 6, 5], vec![10, 9, 8]]);
}

#[test]
fn walk_goes_on_where_the_rows_of_its_page_are_gone() {
    let (all, left) = ([7, 6, 5, 4, 3, 2, 1], [3, 2, 1]);
    let second = page(page(None).slice_rows(fetch(&all, &page(None)), |n| *n).tokens.next.as_deref());
    let before_second = second.slice_rows(fetch(&all, &second), |n| *n).tokens.previous;
    let emptied = page(before_second.as_deref());
    let cut = emptied.slice_rows(fetch(&left, &emptied), |n| *n);
    assert_eq!((cut.rows.len(), &cut.tokens.previous), (0, &None));
    let first = page(cut.tokens.next.as_deref());
    let cut = first.slice_rows(fetch(&left, &first), |n| *n);
    assert_eq!((cut.rows.as_slice(), &cut.tokens.next, &cut.tokens.previous), (left.as_slice(), &None, &None));

    let newest = [7, 6, 5];
    let cut = second.slice_rows(fetch(&newest, &second), |n| *n);
    assert_eq!((cut.rows.len(), &cut.tokens.next), (0, &None));
    let last = page(cut.tokens.previous.as_deref());
    let cut = last.slice_rows(fetch(&newest, &last), |n| *n);
    assert_eq!((cut.rows.as_slice(), &cut.tokens.next, &cut.tokens.previous), (newest.as_slice(), &None, &None));
    assert_eq!(page(None).slice_rows(Vec::<i64>::new(), |n| *n).tokens, PageTokens::default());
}

#[test]
fn a_changed_token_is_refused() {
    let token = page(None).slice_rows(vec![9, 8, 7, 6], |n| *n).tokens.next.unwrap();
    assert!(token.len() >= 16);
    assert!(token.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'v').contains(&b)));
    for place in 0..token.len() {
        for letter in "0a9v".chars() {
            let mut other = token.clone();
            other.replace_range(place..=place, &letter.to_string());
            let read = PageRequest::parse(&codec(), &scope("me"), 3, Some(("pagination_token", &other)));
            assert_eq!(read.is_ok(), other == token, "{other}");
        }
        let cut = token.get(..place).unwrap();
        assert!(PageRequest::parse(&codec(), &scope("me"), 3, Some(("pagination_token", cut))).is_err());
    }
}

#[test]
fn a_token_serves_only_its_own_walk() {
    let token = page(None).slice_rows(vec![9, 8, 7, 6], |n| *n).tokens.next.unwrap();
    let token = Some(("next_token", token.as_str()));
    assert!(PageRequest::parse(&codec(), &scope("me"), 50, token).is_ok(), "another size is the same walk");
    assert!(PageRequest::parse(&codec(), &scope("you"), 3, token).is_err());
    assert!(
        PageRequest::parse(&codec(), &PageTokenScope::new("usersFollowing").add_fact("12").add_fact("me"), 3, token)
            .is_err()
    );
    let other = CursorCodec::new(&[8; 32]).unwrap();
    let refused = PageRequest::parse(&other, &scope("me"), 3, token).err().unwrap();
    assert!(format!("{refused:?}").contains("The `next_token` query parameter value ["));
}

#[test]
fn sort_keys_keep_their_values() {
    let keys = SortKeys::from((i64::MIN, i64::MAX));
    assert_eq!((keys.as_slice().len(), keys.first_two()), (2, (i64::MIN, i64::MAX)));
}
