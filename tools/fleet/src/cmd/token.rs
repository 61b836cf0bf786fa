//! `orange-fleet token`: on the gateway's machine, in its folder.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use orange_api::gateway::Colonies;
use orange_api::{Error, ErrorKind, Result};
use serde::Serialize;
use serde_json::json;

use super::Said;
use super::client::ClientArgs;
use super::status::{or_dash, table};
use super::store::folder;
use crate::serve::auth::{Rights, StoredToken, Tokens};

/// `orange-fleet token …`
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token, and print it: it is shown once
    #[command(after_help = "\
Examples:
  orange-fleet token new --colony coffee > crab.token        (for the crabs of a colony)
  orange-fleet token new --person ada
  orange-fleet token new --reader prometheus                 (it reads everything, and changes nothing)

A crab's token is good for the calls of crabs in its colony, and for nothing else. The gateway has to run for --colony.")]
    New(NewArgs),
    /// List the tokens and what they are good for
    #[command(visible_alias = "ls", after_help = "Example:\n  orange-fleet token list")]
    List(FolderArgs),
    /// Make a token worthless, at once
    #[command(after_help = "Example:\n  orange-fleet token revoke 3f2a9c01d4e7")]
    Revoke {
        /// Its id, which `orange-fleet token list` prints
        #[arg(value_name = "ID")]
        id: String,
        /// The gateway's folder.
        #[command(flatten)]
        folder: FolderArgs,
    },
}

/// `orange-fleet token new …`
#[derive(Debug, Args)]
#[group(id = "kind", required = true, multiple = false, args = ["colony", "person", "reader"])]
pub struct NewArgs {
    /// For the crabs of this colony
    #[arg(long, value_name = "NAME")]
    colony: Option<String>,
    /// For this person
    #[arg(long, value_name = "NAME")]
    person: Option<String>,
    /// For a program that only reads
    #[arg(long, value_name = "NAME")]
    reader: Option<String>,
    /// The gateway.
    #[command(flatten)]
    client: ClientArgs,
}

/// The gateway's folder.
#[derive(Debug, Args)]
pub struct FolderArgs {
    /// The gateway's folder [env: ORANGE_FLEET_DIR; default: ~/orange-fleet/gateway]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// A token in a list.
#[derive(Debug, Serialize)]
struct TokenEntry {
    id: String,
    name: String,
    /// `person`, `reader` or `crab`.
    kind: &'static str,
    /// The colony of a crab's token.
    colony_id: Option<String>,
}

impl TokenEntry {
    fn new(id: &str, name: &str, rights: Rights) -> TokenEntry {
        let (kind, colony_id) = match rights {
            Rights::Person => ("person", None),
            Rights::Reader => ("reader", None),
            Rights::Crab { colony } => ("crab", Some(colony)),
        };
        TokenEntry { id: id.to_owned(), name: name.to_owned(), kind, colony_id }
    }
}

impl From<StoredToken> for TokenEntry {
    fn from(stored: StoredToken) -> TokenEntry {
        TokenEntry::new(&stored.id, &stored.name, stored.rights)
    }
}

impl TokenCommand {
    pub(super) fn run(self) -> Result<Said> {
        match self {
            TokenCommand::New(args) => args.run(),
            TokenCommand::List(args) => {
                let admin = TokenEntry::new("admin", "the first start", Rights::Person);
                let others = args.tokens()?.list()?.into_iter().map(TokenEntry::from);
                let tokens: Vec<TokenEntry> = std::iter::once(admin).chain(others).collect();
                let json = json!({ "tokens": tokens });
                let row = |it: TokenEntry| [it.id, it.kind.to_owned(), it.name, or_dash(it.colony_id)];
                let text = table(["ID", "KIND", "NAME", "COLONY_ID"], tokens.into_iter().map(row));
                Ok(Said { text, json })
            }
            TokenCommand::Revoke { id, folder } => {
                folder.tokens()?.revoke(&id)?;
                Ok(Said {
                    text: format!("token {id} is worthless from now on"),
                    json: json!({"revoked": id}),
                })
            }
        }
    }
}

impl NewArgs {
    fn run(self) -> Result<Said> {
        let NewArgs { colony, person, reader, client } = self;
        let tokens = Tokens::of_gateway(&folder(client.dir.as_deref())?)?;
        let (name, rights) = match (colony, person, reader) {
            (Some(name), _, _) => {
                let colony = colony_id(&client, &name)?;
                (format!("crabs of {name}"), Rights::Crab { colony })
            }
            (None, Some(name), _) => (name, Rights::Person),
            (None, None, Some(name)) => (name, Rights::Reader),
            (None, None, None) => {
                return Err(Error::new(ErrorKind::Usage, "the token is for nobody")
                    .help("say for whom: --colony, --person or --reader"));
            }
        };
        let token = tokens.make(&name, rights)?;
        Ok(Said { json: json!({"token": token}), text: token })
    }
}

/// The id of a colony, which a token names so that a new colony of an old name gets no old tokens.
fn colony_id(client: &ClientArgs, name: &str) -> Result<String> {
    let Colonies { colonies, .. } = client.client()?.get("/v1/colonies?limit=500")?.answer;
    let found = colonies.iter().find(|it| it.name == name || it.colony_id == name);
    let names = colonies.iter().map(|it| it.name.as_str());
    found.map(|it| it.colony_id.clone()).ok_or_else(|| {
        let help = orange_codegen::suggest::help(name, "colonies", names.collect::<Vec<_>>());
        Error::new(ErrorKind::NotFound, format!("there is no colony `{}`", name.escape_debug()))
            .help(help.unwrap_or_else(|| "`orange-fleet colony create` makes one".to_owned()))
    })
}

impl FolderArgs {
    fn tokens(&self) -> Result<Tokens> {
        Tokens::of_gateway(&folder(self.dir.as_deref())?)
    }
}
