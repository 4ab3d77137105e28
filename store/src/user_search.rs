//! The search index of user profiles: words stored as codes, read in order.

use base::text::people::{index_terms, term_code};
use base::{Fault, UserId};

use crate::Tx;
use crate::db::insert_new_later;
use crate::users::{self, User, UserState};

/// Searched fields, in order of rank.
const FIELD_COUNT: usize = 3;
/// Rows per statement.
const BATCH_SIZE: usize = 8;
/// Progress of indexing users from before the index existed, or before it had words of all scripts.
const BACKFILL_KEY: &str = "user_words_of_all_scripts";

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
    let mut rows: Vec<(i64, i64)> = Vec::new();
    for (field, words) in (0..).zip(searched_words(user)) {
        rows.extend(words.iter().map(|word| (field, term_code(word))));
    }
    if tx.is_postgres() {
        // Of all users of an import, the words are inserted together.
        return rows.iter().try_for_each(|(field, word)| {
            insert_new_later!(tx, "user_word", user_id = user.id, place = *field, word = *word)
        });
    }
    let sql = "INSERT INTO user_word (user_id, place, word) VALUES ($1, $2, $3), ($1, $4, $5), ($1, $6, $7), ($1, $8, \
               $9), ($1, $10, $11), ($1, $12, $13), ($1, $14, $15), ($1, $16, $17) ON CONFLICT DO NOTHING";
    for batch in rows.chunks(BATCH_SIZE) {
        let mut args = vec![user.id.into()];
        // A shorter batch repeats its last row.
        let padded = batch.iter().chain(batch.last().into_iter().cycle());
        for (field, word) in padded.take(BATCH_SIZE) {
            args.push((*field).into());
            args.push((*word).into());
        }
        tx.execute_later(sql, &args)?;
    }
    Ok(())
}

pub(crate) fn remove_user(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    let sql = "DELETE FROM user_word WHERE user_id = $1";
    tx.execute_later(sql, &[user.into()])
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
    remove_user(tx, user.id)?;
    index_user(tx, user)
}

/// Indexes users from before the index existed; returns true while there are more.
pub(crate) fn backfill_words(tx: &mut Tx<'_>, limit: i64) -> Result<bool, Fault> {
    let done = crate::meta::get(tx, BACKFILL_KEY)?.unwrap_or_else(|| "0".to_owned());
    if done == "all" {
        return Ok(false);
    }
    let after = done.parse().map(UserId::new);
    let after = after.map_err(Fault::context("reading the progress of user indexing"))?;
    let batch = users::list(tx, after, limit)?;
    for user in &batch {
        reindex_user(tx, None, user)?;
    }
    let progress = batch.last().map_or("all".to_owned(), |user| user.id.to_string());
    crate::meta::set(tx, BACKFILL_KEY, &progress)?;
    Ok(!batch.is_empty())
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
