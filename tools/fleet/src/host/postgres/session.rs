//! A connection to the database, with what every one of ours has set.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, Statement};

use super::address::{Address, whole};
use super::schema::SCHEMA;
use crate::host::HostError;

/// Time limit for an answer of the database, after which its connection is given up.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Settings of a session: a process that hangs in the middle of a transaction loses its lock, and a commit is durable.
const SET: &str = "set idle_in_transaction_session_timeout = '5s'; set lock_timeout = '8s'; \
    set statement_timeout = '15s'; set client_min_messages = warning; \
    set default_transaction_isolation = 'read committed'; \
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'; \
    select set_config('transaction_timeout', '15s', false) from pg_settings where name = 'transaction_timeout'";

/// A connection.
pub(super) struct PostgresSession {
    pub(super) client: Client,
    statements: Mutex<HashMap<String, Statement>>,
}

impl PostgresSession {
    /// A new connection. Its task runs on the present runtime.
    pub(super) async fn open(address: &Address) -> Result<PostgresSession, HostError> {
        let (client, connection) = address.connect().await?;
        tokio::spawn(async move {
            // The next question on it fails, which says that it has ended.
            connection.await.unwrap_or_default();
        });
        PostgresSession::with(client).await
    }

    /// A connection that is open. `SET` counts for it from now on.
    pub(super) async fn with(client: Client) -> Result<PostgresSession, HostError> {
        let set = format!("set search_path = {SCHEMA}; {SET}");
        match tokio::time::timeout(PATIENCE, client.batch_execute(&set)).await {
            Ok(Ok(())) => Ok(PostgresSession { client, statements: Mutex::default() }),
            Ok(Err(cause)) => Err(broken(&cause)),
            Err(_) => Err(silent()),
        }
    }

    /// A statement, prepared once.
    pub(super) async fn statement(&self, text: &str) -> Result<Statement, Error> {
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(text).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let statement = self.client.prepare(text).await?;
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        statements.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    /// True if another connection is needed after this failure.
    pub(super) fn is_lost(&self, cause: &Error) -> bool {
        let is_unusable = |it: &SqlState| {
            *it == SqlState::READ_ONLY_SQL_TRANSACTION
                || ["57P", "25P03", "08"].iter().any(|class| it.code().starts_with(class))
        };
        self.client.is_closed() || cause.code().is_none_or(is_unusable)
    }
}

/// Error for a database that says nothing.
pub(super) fn silent() -> HostError {
    HostError::Unavailable(format!("the database has said nothing for {} seconds", PATIENCE.as_secs()))
}

/// Error that a caller gets for a failure of the database.
pub(super) fn broken(cause: &Error) -> HostError {
    let Some(said) = cause.as_db_error() else {
        return HostError::Unavailable(format!(
            "the connection to the database has failed: {}",
            whole(cause)
        ));
    };
    let (code, message) = (said.code(), said.message());
    let unavailable = |why: &str| HostError::Unavailable(format!("{why} ({message})"));
    match code.code() {
        "55P03" => unavailable("another gateway holds the store for too long"),
        "57014" => unavailable("the database takes too long"),
        "25006" => unavailable("the database takes no writes: it is a standby"),
        "57P01" | "57P02" | "57P03" | "25P03" => unavailable("the database has ended the connection"),
        "XX001" | "XX002" => HostError::Corrupt(message.to_owned()),
        "42501" => unavailable("the user of the database may not do that"),
        "53100" => unavailable("the disk of the database is full"),
        _ => HostError::Unavailable(message.to_owned()),
    }
}

/// True if a failure is about what was written, and not about the database.
pub(super) fn is_about_data(cause: &Error) -> bool {
    cause.code().is_some_and(|it| ["22", "23", "54"].iter().any(|class| it.code().starts_with(class)))
}
