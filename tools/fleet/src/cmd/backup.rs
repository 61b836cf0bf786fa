//! `orange-fleet backup`

use std::path::PathBuf;

use clap::Args;
use orange_api::{Error, ErrorKind, Result};
use serde_json::json;

use super::Said;
use super::store::{StoreOption, folder};
use crate::host::sqlite::SqliteHost;

/// `orange-fleet backup …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orange-fleet backup /backup/fleet-2026-11-26.db
  orange-fleet backup copy.db --dir /srv/orange-fleet

The copy is whole even while the gateway works. To restore it, stop the gateway, and put the copy in the place of fleet.db. The tokens are
files beside it, in the folder `tokens`: copy them, too.")]
pub struct BackupArgs {
    /// The file to write, which is not there yet
    #[arg(value_name = "FILE")]
    to: PathBuf,
    /// The gateway's folder [env: ORANGE_FLEET_DIR; default: ~/orange-fleet/gateway]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The store [default: sqlite:DIR/fleet.db]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
}

impl BackupArgs {
    pub(super) fn run(self) -> Result<Said> {
        let BackupArgs { to, dir, store } = self;
        let store = StoreOption::named(store.as_deref(), &folder(dir.as_deref())?)?;
        if to.exists() {
            return Err(Error::new(ErrorKind::Refused, format!("{} is there already", to.display()))
                .help("name a file that is not there"));
        }
        let copied = match &store {
            StoreOption::Sqlite(path) if !path.exists() => {
                return Err(Error::new(ErrorKind::NotFound, format!("there is no store {}", path.display()))
                    .help("`--dir` names the folder of the gateway, and `--store` another store"));
            }
            StoreOption::Sqlite(path) => SqliteHost::copy(path, &to),
            StoreOption::Postgres(_) => {
                return Err(Error::new(
                    ErrorKind::Usage,
                    "a store in Postgres is copied with the tools of Postgres",
                )
                .help("run `pg_dump --schema orange_fleet`, and copy the folder `tokens`"));
            }
        };
        copied.map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("no copy was made: {cause}"))
                .help("name a file that is not there, on a disk with room")
        })?;
        Ok(Said {
            text: format!("the store is copied to {}", to.display()),
            json: json!({"backup": to.display().to_string()}),
        })
    }
}
