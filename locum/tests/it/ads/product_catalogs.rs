//! Product catalogs, their products and sets, and who may see them.

use serde_json::{Value, json};

use super::{is, send};
use crate::harness::{TestRequest, TestResponse, TestServer, TestUser, shared_server, wait_until};

/// A product without what is optional.
pub(super) fn product(id: &str) -> Value {
    json!({
        "id": id,
        "title": format!("Product {id}"),
        "description": "Made of wood",
        "availability": "in stock",
        "condition": "new",
        "price": "60.00 USD",
        "link": "https://shop.example/1",
        "image_link": "https://shop.example/1.png",
        "brand": "Woods",
    })
}

pub(super) fn with(body: &Value, more: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Someone with a catalog.
pub(super) struct Merchant<'s> {
    pub(super) user: TestUser<'s>,
    pub(super) catalog: String,
}

impl<'s> Merchant<'s> {
    pub(super) fn on(server: &'s TestServer) -> Self {
        let user = server.new_user("merchant");
        let created = send(&user, "POST", "/12/product_catalogs", &[("name", "Shop")]).assert_status(200);
        Self { catalog: created["data"]["id"].as_str().unwrap().to_owned(), user }
    }

    fn path(&self, path: &str) -> String {
        format!("/12/product_catalogs/{}{path}", self.catalog)
    }

    pub(super) fn send(&self, method: &'static str, path: &str, params: &[(&str, &str)]) -> TestResponse {
        send(&self.user, method, &self.path(path), params)
    }

    pub(super) fn send_json(&self, method: &'static str, path: &str, body: &Value) -> TestResponse {
        self.user.send_signed(TestRequest::new(method, self.path(path)).json(body))
    }

    /// What became of each product.
    #[track_caller]
    pub(super) fn put(&self, products: &[Value]) -> Vec<Value> {
        let sent = self.send_json("PUT", "/products", &json!({ "products": products })).assert_status(200);
        sent["data"]["products_response"].as_array().unwrap().clone()
    }

    #[track_caller]
    fn keys(&self, products: &[Value]) -> Vec<String> {
        self.put(products).iter().map(|item| item["product_key"].as_str().unwrap_or_default().to_owned()).collect()
    }

    #[track_caller]
    pub(super) fn products(&self, params: &[(&str, &str)]) -> Value {
        self.send("GET", "/products", params).assert_status(200)
    }

    #[track_caller]
    fn make_set(&self, body: &Value) -> Value {
        self.send_json("POST", "/product_sets", body).assert_status(200)["data"].clone()
    }

    #[track_caller]
    fn set(&self, id: &Value) -> Value {
        let path = format!("/product_sets/{}", id.as_str().unwrap());
        self.send("GET", &path, &[]).assert_status(200)["data"].clone()
    }
}

fn column<'v>(items: &'v Value, name: &str) -> Vec<&'v str> {
    items.as_array().unwrap().iter().map(|item| item[name].as_str().unwrap_or_default()).collect()
}

#[test]
fn catalog_is_created_once_renamed_and_deleted() {
    let user = shared_server().new_user("merchant");
    let path = "/12/product_catalogs";
    let empty = send(&user, "GET", path, &[]).assert_status(200);
    assert_eq!(empty, json!({ "request": { "params": {} }, "next_cursor": null, "data": [] }));
    is(&send(&user, "POST", path, &[]), 400, "MISSING_PARAMETER", "name");
    let own = [("name", "Shop"), ("user_id", user.id.as_str())];
    let created = send(&user, "POST", path, &own).assert_status(200)["data"].clone();
    let id = created["id"].as_str().unwrap();
    assert_eq!(created, json!({ "id": id, "name": "Shop" }));
    assert!(id.parse::<i64>().is_ok(), "{created}");
    is(&send(&user, "POST", path, &[("name", "Second")]), 400, "INVALID", "user_id");
    let one = format!("{path}/{id}");
    let renamed = send(&user, "PUT", &one, &[("name", "Store")]).assert_status(200);
    let expected =
        json!({ "request": { "params": { "id": id, "name": "Store" } }, "data": { "id": id, "name": "Store" } });
    assert_eq!(renamed, expected);
    is(&send(&user, "PUT", &one, &[]), 400, "MISSING_PARAMETER", "name");
    is(&send(&user, "PUT", &one, &[("name", &"n".repeat(256))]), 400, "INVALID_PARAMETER", "name");
    assert_eq!(send(&user, "GET", "/11/product_catalogs", &[]).assert_status(200)["data"][0]["name"], "Store");
    // The sandbox has records of its own.
    let sandbox = "/ads-sandbox/12/product_catalogs";
    assert_eq!(send(&user, "GET", sandbox, &[]).assert_status(200)["data"], json!([]));
    is(&send(&user, "DELETE", &format!("{sandbox}/{id}"), &[]), 404, "NOT_FOUND", "id");
    assert_eq!(send(&user, "DELETE", &one, &[]).assert_status(200)["data"]["name"], "Store");
    is(&send(&user, "DELETE", &one, &[]), 404, "NOT_FOUND", "id");
    assert_eq!(send(&user, "GET", path, &[]).assert_status(200)["data"], json!([]));
    send(&user, "POST", path, &[("name", "Again")]).assert_status(200);
}

#[test]
fn catalog_of_another_user_is_not_found() {
    let (merchant, stranger) = (Merchant::on(shared_server()), shared_server().new_user("stranger"));
    merchant.put(&[product("1")]);
    let own = Merchant::on(shared_server());
    let key = own.keys(&[product("1")]).remove(0);
    let set = own.make_set(&json!({ "name": "Own", "type": "MANUAL", "product_keys": [key] }));
    let set = set["id"].as_str().unwrap();
    let at = format!("/12/product_catalogs/{}", merchant.catalog);
    let (one_set, one_feed) = (format!("/product_sets/{set}"), "/scheduled_feeds/1");
    for (method, path, params, parameter) in [
        ("PUT", "", &[("name", "Theirs")][..], "id"),
        ("DELETE", "", &[], "id"),
        ("GET", "/products", &[], "product_catalog_id"),
        ("GET", &one_set, &[], "product_catalog_id"),
        ("DELETE", &one_set, &[], "product_catalog_id"),
        ("GET", "/scheduled_feeds", &[], "product_catalog_id"),
        ("POST", "/scheduled_feeds", super::product_feeds::DAILY, "product_catalog_id"),
        ("PUT", one_feed, &[("start_time", "00:00")], "product_catalog_id"),
        ("DELETE", one_feed, &[], "product_catalog_id"),
    ] {
        is(&send(&stranger, method, &format!("{at}{path}"), params), 404, "NOT_FOUND", parameter);
    }
    for (method, path, body) in [
        ("PUT", "/products", json!({ "products": [product("1")] })),
        ("DELETE", "/products", json!({ "product_keys": ["1"] })),
        ("POST", "/product_sets", json!({ "name": "S", "type": "MANUAL", "product_keys": ["1"] })),
        ("PUT", &one_set, json!({ "name": "Theirs" })),
    ] {
        let request = TestRequest::new(method, format!("{at}{path}")).json(&body);
        is(&stranger.send_signed(request), 404, "NOT_FOUND", "product_catalog_id");
    }
    for method in ["GET", "POST"] {
        let params = [("name", "Theirs"), ("user_id", merchant.user.id.as_str())];
        is(&send(&stranger, method, "/12/product_catalogs", &params), 404, "NOT_FOUND", "user_id");
    }
    // Nor is a set of another catalog.
    let foreign = format!("/product_sets/{set}");
    is(&merchant.send("GET", &foreign, &[]), 404, "NOT_FOUND", "id");
    is(&merchant.send("DELETE", &foreign, &[]), 404, "NOT_FOUND", "id");
    let body = json!({ "name": "Theirs", "type": "MANUAL", "product_keys": [key] });
    is(&merchant.send_json("POST", "/product_sets", &body), 404, "NOT_FOUND", "product_keys");
    let path = "/12/product_catalogs/a-b/products";
    is(&send(&stranger, "GET", path, &[]), 404, "INVALID_ID_ILLEGAL_CHARACTERS", "product_catalog_id");
}

#[test]
fn products_are_added_changed_listed_and_deleted_by_their_ids() {
    let merchant = Merchant::on(shared_server());
    let full = with(
        &product("a-1"),
        &json!({
            "availability": "in_stock",
            "inventory": 5,
            "gtin": 1_432_563_728,
            "additional_image_link": "https://shop.example/2.png,https://shop.example/3.png",
            "sale_price": "50.00 USD",
            "sale_price_effective_date": "2026-10-04T17:20:31.000Z/2026-10-10T04:00:00.000Z",
            "age_group": "all ages",
        }),
    );
    let created = merchant.put(&[full.clone(), product("b")]);
    let key = created[0]["product_key"].as_str().unwrap();
    let expected = json!({ "warnings": [], "errors": [], "product_key": key, "id": "a-1", "status": "CREATE_SUCCESS" });
    assert_eq!(created[0], expected);
    let listed = merchant.products(&[("count", "1")]);
    let shown = listed["data"][0].clone();
    for (name, value) in [
        ("id", json!("a-1")),
        ("product_key", json!(key)),
        ("availability", json!("in stock")),
        ("inventory", json!(5)),
        ("gtin", json!("1432563728")),
        ("price", json!("60.00 USD")),
        ("additional_image_link", full["additional_image_link"].clone()),
        ("mpn", Value::Null),
        ("item_group_key", Value::Null),
        ("custom_label_4", Value::Null),
    ] {
        assert_eq!(shown[name], value, "{name}: {shown}");
    }
    let next = [("count", "1"), ("cursor", listed["next_cursor"].as_str().unwrap())];
    let second = merchant.products(&next);
    assert_eq!((column(&second["data"], "id"), &second["next_cursor"]), (vec!["b"], &Value::Null));
    is(&merchant.send("GET", "/products", &[("count", "101")]), 400, "INVALID_PARAMETER", "count");
    is(&merchant.send("GET", "/products", &[("cursor", "x")]), 400, "INVALID_PARAMETER", "cursor");

    let status = |products: &[Value]| merchant.put(products)[0]["status"].clone();
    assert_eq!(status(std::slice::from_ref(&full)), "NO_CHANGE");
    // What is not sent stays, and what is empty is unset.
    let fewer = with(&product("a-1"), &json!({ "sale_price": "", "inventory": null, "title": "Chair" }));
    assert_eq!(status(&[fewer]), "UPDATE_SUCCESS");
    let shown = merchant.products(&[])["data"][0].clone();
    assert_eq!((&shown["sale_price"], &shown["inventory"]), (&Value::Null, &Value::Null));
    assert_eq!((&shown["title"], &shown["gtin"]), (&json!("Chair"), &json!("1432563728")));

    let gone = merchant.send_json("DELETE", "/products", &json!({ "product_keys": [key, "1"] })).assert_status(200);
    let expected = json!([
        { "product_key": key, "failed_product_key": null, "message": null },
        { "product_key": null, "failed_product_key": "1", "message": "The product 1 was not found" },
    ]);
    assert_eq!(gone["data"]["delete_products"], expected);
    assert_eq!(gone["request"]["params"]["product_keys"], json!([key, "1"]));
    assert_eq!(column(&merchant.products(&[])["data"], "id"), ["b"]);
}

#[test]
fn product_that_is_not_valid_is_refused_alone_with_its_reasons() {
    let merchant = Merchant::on(shared_server());
    let good = product("good");
    let cases = [
        (json!({ "title": "t".repeat(151) }), "title"),
        (json!({ "description": null }), "description"),
        (json!({ "availability": "soon" }), "availability"),
        (json!({ "price": "60,00 USD" }), "a price such as 20.00 USD"),
        (json!({ "link": "http://shop.example" }), "link must begin with https://"),
        (json!({ "brand": null }), "One of brand, gtin and mpn"),
        (json!({ "inventory": 0 }), "inventory must be at least 1"),
        (json!({ "inventory": -1 }), "inventory"),
        (json!({ "sale_price": "60.00 USD" }), "sale_price must be lower"),
        (json!({ "sale_price": "10.00 EUR" }), "in the same currency"),
        (json!({ "sale_price_effective_date": "2026-10-10T04:00Z/2026-10-04T17:20Z" }), "sale_price_effective_date"),
        (json!({ "additional_image_link": "https://a.example,x" }), "additional_image_link"),
        (json!({ "gender": "x" }), "gender"),
    ];
    let bad = cases.iter().zip(0..).map(|((change, _), place)| with(&product(&format!("bad{place}")), change));
    let sent: Vec<Value> = std::iter::once(good.clone()).chain(bad).collect();
    let results = merchant.put(&sent);
    assert_eq!(results[0]["status"], "CREATE_SUCCESS");
    for ((_, reason), result) in cases.iter().zip(&results[1..]) {
        assert_eq!((&result["status"], &result["product_key"]), (&json!("ERROR"), &Value::Null), "{result}");
        assert!(result["errors"].to_string().contains(reason), "{reason}: {result}");
    }
    // Of several with one id, none is taken.
    let twice = merchant.put(&[with(&good, &json!({ "title": "One" })), with(&good, &json!({ "title": "Two" }))]);
    assert!(twice.iter().all(|result| result["status"] == "ERROR"), "{twice:?}");
    let nameless = merchant.put(&[json!({}), json!("x")]);
    assert!(nameless.iter().all(|result| result["status"] == "ERROR"), "{nameless:?}");
    let products = merchant.products(&[]);
    assert_eq!(column(&products["data"], "title"), ["Product good"]);

    let many: Vec<Value> = (0..26).map(|number| product(&number.to_string())).collect();
    for products in [json!(many), json!([]), json!("x")] {
        let body = json!({ "products": products });
        is(&merchant.send_json("PUT", "/products", &body), 400, "INVALID_PARAMETER", "products");
    }
    is(&merchant.send_json("PUT", "/products", &json!({})), 400, "MISSING_PARAMETER", "products");
    is(&merchant.send("PUT", "/products", &[]), 400, "INVALID_PARAMETER", "");
    is(&merchant.send_json("DELETE", "/products", &json!({})), 400, "MISSING_PARAMETER", "product_keys");
}

#[test]
fn group_of_variants_is_listed_as_its_first_product() {
    let merchant = Merchant::on(shared_server());
    let variant = |id: &str, group: &str| with(&product(id), &json!({ "item_group_id": group, "color": id }));
    let keys = merchant.keys(&[variant("red", "chair"), product("lamp"), variant("blue", "chair"), variant("x", "y")]);
    let listed = merchant.products(&[]);
    assert_eq!(column(&listed["data"], "id"), ["red", "lamp", "x"]);
    let group = listed["data"][0]["item_group_key"].as_str().unwrap();
    assert_eq!(column(&merchant.products(&[("item_group_key", group)])["data"], "id"), ["red", "blue"]);
    merchant.send_json("DELETE", "/products", &json!({ "product_keys": [keys[0]] })).assert_status(200);
    let listed = merchant.products(&[]);
    assert_eq!(column(&listed["data"], "id"), ["lamp", "blue", "x"]);
    assert_eq!(listed["data"][1]["item_group_key"], group);
}

#[test]
fn filtered_set_contains_what_its_filters_match_at_the_moment() {
    let merchant = Merchant::on(shared_server());
    let cheap = json!({ "price": "9.99 USD", "custom_label_0": "Summer sale", "inventory": 3 });
    merchant.put(&[
        product("dear"),
        with(&product("cheap"), &cheap),
        with(&product("euro"), &json!({ "price": "5 EUR", "product_type": "Home > Lamps", "inventory": 20 })),
    ]);
    let filter = |attribute: &str, operator: &str, value: &str| json!({ "attribute": attribute, "operator": operator, "value": value });
    let set = |filters: &[Value]| merchant.make_set(&json!({ "name": "F", "type": "FILTERED", "filters": filters }));
    for (filters, expected) in [
        (vec![filter("price", "GREATER_THAN", "9.99 USD")], vec!["dear"]),
        (vec![filter("price", "LESS_THAN", "60 USD")], vec!["cheap"]),
        (vec![filter("price", "EQUAL_TO", "60 usd")], vec!["dear"]),
        (vec![filter("sale_price", "GREATER_THAN", "0 USD")], vec![]),
        (vec![filter("inventory", "GREATER_THAN", "2")], vec!["cheap", "euro"]),
        (vec![filter("custom_label_0", "MATCH", "summer SALE")], vec!["cheap"]),
        (vec![filter("custom_label_0", "CONTAINS", "sale")], vec!["cheap"]),
        (vec![filter("custom_label_0", "NOT_CONTAINS", "sale")], vec!["dear", "euro"]),
        (vec![filter("inventory", "LESS_THAN", "99"), filter("product_type", "CONTAINS", "lamps")], vec!["euro"]),
    ] {
        let made = set(&filters);
        assert_eq!((&made["product_ids"], &made["processing_status"]), (&Value::Null, &json!("PROCESSING")));
        let made = merchant.set(&made["id"]);
        assert_eq!(made["product_ids"], json!(expected), "{filters:?}");
        assert_eq!(made["product_count"], expected.len());
        assert_eq!((&made["filters"], &made["processing_status"]), (&json!(filters), &json!("DONE")));
    }
    let made = set(&[filter("price", "LESS_THAN", "60 USD")]);
    merchant.put(&[with(&product("new"), &json!({ "price": "1 USD" })), with(&product("cheap"), &json!({}))]);
    assert_eq!(merchant.set(&made["id"])["product_ids"], json!(["new"]));
    let path = format!("/product_sets/{}", made["id"].as_str().unwrap());
    is(&merchant.send_json("PUT", &path, &json!({ "name": "G" })), 400, "INVALID", "type");

    let refused = |filters: Value| {
        let body = json!({ "name": "F", "type": "FILTERED", "filters": filters });
        is(&merchant.send_json("POST", "/product_sets", &body), 400, "INVALID_PARAMETER", "filters");
    };
    refused(json!([]));
    refused(json!(vec![filter("price", "LESS_THAN", "1 USD"); 31]));
    refused(json!([filter("title", "MATCH", "x")]));
    refused(json!([filter("price", "CONTAINS", "1 USD")]));
    refused(json!([filter("price", "LESS_THAN", "1")]));
    refused(json!([filter("product_type", "LESS_THAN", "x")]));
    refused(json!([filter("inventory", "EQUAL_TO", "x")]));
    refused(json!(["x"]));
}

#[test]
fn manual_set_contains_its_products_as_long_as_they_exist() {
    let merchant = Merchant::on(shared_server());
    let keys = merchant.keys(&[product("1"), product("2"), product("3")]);
    let body = json!({ "name": "M", "type": "MANUAL", "product_keys": [keys[1], keys[0]] });
    let created = merchant.send_json("POST", "/product_sets", &body).assert_status(200);
    assert_eq!(created["request"]["params"], with(&body, &json!({ "product_catalog_id": merchant.catalog })));
    let id = created["data"]["id"].clone();
    let expected = json!({
        "id": id,
        "name": "M",
        "description": null,
        "type": "MANUAL",
        "filters": [],
        "product_ids": ["1", "2"],
        "product_count": 2,
        "processing_status": "DONE",
    });
    assert_eq!(created["data"], expected);
    let path = format!("/product_sets/{}", id.as_str().unwrap());
    let change = json!({ "description": "Two", "product_keys": [keys[1], keys[2]] });
    let changed = merchant.send_json("PUT", &path, &change).assert_status(200)["data"].clone();
    assert_eq!((&changed["name"], &changed["description"]), (&json!("M"), &json!("Two")));
    assert_eq!(changed["product_ids"], json!(["2", "3"]));
    merchant.send_json("DELETE", "/products", &json!({ "product_keys": [keys[1]] })).assert_status(200);
    assert_eq!(merchant.set(&id)["product_ids"], json!(["3"]));
    let many_keys = ["7"].repeat(51);
    for (body, code, at) in [
        (json!({ "type": "MANUAL", "product_keys": [keys[0]] }), "MISSING_PARAMETER", "name"),
        (json!({ "name": "M", "product_keys": [keys[0]] }), "MISSING_PARAMETER", "type"),
        (json!({ "name": "M", "type": "MANUAL" }), "MISSING_PARAMETER", "product_keys"),
        (json!({ "name": "M", "type": "FILTERED" }), "MISSING_PARAMETER", "filters"),
        (json!({ "name": "M", "type": "FILTERED", "product_keys": [keys[0]] }), "EXCLUSIVE_PARAMETERS", "product_keys"),
        (json!({ "name": "M", "type": "MANUAL", "product_keys": many_keys }), "INVALID_PARAMETER", "product_keys"),
        (json!({ "name": "M", "type": "OTHER" }), "INVALID_PARAMETER", "type"),
    ] {
        is(&merchant.send_json("POST", "/product_sets", &body), 400, code, at);
    }
    is(&merchant.send_json("PUT", &path, &json!({ "product_keys": [] })), 400, "MISSING_PARAMETER", "product_keys");
    assert_eq!(merchant.send("DELETE", &path, &[]).assert_status(200)["data"]["id"], id);
    is(&merchant.send("GET", &path, &[]), 404, "NOT_FOUND", "id");
}

#[test]
fn deleted_catalog_is_deleted_with_its_products_sets_and_feed() {
    let server = TestServer::start(&[]);
    let (merchant, other) = (Merchant::on(&server), Merchant::on(&server));
    for merchant in [&merchant, &other] {
        let keys = merchant.keys(&[product("1"), product("2")]);
        merchant.make_set(&json!({ "name": "M", "type": "MANUAL", "product_keys": keys }));
        merchant.send("POST", "/scheduled_feeds", super::product_feeds::DAILY).assert_status(200);
    }
    let count = |table: &str| {
        let file = server.data_dir().join("locum.db");
        let sql = format!("SELECT COUNT(*) FROM {table}");
        if !file.exists() {
            return server.database().query_number(&sql);
        }
        rusqlite::Connection::open(file).unwrap().query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    let tables = ["product_catalog", "catalog_product", "product_set", "scheduled_feed"];
    assert_eq!(tables.map(count), [2, 4, 2, 2]);
    merchant.send("DELETE", "", &[]).assert_status(200);
    is(&merchant.send("GET", "/products", &[]), 404, "NOT_FOUND", "product_catalog_id");
    server.run_cli(&["clock", "advance", "2m"]).assert_success();
    wait_until("what the catalog contained is deleted", || tables.map(count) == [1, 2, 1, 1]);
    assert_eq!(column(&other.products(&[])["data"], "id"), ["1", "2"]);
}
