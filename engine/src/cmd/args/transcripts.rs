//! The arguments of `orange task logs` and `pane`.

use clap::Args;
use clap::builder::RangedU64ValueParser;

use super::names::TaskName;
use crate::flow::pane::Size;

/// `orange task logs …`
#[derive(Debug, Args)]
pub struct LogsArgs {
    #[command(flatten)]
    pub task: TaskName,
    /// The number of the agent [default: the last one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub spawn: Option<u32>,
    /// Go on until the agent has ended
    #[arg(long)]
    pub follow: bool,
    /// Print the stored file: the harness's own, or the output of the terminal
    #[arg(long)]
    pub raw: bool,
}

/// `orange task pane …` and `orange mission pane …`
#[derive(Debug, Args)]
pub struct PaneArgs {
    /// The number of the agent [default: the newest one that is alive]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub spawn: Option<u32>,
    /// Only the last lines, and those that have left the screen [default: the screen]
    #[arg(
        long,
        value_name = "N",
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000)
    )]
    pub lines: Option<usize>,
    /// Give the window this size, such as 120x40, unless a terminal shows it
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = size)]
    pub size: Option<Size>,
    /// Print it again whenever it changes, until the agent has ended
    #[arg(long)]
    pub follow: bool,
}

fn size(text: &str) -> Result<Size, String> {
    const LONGEST: u16 = 1000;
    let number = |text: &str| text.parse().ok().filter(|number| (1..=LONGEST).contains(number));
    let sides = text.split_once('x').and_then(|(columns, rows)| Some((number(columns)?, number(rows)?)));
    sides
        .map(|(columns, rows)| Size { columns, rows })
        .ok_or_else(|| format!("a size is columns and rows from 1 to {LONGEST}, such as 120x40"))
}
