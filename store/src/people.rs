//! The words by which people are found: kept with their rows, read in order.

use base::text::people::{code, words};
use base::{Fault, UserId};

use crate::Tx;
use crate::users::{self, State, User};

/// Fields of a profile in the order in which a match in them counts.
const PLACES: usize = 3;
/// Rows of one statement.
const ROWS: usize = 8;
/// Whether the words of everyone who was there before them were put in.
const FILLED: &str = "user_words";

/// A user's handle, name and biography.
pub fn texts_of(user: &User) -> [&str; PLACES] {
    [&user.username, &user.name, &user.description]
}

/// The words of a user's handle, name and biography, each with no repeats.
pub fn words_of(user: &User) -> [Vec<String>; PLACES] {
    texts_of(user).map(words)
}

/// Makes a user findable by their words. A placeholder has none.
pub(crate) fn put(tx: &mut Tx<'_>, user: &User) -> Result<(), Fault> {
    if user.state == State::Placeholder {
        return Ok(());
    }
    let mut rows: Vec<(i64, i64)> = Vec::new();
    for (place, words) in (0..).zip(words_of(user)) {
        rows.extend(words.iter().map(|word| (place, code(word))));
    }
    let sql = "INSERT INTO user_word (user_id, place, word) VALUES ($1, $2, $3), ($1, $4, $5), \
               ($1, $6, $7), ($1, $8, $9), ($1, $10, $11), ($1, $12, $13), ($1, $14, $15), \
               ($1, $16, $17) ON CONFLICT DO NOTHING";
    for some in rows.chunks(ROWS) {
        let mut args = vec![user.id.into()];
        // The last statement says its last row several times.
        let filled = some.iter().chain(some.last().into_iter().cycle());
        for (place, word) in filled.take(ROWS) {
            args.push((*place).into());
            args.push((*word).into());
        }
        tx.exec(sql, &args)?;
    }
    Ok(())
}

/// Makes a user findable by nothing.
pub(crate) fn remove(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    let sql = "DELETE FROM user_word WHERE user_id = $1";
    tx.exec(sql, &[user.into()]).map(|_| ())
}

/// [`put`] anew, when what the words come from is another than before.
pub(crate) fn renew(tx: &mut Tx<'_>, before: Option<&User>, user: &User) -> Result<(), Fault> {
    let facts = |user: &User| {
        let is_placeholder = user.state == State::Placeholder;
        (texts_of(user).map(str::to_owned), is_placeholder)
    };
    if before.map(facts) == Some(facts(user)) {
        return Ok(());
    }
    remove(tx, user.id)?;
    put(tx, user)
}

/// Puts in the words of some users who were there before words were; true while there are more.
pub(crate) fn fill(tx: &mut Tx<'_>, limit: i64) -> Result<bool, Fault> {
    let done = crate::meta::get(tx, FILLED)?.unwrap_or_else(|| "0".to_owned());
    if done == "all" {
        return Ok(false);
    }
    let after = done.parse().map(UserId::new);
    let after = after.map_err(Fault::when("how far the words of users have come"))?;
    let some = users::list(tx, after, limit)?;
    for user in &some {
        renew(tx, None, user)?;
    }
    let reached = some
        .last()
        .map_or("all".to_owned(), |user| user.id.to_string());
    crate::meta::set(tx, FILLED, &reached)?;
    Ok(!some.is_empty())
}

/// Which words of one field are looked through, and from where.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// 0 handle, 1 name, 2 biography.
    pub place: i64,
    /// The lowest and the highest number of the words.
    pub codes: (i64, i64),
    /// Only what lies behind this word and user, in the order of words and then of users.
    pub behind: (i64, UserId),
    /// Before it instead, the nearest first.
    pub backward: bool,
    /// At most so many.
    pub limit: i64,
}

/// Words and the users who have them.
pub fn having(tx: &mut Tx<'_>, reach: &Reach) -> Result<Vec<(i64, UserId)>, Fault> {
    let (word, user) = reach.behind;
    let same = if reach.backward {
        "SELECT word, user_id FROM user_word WHERE place = $1 AND word = $2 AND user_id < $3 \
         ORDER BY user_id DESC LIMIT $4"
    } else {
        "SELECT word, user_id FROM user_word WHERE place = $1 AND word = $2 AND user_id > $3 \
         ORDER BY user_id LIMIT $4"
    };
    let read = |row: &crate::db::Row<'_, '_>| Ok((row.int(0)?, row.id(1)?));
    let args = [
        reach.place.into(),
        word.into(),
        user.into(),
        reach.limit.into(),
    ];
    let mut found = tx.rows(same, &args, read)?;
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
    let args = [reach.place.into(), low.into(), high.into(), rest.into()];
    found.extend(tx.rows(others, &args, read)?);
    Ok(found)
}
