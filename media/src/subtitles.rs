//! Subtitles in the format that browsers read.

const SIGNATURE: &str = "WEBVTT";
const TIMING_ARROW: &str = "-->";

/// `WebVTT` from `SubRip`; `WebVTT` stays as it is. Of a malformed file, browsers skip the cues that they cannot read.
pub fn convert_to_web_vtt(file: &[u8]) -> String {
    let text = String::from_utf8_lossy(file);
    let text = text.trim_start_matches('\u{feff}');
    if text.starts_with(SIGNATURE) {
        return text.to_owned();
    }
    let mut converted = format!("{SIGNATURE}\n\n");
    for line in text.lines() {
        let is_timing = line.trim_start().starts_with(|first: char| first.is_ascii_digit());
        match line.contains(TIMING_ARROW) {
            true if is_timing => converted.push_str(&line.replace(',', ".")),
            true => converted.push_str(&line.replace(TIMING_ARROW, "--&gt;")),
            false => converted.push_str(line),
        }
        converted.push('\n');
    }
    converted
}

#[cfg(test)]
mod tests {
    use super::convert_to_web_vtt;

    #[test]
    fn subtitles_are_read_as_web_vtt() {
        let cases: [(&[u8], &str); 5] = [
            (
                "\u{feff}1\r\n00:00:01,000 --> 00:00:02,500\r\nSalt, pepper\r\nin --> out\r\n".as_bytes(),
                "WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.500\nSalt, pepper\nin --&gt; out\n",
            ),
            ("\u{feff}WEBVTT\n\n00:01.000 --> 00:02.000\n1, 2".as_bytes(), "WEBVTT\n\n00:01.000 --> 00:02.000\n1, 2"),
            (b"1\n00:00:01 --> never\nHi\xff", "WEBVTT\n\n1\n00:00:01 --> never\nHi\u{fffd}\n"),
            (b"\0 --> ", "WEBVTT\n\n\0 --&gt; \n"),
            (b"", "WEBVTT\n\n"),
        ];
        for (file, converted) in cases {
            assert_eq!(convert_to_web_vtt(file), converted);
        }
    }
}
