//! CSV (RFC 4180).

/// A line, with its end.
pub fn csv_line(cells: impl Iterator<Item = impl AsRef<str>>) -> String {
    let cells: Vec<String> = cells.map(|cell| csv_cell(cell.as_ref())).collect();
    format!("{}\r\n", cells.join(","))
}

/// Escapes a cell, also so that no spreadsheet runs it as a formula.
fn csv_cell(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let plain = if formula { format!("'{cell}") } else { cell.to_owned() };
    if plain.contains(['"', ',', ';', '\n', '\r', '\t']) || formula {
        return format!("\"{}\"", plain.replace('"', "\"\""));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{csv_cell, csv_line};

    #[test]
    fn no_cell_is_a_formula() {
        for (cell, written) in [
            ("Spring", "Spring"),
            ("12.50", "12.50"),
            ("=1+1", "\"'=1+1\""),
            ("+351", "\"'+351\""),
            ("-2", "\"'-2\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
        ] {
            assert_eq!(csv_cell(cell), written);
        }
        assert_eq!(csv_line(["a", "b,c"].iter()), "a,\"b,c\"\r\n");
    }
}
