//! The manual pages, from the same table.

use super::{Arg, Spec, help};

/// Every page: the name of its file, and what is in it.
pub fn pages(root: &'static Spec) -> Vec<(String, String)> {
    let mut pages = Vec::new();
    gather(root, root.name, &mut pages);
    pages
}

fn gather(spec: &'static Spec, path: &str, pages: &mut Vec<(String, String)>) {
    pages.push((format!("{}.1", path.replace(' ', "-")), page(spec, path)));
    for below in spec.shown() {
        gather(below, &format!("{path} {}", below.name), pages);
    }
}

fn page(spec: &Spec, path: &str) -> String {
    let name = path.replace(' ', "-");
    let mut page = format!(
        ".TH {} 1 \"\" \"orange {}\" \"\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.nf\n{}\n.fi\n",
        escaped(&name.to_uppercase()),
        env!("CARGO_PKG_VERSION"),
        escaped(&name),
        escaped(spec.about),
        escaped(&help::usage(spec, path)),
    );
    let pages = spec.shown().map(|below| (format!("{name}-{}(1)", below.name), below.about.to_owned()));
    section(&mut page, "COMMANDS", pages);
    section(&mut page, "ARGUMENTS", spec.words().map(explained));
    section(&mut page, "OPTIONS", spec.options().map(explained));
    block(&mut page, "EXAMPLES", &spec.examples.join("\n"));
    block(&mut page, "NOTES", spec.notes);
    page
}

fn explained(arg: &'static Arg) -> (String, String) {
    (arg.typed(), help::about(arg))
}

fn section(page: &mut String, head: &str, rows: impl Iterator<Item = (String, String)>) {
    let rows: String =
        rows.map(|(term, about)| format!(".TP\n{}\n{}\n", escaped(&term), escaped(&about))).collect();
    if !rows.is_empty() {
        page.push_str(&format!(".SH {head}\n{rows}"));
    }
}

fn block(page: &mut String, head: &str, text: &str) {
    if !text.is_empty() {
        page.push_str(&format!(".SH {head}\n.nf\n{}\n.fi\n", escaped(text)));
    }
}

/// The text as roff prints it: no line of it is a request, and a hyphen is the one that people type.
fn escaped(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}
