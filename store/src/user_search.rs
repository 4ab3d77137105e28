//! The search index of user profiles: words stored as codes, read in order.

use base::text::people::index_terms;
use base::{Fault, UserId};

use crate::Tx;
use crate::db::user_words::{self, FIELD_COUNT};
use crate::users::{User, UserState};

/// Handle, name and biography.
pub fn searched_texts(user: &User) -> [&str; FIELD_COUNT] {
    [&user.username, &user.name, &user.description]
}

/// Without duplicates.
pub fn searched_words(user: &User) -> [Vec<String>; FIELD_COUNT] {
    searched_texts(user).map(index_terms)
}

/// Placeholders are not indexed.
pub(crate) fn index_user(tx: &mut Tx<'_>, user: &User) -> Result<(), Fault> {
    if user.state == UserState::Placeholder {
        return Ok(());
    }
    user_words::insert_all(tx, user.id, searched_texts(user))
}

/// Indexes a user again if the indexed texts have changed.
pub(crate) fn reindex_user(tx: &mut Tx<'_>, before: Option<&User>, user: &User) -> Result<(), Fault> {
    let indexed_facts = |user: &User| {
        let is_placeholder = user.state == UserState::Placeholder;
        (searched_texts(user).map(str::to_owned), is_placeholder)
    };
    if before.map(indexed_facts) == Some(indexed_facts(user)) {
        return Ok(());
    }
    user_words::remove_all(tx, user.id)?;
    index_user(tx, user)
}

#[derive(Clone, Copy, Debug)]
pub struct WordRangeQuery {
    /// 0 handle, 1 name, 2 biography.
    pub field: i64,
    /// The lowest and the highest word code, inclusive.
    pub codes: (i64, i64),
    /// Only entries after this one, in the order of words and then of users.
    pub after: (i64, UserId),
    /// Read backward from `after` instead.
    pub backward: bool,
    pub limit: i64,
}

/// Pairs of word code and user.
pub fn find_in_range(tx: &mut Tx<'_>, query: &WordRangeQuery) -> Result<Vec<(i64, UserId)>, Fault> {
    let (word, user) = query.after;
    let same_word_sql = if query.backward {
        "SELECT word, user_id FROM user_word WHERE place = $1 AND word = $2 AND user_id < $3 \
         ORDER BY user_id DESC LIMIT $4"
    } else {
        "SELECT word, user_id FROM user_word WHERE place = $1 AND word = $2 AND user_id > $3 ORDER BY user_id LIMIT $4"
    };
    let args = [query.field.into(), word.into(), user.into(), query.limit.into()];
    let mut found = tx.query_rows(same_word_sql, &args)?;
    let rest = query.limit - i64::try_from(found.len()).unwrap_or(i64::MAX);
    if rest <= 0 {
        return Ok(found);
    }
    let (other_words_sql, low, high) = if query.backward {
        let sql = "SELECT word, user_id FROM user_word WHERE place = $1 AND word >= $2 \
                   AND word < $3 ORDER BY word DESC, user_id DESC LIMIT $4";
        (sql, query.codes.0, word)
    } else {
        let sql = "SELECT word, user_id FROM user_word WHERE place = $1 AND word > $2 \
                   AND word <= $3 ORDER BY word, user_id LIMIT $4";
        (sql, word, query.codes.1)
    };
    let args = [query.field.into(), low.into(), high.into(), rest.into()];
    found.extend(tx.query_rows::<(i64, UserId)>(other_words_sql, &args)?);
    Ok(found)
}
