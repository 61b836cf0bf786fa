//! `explain`: the page of a check, or the list of all of them.

use orange_codegen::catalogue;

use crate::answer::{Answer, Failure};
use crate::args;
use crate::levels;
use crate::output::put;

pub(super) fn run(args: &args::Explain) -> Result<Answer, Answer> {
    match &args.check {
        None => Ok(Answer::text(list())),
        Some(name) => match levels::find(name) {
            Ok(check) => Ok(Answer::text(check.page)),
            Err(help) => Err(Failure::new(format!("there is no check `{name}`"), help).into()),
        },
    }
}

fn list() -> String {
    let width = catalogue::all().iter().map(|it| it.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for check in catalogue::all() {
        let (code, name, level) = (check.code, check.name, check.level.as_str());
        let summary = check.summary().replace('\n', " ");
        put(&mut out, format_args!("{code}  {name:width$}  {level:5}  {summary}\n"));
    }
    out
}
