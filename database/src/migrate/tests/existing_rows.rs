//! What migrations make of rows that were there before.

use postgres::{Client, NoTls};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::super::script::all_scripts;
use super::versions::migrate;
use crate::test_stores::{locations, options};
use crate::{DatabaseLocation, Store, Tx};

fn execute(location: &DatabaseLocation, sql: &str) {
    match location {
        DatabaseLocation::File(path) => {
            rusqlite::Connection::open(path).unwrap().execute_batch(&sql.replace("BYTES", "X'00'")).unwrap();
        }
        DatabaseLocation::Server(url) => {
            let mut client = Client::connect(url, NoTls).unwrap();
            client.batch_execute(&sql.replace("BYTES", "'\\x00'")).unwrap();
        }
    }
}

#[test]
fn grants_of_apps_that_request_addresses_become_consents_and_erasures_go_on() {
    let (folder, runtime) = (TempDir::new().unwrap(), Runtime::new().unwrap());
    let position = all_scripts().iter().position(|script| script.name == "consents_and_erasures").unwrap();
    for location in locations(&folder) {
        migrate(&location, &all_scripts()[..position]).unwrap();
        for (app, requests) in [(1, 1), (2, 0)] {
            let columns = "id, owner_id, name, description, website_url, created_at, api_key, api_secret, client_id, kind, \
                           permission, request_email, access_level";
            execute(
                &location,
                &format!(
                    "INSERT INTO app ({columns}) VALUES ({app}, 9, 'a', '', '', 0, 'k{app}', BYTES, 'c{app}', 'web', 'read', \
                 {requests}, 'self-serve')"
                ),
            );
            for (user, permission) in [(5, "read"), (6, "")] {
                execute(
                    &location,
                    &format!(
                        "INSERT INTO app_grant (user_id, app_id, permission, created_at, approved_at, used_at) \
                     VALUES ({user}, {app}, '{permission}', 0, 0, 0)"
                    ),
                );
            }
        }
        let columns = "user_id, requested_at, by_owner, erase_at, started_at, step, finished_at";
        execute(&location, &format!("INSERT INTO account_deletion ({columns}) VALUES (7, 0, 1, 0, 0, 14, 0)"));

        migrate(&location, all_scripts()).unwrap();
        let store = runtime.block_on(Store::open(options(location, &folder))).unwrap();
        let read = |tx: &mut Tx<'_>| {
            let mut consents = Vec::new();
            let sql = "SELECT email FROM app_grant WHERE user_id = $1 AND app_id = $2";
            for (user, app) in [(5_i64, 1_i64), (6, 1), (5, 2), (6, 2)] {
                consents.push(tx.query_row::<bool>(sql, &[user.into(), app.into()])?.unwrap());
            }
            let sql = "SELECT user_id, step FROM account_deletion WHERE finished_at IS NULL";
            Ok((consents, tx.query_row::<(i64, i64)>(sql, &[])?))
        };
        let found = runtime.block_on(store.read(read)).unwrap();
        assert_eq!(found, (vec![true, false, false, false], Some((7, 14))));
        store.close();
    }
}
