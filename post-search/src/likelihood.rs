//! Log-likelihood ratio of a two-by-two table.

/// How much more frequent something is in a part than overall, as the ratio G²: in `count` of the part's `part_size`
/// and in `overall.0` of all `overall.1`. None if it is not more frequent.
pub fn log_likelihood_gain((count, part_size): (usize, usize), overall: (usize, usize)) -> Option<f64> {
    let all = to_float(overall.1.max(part_size));
    let (count, part_size) = (to_float(count.min(part_size)), to_float(part_size));
    let total_count = to_float(overall.0).max(count).min(all);
    if part_size <= 0.0 || count / part_size <= total_count / all {
        return None;
    }
    let cells = [
        (count, part_size, total_count),
        (part_size - count, part_size, all - total_count),
        (total_count - count, all - part_size, total_count),
        ((all - part_size) - (total_count - count), all - part_size, all - total_count),
    ];
    let sum: f64 = cells
        .into_iter()
        .filter(|(observed, ..)| *observed > 0.0)
        .map(|(observed, row, column)| observed * (observed * all / (row * column)).ln())
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
