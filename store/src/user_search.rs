//! The words by which people are found: kept with their rows, read in order.

use base::text::people::{index_terms, term_code};
use base::{Fault, UserId};

use crate::Tx;
use crate::users::{self, User, UserState};

/// Fields of a profile in the order in which a match in them counts.
const FIELD_COUNT: usize = 3;
/// Rows of one statement.
const BATCH_SIZE: usize = 8;
/// Whether the words of everyone who was there before them were put in.
const BACKFILL_KEY: &str = "user_words";

/// A user's handle, name and biography.
pub fn searched_texts(user: &User) -> [&str; FIELD_COUNT] {
    [&user.username, &user.name, &user.description]
}

/// The words of a user's handle, name and biography, each with no repeats.
pub fn searched_words(user: &User) -> [Vec<String>; FIELD_COUNT] {
    searched_texts(user).map(index_terms)
}

/// Makes a user findable by their words. A placeholder has none.
pub(crate) fn index_user(tx: &mut Tx<'_>, user: &User) -> Result<(), Fault> {
    if user.state == UserState::Placeholder {
        return Ok(());
    }
    let mut rows: Vec<(i64, i64)> = Vec::new();
    for (place, words) in (0..).zip(searched_words(user)) {
        rows.extend(words.iter().map(|word| (place, term_code(word))));
    }
    let sql = "INSERT INTO user_word (user_id, place, word) VALUES ($1, $2, $3), ($1, $4, $5), \
               ($1, $6, $7), ($1, $8, $9), ($1, $10, $11), ($1, $12, $13), ($1, $14, $15), \
               ($1, $16, $17) ON CONFLICT DO NOTHING";
    for some in rows.chunks(BATCH_SIZE) {
        let mut args = vec![user.id.into()];
        // The last statement says its last row several times.
        let filled = some.iter().chain(some.last().into_iter().cycle());
        for (place, word) in filled.take(BATCH_SIZE) {
            args.push((*place).into());
            args.push((*word).into());
        }
        tx.execute(sql, &args)?;
    }
    Ok(())
}

/// Makes a user findable by nothing.
pub(crate) fn remove_user(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    let sql = "DELETE FROM user_word WHERE user_id = $1";
    tx.execute(sql, &[user.into()]).map(|_| ())
}

/// [`put`] anew, when what the words come from is another than before.
pub(crate) fn reindex_user(tx: &mut Tx<'_>, before: Option<&User>, user: &User) -> Result<(), Fault> {
    let facts = |user: &User| {
        let is_placeholder = user.state == UserState::Placeholder;
        (searched_texts(user).map(str::to_owned), is_placeholder)
    };
    if before.map(facts) == Some(facts(user)) {
        return Ok(());
    }
    remove_user(tx, user.id)?;
    index_user(tx, user)
}

/// Puts in the words of some users who were there before words were; true while there are more.
pub(crate) fn backfill_words(tx: &mut Tx<'_>, limit: i64) -> Result<bool, Fault> {
    let done = crate::meta::get(tx, BACKFILL_KEY)?.unwrap_or_else(|| "0".to_owned());
    if done == "all" {
        return Ok(false);
    }
    let after = done.parse().map(UserId::new);
    let after = after.map_err(Fault::context("how far the words of users have come"))?;
    let some = users::list(tx, after, limit)?;
    for user in &some {
        reindex_user(tx, None, user)?;
    }
    let reached = some.last().map_or("all".to_owned(), |user| user.id.to_string());
    crate::meta::set(tx, BACKFILL_KEY, &reached)?;
    Ok(!some.is_empty())
}

/// Which words of one field are looked through, and from where.
#[derive(Clone, Copy, Debug)]
pub struct WordRangeQuery {
    /// 0 handle, 1 name, 2 biography.
    pub field: i64,
    /// The lowest and the highest number of the words.
    pub codes: (i64, i64),
    /// Only what lies behind this word and user, in the order of words and then of users.
    pub after: (i64, UserId),
    /// Before it instead, the nearest first.
    pub backward: bool,
    /// At most so many.
    pub limit: i64,
}

/// Words and the users who have them.
pub fn find_in_range(tx: &mut Tx<'_>, reach: &WordRangeQuery) -> Result<Vec<(i64, UserId)>, Fault> {
    let (word, user) = reach.after;
    let same = if reach.backward {
        "SELECT word, user_id FROM user_word WHERE place = $1 AND word = $2 AND user_id < $3 \
         ORDER BY user_id DESC LIMIT $4"
    } else {
        "SELECT word, user_id FROM user_word WHERE place = $1 AND word = $2 AND user_id > $3 \
         ORDER BY user_id LIMIT $4"
    };
    let read = |row: &crate::db::SqlRow<'_, '_>| Ok((row.int(0)?, row.id(1)?));
    let args = [reach.field.into(), word.into(), user.into(), reach.limit.into()];
    let mut found = tx.query_rows(same, &args, read)?;
    let rest = reach.limit - i64::try_from(found.len()).unwrap_or(i64::MAX);
    if rest <= 0 {
        return Ok(found);
    }
    let (others, low, high) = if reach.backward {
        let sql = "SELECT word, user_id FROM user_word WHERE place = $1 AND word >= $2 \
                   AND word < $3 ORDER BY word DESC, user_id DESC LIMIT $4";
        (sql, reach.codes.0, word)
    } else {
        let sql = "SELECT word, user_id FROM user_word WHERE place = $1 AND word > $2 \
                   AND word <= $3 ORDER BY word, user_id LIMIT $4";
        (sql, word, reach.codes.1)
    };
    let args = [reach.field.into(), low.into(), high.into(), rest.into()];
    found.extend(tx.query_rows(others, &args, read)?);
    Ok(found)
}
