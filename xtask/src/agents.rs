//! `cargo xtask agents`: runs tasks with real coding agents, and writes the table of the results.

mod table;

use std::fs;
use std::process::ExitCode;

use clap::Args;

use self::table::AgentResults;
use crate::Result;
use crate::workspace::OwnRepository;

/// Run the lives of tasks with real coding agents against a scripted model, and write down how each went.
#[derive(Args)]
pub(crate) struct Agents {
    /// Only the lives with this one: claude, codex, opencode, pi. `docs/agents.md` stays as it is.
    #[arg(long, value_name = "NAME")]
    harness: Option<String>,
    /// Their newest versions instead of the pinned ones; prints what changed. `docs/agents.md` stays as it is.
    #[arg(long)]
    latest: bool,
    /// Every life with a wall around its agents. `docs/agents.md` stays as it is.
    #[arg(long)]
    wall: bool,
}

/// The path of the page with the table.
const PAGE: &str = "docs/agents.md";

pub(crate) fn run(workspace: &OwnRepository, arguments: &Agents) -> Result<ExitCode> {
    let folder = workspace.target_folder()?.join("agents");
    let file = folder.join("record.jsonl");
    fs::create_dir_all(&folder).and_then(|()| fs::write(&file, "")).map_err(|error| error.to_string())?;
    let mut test = workspace.cargo(["test", "--package", "orange-tests", "--test", "agents", "--"]);
    test.args(&arguments.harness).env("ORANGE_AGENTS_RECORD", &file);
    if arguments.latest {
        test.env("ORANGE_AGENTS", "latest");
    }
    if arguments.wall {
        test.env("ORANGE_AGENTS_WALL", "1");
    }
    let status = test.status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    let record = AgentResults::read(&fs::read_to_string(&file).map_err(|error| error.to_string())?)?;
    let page = workspace.read(PAGE)?;
    let table = record.table();
    print!("\n{table}\n");
    if arguments.latest {
        print!("{}", record.changes(&page.text));
    } else if arguments.harness.is_none() && !arguments.wall {
        let text = table::replaced(&page.text, &table)
            .ok_or_else(|| format!("{PAGE} has no place for the table"))?;
        fs::write(workspace.root.join(PAGE), text).map_err(|error| format!("{PAGE}: {error}"))?;
        println!("It is in {PAGE}.");
    }
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
