//! `orange-fleet colony`

use clap::Subcommand;
use orange_api::gateway::{Colonies, ColonyAnswer, CrabAnswer, Crabs, NewColonyBody};
use orange_api::{Error, ErrorKind, Result};
use serde_json::json;

use super::Said;
use super::client::{ClientArgs, Received, encoded};
use super::status::{or_dash, table};

/// `orange-fleet colony …`
#[derive(Debug, Subcommand)]
pub enum ColonyCommand {
    /// Make a colony
    #[command(after_help = "\
Examples:
  orange-fleet colony create coffee --repository git@example.org:coffee.git
  orange-fleet colony create tea --repository /srv/git/tea.git --base develop

If the colony exists with these values, the command changes nothing.")]
    Create {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
        /// The repository on which its crabs work: an address or an absolute path for git
        #[arg(long, value_name = "URL")]
        repository: String,
        /// The branch from which new branches start [default: the repository's own]
        #[arg(long, value_name = "BRANCH")]
        base: Option<String>,
        /// The gateway.
        #[command(flatten)]
        client: ClientArgs,
    },
    /// List the colonies
    #[command(visible_alias = "ls", after_help = "Example:\n  orange-fleet colony list")]
    List {
        /// The gateway.
        #[command(flatten)]
        client: ClientArgs,
    },
    /// List the crabs of a colony, or of all colonies: their roles, and what they do
    #[command(after_help = "\
Examples:
  orange-fleet colony crabs
  orange-fleet colony crabs coffee --json")]
    Crabs {
        /// The colony [default: all]
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// The gateway.
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Remove a crab whose machine is gone from its colony: another crab may take its roles and its step
    #[command(after_help = "\
Example:
  orange-fleet colony remove-crab crab-0mgd1x0s5000k3v9q2w1z

`orange-fleet colony crabs` lists the ids. A crab that still runs ends its agent, backs its work up, and registers again; `orange-fleet crab --leave`
on its machine takes it out for good.")]
    RemoveCrab {
        /// Its id
        #[arg(value_name = "CRAB")]
        crab: String,
        /// The gateway.
        #[command(flatten)]
        client: ClientArgs,
    },
}

impl ColonyCommand {
    pub(super) fn run(self) -> Result<Said> {
        match self {
            ColonyCommand::Create { name, repository, base, client } => {
                let body = NewColonyBody { name, repository, base };
                let Received { json, .. } = client.client()?.post::<ColonyAnswer>("/v1/colonies", &body)?;
                let name = body.name;
                let text = format!(
                    "colony {name} is there\n`orange-fleet token new --colony {name}` makes a token for its crabs"
                );
                Ok(Said { text, json })
            }
            ColonyCommand::List { client } => {
                let found: Received<Colonies> = client.client()?.get("/v1/colonies?limit=500")?;
                Ok(Said { text: colonies(found.answer), json: found.json })
            }
            ColonyCommand::Crabs { name, client } => {
                let of = name.map(|it| format!("&colony={}", encoded(&it))).unwrap_or_default();
                let found: Received<Crabs> = client.client()?.get(&format!("/v1/crabs?limit=500{of}"))?;
                Ok(Said { text: crabs(found.answer), json: found.json })
            }
            ColonyCommand::RemoveCrab { crab, client } => {
                let removed = client.client()?.delete(&format!("/v1/crabs/{}", encoded(&crab)));
                removed.map_err(
                    |error| if error.kind == ErrorKind::NotFound { no_crab(&crab) } else { error },
                )?;
                Ok(Said { text: format!("{crab} has left its colony"), json: json!({ "removed": crab }) })
            }
        }
    }
}

fn colonies(page: Colonies) -> String {
    let row = |it: ColonyAnswer| [it.name, it.repository, or_dash(it.base), it.colony_id];
    table(["NAME", "REPOSITORY", "BASE", "COLONY_ID"], page.colonies.into_iter().map(row))
}

fn crabs(page: Crabs) -> String {
    let row = |it: CrabAnswer| {
        let (roles, status) = (it.roles.join(","), it.status.as_str().to_owned());
        let abilities = or_dash(Some(it.abilities.join(",")).filter(|it| !it.is_empty()));
        [it.crab_id, it.name, roles, abilities, status, or_dash(it.run_id), or_dash(it.fault)]
    };
    table(
        ["CRAB_ID", "NAME", "ROLES", "ABILITIES", "STATUS", "RUN_ID", "FAULT"],
        page.crabs.into_iter().map(row),
    )
}

fn no_crab(id: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no crab `{}`", id.escape_debug()))
        .help("`orange-fleet colony crabs` lists them, with their ids")
}
