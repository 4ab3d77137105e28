//! The words of user profiles in their search index, stored as codes.

use base::text::people::{index_terms, term_code};
use base::{Fault, UserId};

use crate::{Tx, insert_new_later, meta, row, select};

/// Searched fields, in order of rank: handle, name and biography.
pub const FIELD_COUNT: usize = 3;
/// Rows per statement.
const BATCH_SIZE: usize = 8;
/// Progress of indexing users from before the index existed, or before it had words of all scripts.
const BACKFILL_KEY: &str = "user_words_of_all_scripts";

row! {
    struct SearchedProfile from "users" {
        id: UserId,
        username: String,
        name: String,
        description: String,
    }
}

pub fn insert_all(tx: &mut Tx<'_>, user: UserId, texts: [&str; FIELD_COUNT]) -> Result<(), Fault> {
    let mut rows: Vec<(i64, i64)> = Vec::new();
    for (field, words) in (0..).zip(texts.map(index_terms)) {
        rows.extend(words.iter().map(|word| (field, term_code(word))));
    }
    if tx.is_postgres() {
        // Of all users of an import, the words are inserted together.
        return rows.iter().try_for_each(|(field, word)| {
            insert_new_later!(tx, "user_word", user_id = user, place = *field, word = *word)
        });
    }
    let sql = "INSERT INTO user_word (user_id, place, word) VALUES ($1, $2, $3), ($1, $4, $5), ($1, $6, $7), ($1, $8, \
               $9), ($1, $10, $11), ($1, $12, $13), ($1, $14, $15), ($1, $16, $17) ON CONFLICT DO NOTHING";
    for batch in rows.chunks(BATCH_SIZE) {
        let mut args = vec![user.into()];
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

pub fn remove_all(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    let sql = "DELETE FROM user_word WHERE user_id = $1";
    tx.execute_later(sql, &[user.into()])
}

/// Indexes users from before the index existed; returns true while there are more. Placeholders have no words.
pub(crate) fn backfill(tx: &mut Tx<'_>, limit: i64) -> Result<bool, Fault> {
    let done = meta::get(tx, BACKFILL_KEY)?.unwrap_or_else(|| "0".to_owned());
    if done == "all" {
        return Ok(false);
    }
    let after = done.parse().map(UserId::new);
    let after = after.map_err(Fault::context("reading the progress of user indexing"))?;
    let sql = select!(SearchedProfile, "WHERE id > $1 AND state <> 3 ORDER BY id LIMIT $2");
    let batch: Vec<SearchedProfile> = tx.query_rows(sql, &[after.into(), limit.into()])?;
    for SearchedProfile { id, username, name, description } in &batch {
        remove_all(tx, *id)?;
        insert_all(tx, *id, [username, name, description])?;
    }
    let progress = batch.last().map_or("all".to_owned(), |user| user.id.to_string());
    meta::set(tx, BACKFILL_KEY, &progress)?;
    Ok(!batch.is_empty())
}

#[cfg(test)]
mod tests {
    use base::UserId;
    use tempfile::TempDir;
    use tokio::runtime::Runtime;

    use super::backfill;
    use crate::test_stores::{locations, options};
    use crate::{Store, Tx};

    #[test]
    fn users_from_before_the_index_are_found_and_placeholders_are_not() {
        let (folder, runtime) = (TempDir::new().unwrap(), Runtime::new().unwrap());
        for location in locations(&folder) {
            let store = runtime.block_on(Store::open(options(location, &folder))).unwrap();
            let work = |tx: &mut Tx<'_>| {
                tx.execute("DELETE FROM meta WHERE key = 'user_words_of_all_scripts'", &[])?;
                for (id, handle, state) in [(1_i64, "ada", 0_i64), (2, "bob", 3), (3, "cy", 1)] {
                    let sql = "INSERT INTO users (id, username, handle, name, created_at, state) \
                               VALUES ($1, $2, $2, 'Some Name', 0, $3)";
                    tx.execute(sql, &[id.into(), handle.into(), state.into()])?;
                }
                let mut batches = 0;
                while backfill(tx, 1)? {
                    batches += 1;
                }
                let sql = "SELECT user_id, place FROM user_word ORDER BY user_id, place, word";
                Ok((batches, tx.query_rows::<(UserId, i64)>(sql, &[])?, backfill(tx, 1)?))
            };
            let (batches, words, has_more) = runtime.block_on(store.write(work)).unwrap();
            let of = |user, field| (UserId::new(user), field);
            assert_eq!(words, [of(1, 0), of(1, 1), of(1, 1), of(3, 0), of(3, 1), of(3, 1)]);
            assert_eq!((batches, has_more), (2, false));
            store.close();
        }
    }
}
