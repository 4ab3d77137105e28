//! Writes every page in every state to a folder, for review in a browser:
//! `cargo run -p pages --example gallery -- DIR`.

#[path = "../tests/it/samples/mod.rs"]
mod samples;

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or("give a folder to write to")?;
    let (style, mark, script) = ("locum.css", "locum.svg", "locum.js");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(style), pages::STYLE.text)?;
    fs::write(folder.join(mark), pages::MARK.text)?;
    fs::write(folder.join(script), pages::STREAM_SCRIPT.text)?;
    let mut index = String::from("<!doctype html><title>Gallery</title><ul>");
    for sample in samples::all_samples()? {
        let html = sample
            .html
            .replace(pages::STYLE.path(), style)
            .replace(pages::MARK.path(), mark)
            .replace(pages::STREAM_SCRIPT.path(), script);
        let name = format!("{}.html", sample.name);
        fs::write(folder.join(&name), html)?;
        write!(index, "<li><a href=\"{name}\">{name}</a>")?;
    }
    fs::write(folder.join("index.html"), index)?;
    Ok(())
}
