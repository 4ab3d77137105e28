//! How surprising a count is: the log-likelihood ratio of a table of two by two.

/// How much more often something is in a part than in the whole, as the ratio G²: `count` of the
/// part's `of` have it, and `whole.0` of all `whole.1`. None when it is not more often there.
pub fn log_likelihood_gain((count, of): (usize, usize), whole: (usize, usize)) -> Option<f64> {
    let all = to_float(whole.1.max(of));
    let (count, of) = (to_float(count.min(of)), to_float(of));
    let has = to_float(whole.0).max(count).min(all);
    if of <= 0.0 || count / of <= has / all {
        return None;
    }
    let cells = [
        (count, of, has),
        (of - count, of, all - has),
        (has - count, all - of, has),
        ((all - of) - (has - count), all - of, all - has),
    ];
    let sum: f64 = cells
        .into_iter()
        .filter(|(seen, ..)| *seen > 0.0)
        .map(|(seen, row, column)| seen * (seen * all / (row * column)).ln())
        .sum();
    Some(2.0 * sum)
}

#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "a rank, not a figure")]
fn to_float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::log_likelihood_gain;

    #[test]
    fn what_is_more_often_in_a_part_gains() {
        // Two by two: 10 20 / 5 65.
        let ratio = log_likelihood_gain((10, 30), (15, 100)).unwrap();
        assert!((ratio - 10.326).abs() < 0.001, "{ratio}");
        assert!(log_likelihood_gain((10, 30), (12, 100)).unwrap() > ratio);
        assert_eq!(log_likelihood_gain((3, 30), (10, 100)), None);
        assert_eq!(log_likelihood_gain((0, 0), (0, 0)), None);
        assert!(log_likelihood_gain((5, 5), (5, 5)).is_none());
    }
}
