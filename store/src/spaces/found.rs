//! Spaces found by the words of their titles.

use base::Fault;

use super::State;
use crate::Tx;

/// Looked at in one go.
const CHUNK: i64 = 500;
/// So often at most: who asks for nothing but common words gets what the newest spaces have.
const CHUNKS: usize = 20;

/// Lets a space be found by these words; whatever it was found by before no longer counts.
pub fn index(tx: &mut Tx<'_>, space: i64, state: State, words: &[String]) -> Result<(), Fault> {
    unindex(tx, space)?;
    let sql = "INSERT INTO space_word (word, state, space_id) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    for word in words {
        tx.exec(sql, &[word.into(), state.number().into(), space.into()])?;
    }
    Ok(())
}

/// Lets a space no longer be found.
pub fn unindex(tx: &mut Tx<'_>, space: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM space_word WHERE space_id = $1";
    tx.exec(sql, &[space.into()]).map(|_| ())
}

/// Ids of the spaces in a state whose titles have all of these words, newest first.
pub fn found(
    tx: &mut Tx<'_>,
    state: State,
    words: &[String],
    limit: usize,
) -> Result<Vec<i64>, Fault> {
    // Fewer are looked at where the longest word leads, which is mostly the rarest.
    let Some(first) = words.iter().max_by_key(|word| word.len()) else {
        return Ok(Vec::new());
    };
    let chunk = "SELECT space_id FROM space_word WHERE word = $1 AND state = $2 \
                 AND space_id < $3 ORDER BY space_id DESC LIMIT $4";
    let also = "SELECT space_id FROM space_word WHERE space_id = $1 AND word = $2 AND state = $3";
    let (mut all, mut below) = (Vec::new(), i64::MAX);
    for _ in 0..CHUNKS {
        let args = [
            first.into(),
            state.number().into(),
            below.into(),
            CHUNK.into(),
        ];
        let mut some = tx.rows(chunk, &args, |row| row.int(0))?;
        let last = some.last().copied();
        let whole = i64::try_from(some.len()).unwrap_or(0) == CHUNK;
        for word in words.iter().filter(|word| *word != first) {
            some = tx.of_each(also, &some, &[word.into(), state.number().into()], |row| {
                row.int(0)
            })?;
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
