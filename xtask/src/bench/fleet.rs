//! Measures a gateway over HTTP, with the program `tools/fleet/examples/load.rs`.

use std::path::Path;
use std::process::Command;

use super::postgres::BenchPostgres;
use super::{FigureRow, fields};
use crate::Result;
use crate::workspace::{OwnRepository, answer};

/// The figures of this gateway with each store, beside each other; a store that is not there has none. Only those with SQLite have budgets.
pub(super) fn rows(workspace: &OwnRepository, program: &Path, quick: bool) -> Result<Vec<FigureRow>> {
    let build = ["build", "--profile", "tools", "--package", "orange-fleet", "--example", "load"];
    answer(workspace.cargo(build))?;
    let built = workspace.target_folder()?.join("tools");
    let (missions, backlog) = if quick { ("200", "5000") } else { ("1000", "100000") };
    let measured = |store: Option<&str>| {
        let mut measure = Command::new(built.join("examples/load"));
        measure.arg(program).args([missions, backlog, "1000"]).args(store);
        let said = answer(measure)?;
        fields(&said).iter().map(|line| row(line)).collect::<Result<Vec<FigureRow>>>()
    };
    let sqlite = measured(None)?;
    let postgres = match BenchPostgres::start()? {
        Some(server) => measured(Some(&server.address))?,
        None => {
            println!("SKIPPED: the fleet on Postgres: there is none");
            Vec::new()
        }
    };
    Ok(beside([sqlite, postgres]))
}

/// The rows of all stores in one table.
fn beside<const STORES: usize>(stores: [Vec<FigureRow>; STORES]) -> Vec<FigureRow> {
    let mut rows: Vec<FigureRow> = Vec::new();
    for (column, store) in stores.into_iter().enumerate() {
        for row in store {
            let figure = row.figures.concat();
            let at = rows.iter().position(|it| it.what == row.what).unwrap_or_else(|| {
                let figures = vec!["-".to_owned(); STORES];
                // Budgets are those of the first store.
                let (budget, kept) = if column == 0 { (row.budget, row.kept) } else { (String::new(), None) };
                rows.push(FigureRow { what: row.what, figures, budget, kept });
                rows.len() - 1
            });
            rows[at].figures[column] = figure;
        }
    }
    rows
}

fn row(line: &[&str]) -> Result<FigureRow> {
    let [what, figure, budget, kept] = *line else {
        return Err(format!("the program that measures the fleet says {line:?}"));
    };
    let kept = Some(kept).filter(|it| !it.is_empty()).map(|it| it == "kept");
    Ok(FigureRow { what: what.to_owned(), figures: vec![figure.to_owned()], budget: budget.to_owned(), kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_stands_beside_that_of_the_other_store() {
        let read = |lines: &[[&str; 4]]| lines.iter().map(|line| row(line).unwrap()).collect::<Vec<_>>();
        let sqlite = read(&[["made", "9", "at least 5", "kept"], ["memory", "7", "", ""]]);
        let postgres = read(&[["made", "3", "at least 5", "missed"], ["CPU of the database", "1", "", ""]]);
        let rows = beside([sqlite, postgres]);
        let figures: Vec<_> = rows.iter().map(|row| (row.figures.join(" "), row.kept)).collect();
        let expected = [("9 3", Some(true)), ("7 -", None), ("- 1", None)];
        assert_eq!(figures, expected.map(|(figures, kept)| (figures.to_owned(), kept)));
    }

    #[test]
    fn a_line_of_the_program_is_a_row() {
        let read = row(&["memory, MB", "31.00", "at most 30 MB", "missed"]).unwrap();
        assert_eq!((read.kept, read.figures), (Some(false), vec!["31.00".to_owned()]));
        assert_eq!(row(&["CPU, ms", "1.00", "", ""]).unwrap().kept, None);
        assert!(row(&["an error"]).is_err());
    }
}
