//! The duties of every host: one suite, which runs against each of them.
//!
//! With the feature `fail-points` a child process is killed at every point of a call, too.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

#[macro_use]
mod cases;
mod child;
mod postgres;
mod server;
mod world;

use std::path::Path;
use std::sync::Arc;

use orange_fleet::host::Host;
use orange_fleet::host::postgres::PostgresHost;
use orange_fleet::host::sqlite::SqliteHost;

/// A host, as the suite knows it. The store of a test belongs to a folder, which is the test's own.
#[derive(Clone, Copy)]
pub struct TestedStore {
    /// Its name, by which a child process finds it.
    pub name: &'static str,
    /// Makes what the store needs outside of the folder. False where that cannot be had.
    pub prepare: fn(&Path) -> bool,
    /// Opens the store, and makes it if there is none.
    pub open: fn(&Path) -> Arc<dyn Host>,
    /// Moves everything that is known of attempts this many milliseconds into the past.
    pub age: fn(&Path, i64),
    /// Writes this text as the state of a mission, as a newer program or a damaged disk would; with the text that was there.
    pub damage: fn(&Path, &str, &str) -> String,
}

/// Statement that makes attempts older.
const AGE: &str = "update run set queued = queued - ?1, started = started - ?1, due = due - ?1";

/// Every host that this build can test.
pub const STORES: &[TestedStore] = &[SQLITE, POSTGRES];

const SQLITE: TestedStore = TestedStore {
    name: "sqlite",
    prepare: |_| true,
    open: |folder| Arc::new(SqliteHost::open(&folder.join("fleet.db")).unwrap()),
    age: |folder, by| {
        let connection = rusqlite::Connection::open(folder.join("fleet.db")).unwrap();
        connection.execute(AGE, [by]).unwrap();
    },
    damage: |folder, mission, state| {
        let connection = rusqlite::Connection::open(folder.join("fleet.db")).unwrap();
        let select = "select state from mission where id = ?1";
        let before = connection.query_row(select, [mission], |row| row.get(0)).unwrap();
        connection.execute("update mission set state = ?2 where id = ?1", [mission, state]).unwrap();
        before
    },
};

const POSTGRES: TestedStore = TestedStore {
    name: "postgres",
    prepare: |folder| match server::shared() {
        Some(server) => {
            std::fs::write(folder.join("postgres"), server.database()).unwrap();
            true
        }
        None => false,
    },
    open: |folder| world::opened(|| PostgresHost::open(&server::read(&server::of(folder)))),
    age: |folder, by| {
        let text = AGE.replace("run ", "orange_fleet.run ").replace("?1", &by.to_string());
        server::sql(&server::of(folder), &text).unwrap();
    },
    damage: |folder, mission, state| {
        let address = server::of(folder);
        let of = format!("orange_fleet.mission set state = $${state}$$ where id = '{mission}'");
        let select = format!("select state from orange_fleet.mission where id = '{mission}'");
        let before = server::sql(&address, &select).unwrap().remove(0);
        let turn = "update orange_fleet.store set turn = turn + 1";
        server::sql(&address, &format!("update {of}; {turn}")).unwrap();
        before
    },
};

suite!(sqlite, crate::SQLITE);
suite!(postgres_suite, crate::POSTGRES);
