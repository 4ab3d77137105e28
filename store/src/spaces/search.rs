//! Spaces found by the words of their titles.

use base::Fault;

use super::SpaceState;
use crate::Tx;

/// Looked at in one go.
const BATCH_SIZE: i64 = 500;
/// So often at most: who asks for nothing but common words gets what the newest spaces have.
const MAX_BATCHES: usize = 20;

/// Lets a space be found by these words; whatever it was found by before no longer counts.
pub fn index_words(tx: &mut Tx<'_>, space: i64, state: SpaceState, words: &[String]) -> Result<(), Fault> {
    remove_words(tx, space)?;
    let sql = "INSERT INTO space_word (word, state, space_id) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    for word in words {
        tx.execute(sql, &[word.into(), state.to_number().into(), space.into()])?;
    }
    Ok(())
}

/// Lets a space no longer be found.
pub fn remove_words(tx: &mut Tx<'_>, space: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM space_word WHERE space_id = $1";
    tx.execute(sql, &[space.into()]).map(|_| ())
}

/// Ids of the spaces in a state whose titles have all of these words, newest first.
pub fn search_titles(tx: &mut Tx<'_>, state: SpaceState, words: &[String], limit: usize) -> Result<Vec<i64>, Fault> {
    // Fewer are looked at where the longest word leads, which is mostly the rarest.
    let Some(first) = words.iter().max_by_key(|word| word.len()) else {
        return Ok(Vec::new());
    };
    let chunk = "SELECT space_id FROM space_word WHERE word = $1 AND state = $2 \
                 AND space_id < $3 ORDER BY space_id DESC LIMIT $4";
    let also = "SELECT space_id FROM space_word WHERE space_id = $1 AND word = $2 AND state = $3";
    let (mut all, mut below) = (Vec::new(), i64::MAX);
    for _ in 0..MAX_BATCHES {
        let args = [first.into(), state.to_number().into(), below.into(), BATCH_SIZE.into()];
        let mut some = tx.query_rows(chunk, &args, |row| row.int(0))?;
        let last = some.last().copied();
        let whole = i64::try_from(some.len()).unwrap_or(0) == BATCH_SIZE;
        for word in words.iter().filter(|word| *word != first) {
            some = tx.query_by_keys(also, &some, &[word.into(), state.to_number().into()], |row| row.int(0))?;
        }
        some.sort_unstable_by(|one, other| other.cmp(one));
        all.extend(some);
        all.truncate(limit);
        match last {
            Some(last) if whole && all.len() < limit => below = last,
            _ => break,
        }
    }
    Ok(all)
}
