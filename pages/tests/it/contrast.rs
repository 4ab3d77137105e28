//! The colours of the stylesheet against each other, light and dark (WCAG 2.2, level AA).

use pages::STYLE;
use std::collections::HashMap;

const TEXT: &[(&str, &str)] = &[
    ("ink", "ground"),
    ("ink", "surface"),
    ("ink", "sunken"),
    ("ink", "wash"),
    ("soft", "ground"),
    ("soft", "surface"),
    ("soft", "sunken"),
    ("accent", "ground"),
    ("accent", "surface"),
    ("accent", "sunken"),
    ("accent-strong", "wash"),
    ("accent-ink", "accent"),
    ("accent-ink", "accent-strong"),
    ("bad", "surface"),
    ("bad", "bad-wash"),
    ("bad-ink", "bad"),
    ("bad-ink", "bad-strong"),
    ("warn", "warn-wash"),
    ("mark-ink", "mark"),
];

const SHAPES: &[(&str, &str)] =
    &[("field", "surface"), ("field", "ground"), ("accent", "surface"), ("bad", "surface"), ("amber", "surface")];

fn colours(block: &str) -> HashMap<&str, [u8; 3]> {
    block
        .lines()
        .filter_map(|line| {
            let (name, value) = line.trim().strip_prefix("--")?.split_once(": #")?;
            let number = u32::from_str_radix(value.strip_suffix(';')?, 16).ok()?;
            let [_, red, green, blue] = number.to_be_bytes();
            Some((name, [red, green, blue]))
        })
        .collect()
}

fn luminance(colour: [u8; 3]) -> f64 {
    let [red, green, blue] = colour.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn words_and_shapes_stand_out_in_light_and_dark() {
    let (light, dark) = STYLE.text.split_once("prefers-color-scheme: dark").unwrap();
    for (mode, block) in [("light", light), ("dark", dark)] {
        let colours = colours(block);
        for (pairs, least) in [(TEXT, 4.5), (SHAPES, 3.0)] {
            for (front, back) in pairs {
                let found = contrast(colours[front], colours[back]);
                assert!(found >= least, "{mode}: {front} on {back} is {found:.2}");
            }
        }
    }
}
