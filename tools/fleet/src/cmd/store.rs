//! The store that `--store` names, and the folder of a gateway.

use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orange_api::{Error, ErrorKind, Result};

use crate::host::postgres::{Address, PostgresHost};
use crate::host::sqlite::SqliteHost;
use crate::host::{Host, HostError};

/// The name of the store in a gateway's folder.
const FILE: &str = "fleet.db";

/// Place in which missions are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreOption {
    /// In one file. No other gateway has it.
    Sqlite(PathBuf),
    /// In a database, which several gateways may share.
    Postgres(Box<Address>),
}

impl StoreOption {
    /// The store that `--store` or ORANGE_FLEET_STORE names; the file of the folder if neither names anything.
    ///
    /// # Errors
    /// It is not a store that this program knows.
    pub fn named(name: Option<&str>, folder: &Path) -> Result<StoreOption> {
        let variable = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
        match name {
            Some(name) if Address::is_one(name) => {
                let address = address(name)?;
                if address.has_password() {
                    let message = "every user of this machine could read the password of the store in the list of processes";
                    return Err(Error::new(ErrorKind::Usage, message)
                        .help("leave it out of `--store`, and set PGPASSWORD or ORANGE_FLEET_STORE, or write it to ~/.pgpass"));
                }
                Ok(StoreOption::Postgres(Box::new(address)))
            }
            None => match variable("ORANGE_FLEET_STORE") {
                Some(name) if Address::is_one(&name) => Ok(StoreOption::Postgres(Box::new(address(&name)?))),
                Some(name) => StoreOption::named(Some(&name), folder),
                None => Ok(StoreOption::Sqlite(folder.join(FILE))),
            },
            Some(name) => match name.split_once(':') {
                Some(("sqlite", path)) if !path.is_empty() => Ok(StoreOption::Sqlite(PathBuf::from(path))),
                Some(_) | None => Err(Error::new(ErrorKind::Usage, format!("`{}` is not a store", name.escape_debug()))
                    .help("write `sqlite:FILE` or `postgres://USER@HOST/DATABASE`, or leave it out: then the store is the file fleet.db in the gateway's folder")),
            },
        }
    }

    /// Checks that it could be opened. It changes nothing; a store that is not there yet is made by the first start.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn check(&self) -> Result<()> {
        match self {
            StoreOption::Sqlite(path) if !path.exists() => Ok(()),
            StoreOption::Sqlite(path) => SqliteHost::check(path).map_err(|cause| unusable(path, &cause)),
            StoreOption::Postgres(address) => {
                PostgresHost::check(address).map_err(|cause| unreachable(address, &cause))
            }
        }
    }

    /// Keeps other gateways from it for as long as the file is open, if it is for one gateway.
    ///
    /// # Errors
    /// Another gateway has it.
    pub fn hold(&self) -> Result<Option<File>> {
        let StoreOption::Sqlite(path) = self else { return Ok(None) };
        let mut lock = path.clone().into_os_string();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        if let Some(folder) = lock.parent() {
            std::fs::create_dir_all(folder).map_err(|cause| Error::io("make", folder, &cause))?;
        }
        let opened = File::options().create(true).truncate(false).write(true).mode(0o600).open(&lock);
        let file = opened.map_err(|cause| Error::io("open", &lock, &cause))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Err(Error::new(
                ErrorKind::Locked,
                format!("another gateway serves the store {}", path.display()),
            )
            .help("stop it first, or give this one a folder of its own with `--dir`")),
            Err(TryLockError::Error(cause)) => Err(Error::io("lock", &lock, &cause)),
        }
    }

    /// Opens it, and makes it if there is none.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn open(&self) -> Result<Arc<dyn Host>> {
        match self {
            StoreOption::Sqlite(path) => {
                let host = SqliteHost::open(path).map_err(|cause| unusable(path, &cause))?;
                Ok(Arc::new(host))
            }
            StoreOption::Postgres(address) => {
                let host = PostgresHost::open(address).map_err(|cause| unreachable(address, &cause))?;
                Ok(Arc::new(host))
            }
        }
    }

    /// True if only one gateway at a time can have it.
    pub fn is_of_one_gateway(&self) -> bool {
        match self {
            StoreOption::Sqlite(_) => true,
            StoreOption::Postgres(_) => false,
        }
    }
}

fn address(name: &str) -> Result<Address> {
    let variable = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
    Address::read(name, &variable).map_err(|cause| {
        Error::new(ErrorKind::Usage, format!("the address of the store is wrong: {cause}")).help(
            "write `postgres://USER@HOST:PORT/DATABASE`; PGHOST and the other variables of libpq count, too",
        )
    })
}

fn unreachable(address: &Address, cause: &HostError) -> Error {
    let (kind, help) = match cause {
        HostError::Corrupt(_) => (ErrorKind::Corrupt, "upgrade orange-fleet, or name another database"),
        HostError::Unavailable(_) | HostError::Unsupported(_) | HostError::Stopping => {
            (ErrorKind::Environment, "docs/fleet.md says what the database needs, under Postgres")
        }
    };
    Error::new(kind, format!("the store {address} cannot be used: {cause}")).help(help)
}

fn unusable(path: &Path, cause: &HostError) -> Error {
    let (kind, help) = match cause {
        HostError::Corrupt(_) => {
            (ErrorKind::Corrupt, "put a backup of the store in its place, or upgrade orange-fleet")
        }
        HostError::Unavailable(_) | HostError::Unsupported(_) | HostError::Stopping => (
            ErrorKind::Environment,
            "the folder of the file has to be there, and writable; `--dir` and `--store` name others",
        ),
    };
    Error::new(kind, format!("the store {} cannot be used: {cause}", path.display())).help(help)
}

/// The folder of a gateway: the named one, that of ORANGE_FLEET_DIR, or ~/orange-fleet/gateway.
///
/// # Errors
/// None is named, and there is no home.
pub fn folder(named: Option<&Path>) -> Result<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let found = named.map(Path::to_owned).or_else(|| from("ORANGE_FLEET_DIR"));
    found.or_else(|| Some(from("HOME")?.join("orange-fleet/gateway"))).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "the gateway has no folder: HOME is not set")
            .help("name one with `--dir DIR`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_have_names() {
        let named = |name| StoreOption::named(name, Path::new("/g"));
        assert_eq!(named(None).unwrap(), StoreOption::Sqlite("/g/fleet.db".into()));
        assert_eq!(named(Some("sqlite:/x/y.db")).unwrap(), StoreOption::Sqlite("/x/y.db".into()));
        let StoreOption::Postgres(address) = named(Some("postgres://ada@db/fleet?sslmode=disable")).unwrap()
        else {
            panic!("no address")
        };
        assert!(address.to_string().starts_with("postgres://ada@db:"));
        let error = named(Some("postgres://ada:s3cret@db/fleet")).unwrap_err();
        assert!(error.kind == ErrorKind::Usage && !error.to_string().contains("s3cret"), "{error}");
        for wrong in ["", "sqlite", "sqlite:", "mysql://x", "/x/y.db"] {
            assert_eq!(named(Some(wrong)).unwrap_err().kind, ErrorKind::Usage, "{wrong}");
        }
    }
}
