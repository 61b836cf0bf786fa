//! Measures a gateway over HTTP, with the program `tools/fleet/examples/load.rs`.

use std::path::Path;
use std::process::Command;

use super::{Row, fields};
use crate::Result;
use crate::house::{House, answer};

/// The figures of this gateway, which keeps missions in SQLite.
pub(super) fn rows(house: &House, program: &Path, quick: bool) -> Result<Vec<Row>> {
    answer(house.cargo(["build", "--release", "--package", "orange-fleet", "--example", "load"]))?;
    let load = house.metadata()?.target_directory.join("release/examples/load");
    let mut measure = Command::new(load);
    measure.arg(program).args(if quick { ["200", "5000"] } else { ["1000", "100000"] });
    let said = answer(measure)?;
    fields(&said).iter().map(|line| row(line)).collect()
}

fn row(line: &[&str]) -> Result<Row> {
    let [what, figure, budget, kept] = *line else {
        return Err(format!("the program that measures the fleet says {line:?}"));
    };
    let kept = Some(kept).filter(|it| !it.is_empty()).map(|it| it == "kept");
    Ok(Row { what: what.to_owned(), figures: vec![figure.to_owned()], budget: budget.to_owned(), kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_program_is_a_row() {
        let read = row(&["memory, MB", "31.00", "at most 30 MB", "missed"]).unwrap();
        assert_eq!((read.kept, read.figures), (Some(false), vec!["31.00".to_owned()]));
        assert_eq!(row(&["CPU, ms", "1.00", "", ""]).unwrap().kept, None);
        assert!(row(&["an error"]).is_err());
    }
}
