//! Search for spaces by the words of their titles.

use base::Fault;

use super::SpaceState;
use crate::Tx;
use crate::db::insert_new_later;

/// Candidates per query.
const BATCH_SIZE: i64 = 500;
/// Bounds the cost of queries with common words only; such searches cover only the newest spaces.
const MAX_BATCHES: usize = 20;

/// Replaces the space's index words.
pub fn index_words(tx: &mut Tx<'_>, space: i64, state: SpaceState, words: &[String]) -> Result<(), Fault> {
    remove_words(tx, space)?;
    for word in words {
        insert_new_later!(tx, "space_word", word = word, state = state.to_number(), space_id = space)?;
    }
    Ok(())
}

pub fn remove_words(tx: &mut Tx<'_>, space: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM space_word WHERE space_id = $1";
    tx.execute_later(sql, &[space.into()])
}

/// Ids of the spaces in a state whose titles contain all words, newest first.
pub fn search_titles(tx: &mut Tx<'_>, state: SpaceState, words: &[String], limit: usize) -> Result<Vec<i64>, Fault> {
    // The longest word is usually the rarest, so it leaves the fewest candidates.
    let Some(first) = words.iter().max_by_key(|word| word.len()) else {
        return Ok(Vec::new());
    };
    let batch_sql = "SELECT space_id FROM space_word WHERE word = $1 AND state = $2 \
                 AND space_id < $3 ORDER BY space_id DESC LIMIT $4";
    let filter_sql = "SELECT space_id FROM space_word WHERE space_id = $1 AND word = $2 AND state = $3";
    let (mut all, mut below) = (Vec::new(), i64::MAX);
    for _ in 0..MAX_BATCHES {
        let args = [first.into(), state.to_number().into(), below.into(), BATCH_SIZE.into()];
        let mut batch = tx.query_rows(batch_sql, &args)?;
        let last = batch.last().copied();
        let is_full = i64::try_from(batch.len()).unwrap_or(0) == BATCH_SIZE;
        for word in words.iter().filter(|word| *word != first) {
            batch = tx.query_by_keys(filter_sql, &batch, &[word.into(), state.to_number().into()])?;
        }
        batch.sort_unstable_by(|one, other| other.cmp(one));
        all.extend(batch);
        all.truncate(limit);
        match last {
            Some(last) if is_full && all.len() < limit => below = last,
            _ => break,
        }
    }
    Ok(all)
}
