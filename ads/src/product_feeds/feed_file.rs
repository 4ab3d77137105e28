//! Files of products: CSV and TSV with a line of names, and RSS 2.0 with elements such as `g:price`.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};
use serde_json::{Map, Value};

use crate::resources::product_catalogs::products::{MAX_PRODUCTS, is_field};

type Row = Map<String, Value>;

/// Longer values are cut; no field is as long.
const MAX_VALUE_BYTES: usize = 25_000;
/// Columns, or elements of an item; others are ignored.
const MAX_COLUMNS: usize = 200;

/// The products in the order of the file. The error is a sentence for the merchant.
pub(super) fn parse(bytes: &[u8], format: &str) -> Result<Vec<Row>, String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let rows = match format {
        "XML" => parse_xml(text)?,
        "TSV" => parse_table(text, b'\t')?,
        _ => parse_table(text, b',')?,
    };
    if rows.is_empty() { Err("The file has no products".to_owned()) } else { Ok(rows) }
}

fn require_place(rows: &[Row]) -> Result<(), String> {
    if rows.len() < MAX_PRODUCTS {
        return Ok(());
    }
    Err(format!("The file has more than {MAX_PRODUCTS} products"))
}

/// `g:Sale Price` is `sale_price`.
fn field_name(name: &str) -> String {
    let name = name.trim();
    let name = name.rsplit_once(':').map_or(name, |(_, local)| local);
    name.to_ascii_lowercase().replace(' ', "_")
}

/// Empty for what is no field of a product: each row repeats the names.
fn known_field_name(name: &str) -> String {
    let name = field_name(name);
    if is_field(&name) { name } else { String::new() }
}

fn clip(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_VALUE_BYTES)).unwrap_or_default()
}

fn parse_table(text: &str, delimiter: u8) -> Result<Vec<Row>, String> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes());
    let names: Vec<String> = match reader.headers() {
        Ok(names) => names.iter().take(MAX_COLUMNS).map(known_field_name).collect(),
        Err(error) => return Err(format!("The file cannot be read: {error}")),
    };
    if !names.iter().any(|name| name == "id") {
        return Err("The first line has no column id".to_owned());
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| format!("The file cannot be read: {error}"))?;
        require_place(&rows)?;
        let cells = names.iter().zip(&record).filter(|(name, _)| !name.is_empty());
        rows.push(cells.map(|(name, cell)| (name.clone(), clip(cell.trim()).into())).collect());
    }
    Ok(rows)
}

/// What is read of an XML document.
#[derive(Debug, Default)]
struct XmlPosition {
    /// Open elements in the current item, itself included; 0 outside of items.
    depth: usize,
    row: Row,
    name: String,
    text: String,
}

fn parse_xml(text: &str) -> Result<Vec<Row>, String> {
    let mut reader = Reader::from_str(text);
    let (mut rows, mut position) = (Vec::new(), XmlPosition::default());
    loop {
        let event = reader.read_event().map_err(|error| format!("The file is not well-formed XML: {error}"))?;
        match event {
            Event::Start(element) => position.open(&String::from_utf8_lossy(element.local_name().as_ref())),
            Event::End(_) => {
                if let Some(row) = position.close() {
                    require_place(&rows)?;
                    rows.push(row);
                }
            }
            Event::Text(part) => position.append(&String::from_utf8_lossy(&part)),
            Event::CData(part) => position.append(&String::from_utf8_lossy(&part)),
            Event::GeneralRef(reference) => position.append(&resolve_reference(&reference)),
            Event::Eof if position.depth > 0 => return Err("The file ends within a product".to_owned()),
            Event::Eof => return Ok(rows),
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

/// Only the entities of XML itself, and characters by number; a document's own are left out.
fn resolve_reference(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(letter)) = reference.resolve_char_ref() {
        return letter.to_string();
    }
    let name = String::from_utf8_lossy(reference);
    resolve_predefined_entity(&name).unwrap_or_default().to_owned()
}

impl XmlPosition {
    fn open(&mut self, name: &str) {
        if self.depth == 0 {
            self.depth = usize::from(name.eq_ignore_ascii_case("item"));
            return;
        }
        self.depth += 1;
        if self.depth == 2 {
            self.name = field_name(name);
            self.text.clear();
        }
    }

    fn append(&mut self, part: &str) {
        if self.depth >= 2 && self.text.len() < MAX_VALUE_BYTES {
            self.text.push_str(clip(part));
        }
    }

    /// The product whose element ended.
    fn close(&mut self) -> Option<Row> {
        if self.depth == 0 {
            return None;
        }
        self.depth -= 1;
        match self.depth {
            0 => Some(std::mem::take(&mut self.row)),
            1 => {
                self.insert_value();
                None
            }
            _ => None,
        }
    }

    /// Images that have an element each are joined by commas; of other elements the first one counts.
    fn insert_value(&mut self) {
        let value = self.text.trim();
        if let Some(Value::String(known)) = self.row.get_mut(&self.name) {
            if self.name == "additional_image_link" && known.len() < MAX_VALUE_BYTES {
                known.push(',');
                known.push_str(value);
            }
        } else if self.row.len() < MAX_COLUMNS {
            self.row.insert(std::mem::take(&mut self.name), value.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MAX_PRODUCTS, parse};

    #[test]
    fn tables_are_read_with_quotes_and_missing_cells() {
        let csv = "\u{feff}id,Title,g:price,link\n1,\"Shoes, \"\"red\"\"\",20.00 USD,https://a.example\n2,Hat\n";
        let expected = json!([
            { "id": "1", "title": "Shoes, \"red\"", "price": "20.00 USD", "link": "https://a.example" },
            { "id": "2", "title": "Hat" },
        ]);
        assert_eq!(json!(parse(csv.as_bytes(), "CSV").unwrap()), expected);
        let tsv = "id\tsale price\r\n1\t5.00 EUR\r\n";
        assert_eq!(json!(parse(tsv.as_bytes(), "TSV").unwrap()), json!([{ "id": "1", "sale_price": "5.00 EUR" }]));
    }

    #[test]
    fn rss_is_read_with_its_namespace() {
        let xml = "<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY own 'x'>]>\
            <rss version='2.0' xmlns:g='http://base.google.com/ns/1.0'><channel><title>The shop</title>\
            <item><g:id>1</g:id><title>Nuts &amp; bolts &#233;&own;</title>\
            <description><![CDATA[<b>Plain</b>]]></description><g:shipping><g:price>1 USD</g:price></g:shipping>\
            <g:title>Other</g:title>\
            <g:additional_image_link>https://a.example/1</g:additional_image_link>\
            <g:additional_image_link>https://a.example/2</g:additional_image_link><g:mpn/></item>\
            <item><g:id>2</g:id></item></channel></rss>";
        let expected = json!([
            {
                "id": "1",
                "title": "Nuts & bolts é",
                "description": "<b>Plain</b>",
                "shipping": "1 USD",
                "additional_image_link": "https://a.example/1,https://a.example/2",
            },
            { "id": "2" },
        ]);
        assert_eq!(json!(parse(xml.as_bytes(), "XML").unwrap()), expected);
    }

    #[test]
    fn column_that_no_product_has_is_left_out() {
        let csv = format!("id,{},brand\n1,x,Woods\n", "long".repeat(10_000));
        assert_eq!(json!(parse(csv.as_bytes(), "CSV").unwrap()), json!([{ "id": "1", "brand": "Woods" }]));
    }

    #[test]
    fn file_that_is_no_feed_is_refused_with_the_reason() {
        let too_many = format!("id\n{}", "1\n".repeat(MAX_PRODUCTS + 1));
        for (text, format, reason) in [
            ("", "CSV", "no column id"),
            ("<html>", "CSV", "no column id"),
            ("id,title\n", "CSV", "no products"),
            (too_many.as_str(), "TSV", "more than 20000 products"),
            ("<rss></item>", "XML", "not well-formed"),
            ("<rss><item><id>1</id>", "XML", "ends within a product"),
            ("id,title", "XML", "no products"),
        ] {
            let problem = parse(text.as_bytes(), format).unwrap_err();
            assert!(problem.contains(reason), "{text:.20}: {problem}");
        }
    }
}
