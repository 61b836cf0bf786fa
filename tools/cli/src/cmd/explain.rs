//! `explain`: the page of a check, the list of all of them, or all pages as a site.

use std::fs;
use std::path::Path;

use orange_analysis::catalogue;

use crate::answer::{Answer, Failure};
use crate::args;
use crate::levels;
use crate::output::put;
use crate::{site, whole};

pub(super) fn run(args: &args::Explain) -> Result<Answer, Answer> {
    if let Some(folder) = &args.site {
        return Ok(write_site(folder)?);
    }
    match &args.check {
        None => Ok(Answer::text(list())),
        Some(name) => match levels::find(name) {
            Ok(check) => Ok(Answer::text(catalogue::page(check))),
            Err(help) => Err(Failure::new(format!("there is no check `{name}`"), help).into()),
        },
    }
}

/// A line for each check, below the heading of its group.
fn list() -> String {
    let checks = catalogue::all();
    let width = checks.iter().map(|it| it.name.len()).max().unwrap_or(0);
    let families = checks.chunk_by(|a, b| catalogue::title(a) == catalogue::title(b));
    let texts = families.map(|checks| {
        let mut out = checks.first().map_or(String::new(), |it| format!("{}\n", catalogue::title(it)));
        for check in checks {
            let (code, name, level) = (check.code, check.name, check.level.as_str());
            let summary = catalogue::summary(check).replace('\n', " ");
            put(&mut out, format_args!("  {code}  {name:width$}  {level:5}  {summary}\n"));
        }
        out
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn write_site(folder: &Path) -> Result<Answer, Failure> {
    let shown = folder.display();
    let cannot_write = |error| {
        Failure::new(
            format!("cannot write the pages into {shown}: {error}"),
            "name a folder that you may write to, or one that can be made",
        )
    };
    fs::create_dir_all(folder).map_err(cannot_write)?;
    let pages = site::pages();
    for page in &pages {
        whole::write(&folder.join(&page.file), &page.text).map_err(cannot_write)?;
    }
    Ok(Answer::text(format!("{} pages are in {shown}; index.md is the first\n", pages.len())))
}
