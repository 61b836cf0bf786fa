//! The manual pages of a program, from the definitions of its commands.

use clap::{Arg, Command};

/// Content of the first page of a program, beside its help.
#[derive(Debug)]
pub struct ManualSections {
    /// The sections: each a heading, and rows of a term and its meaning.
    pub sections: &'static [(&'static str, &'static [(&'static str, &'static str)])],
    /// Names of related pages of section 1.
    pub see_also: &'static [&'static str],
}

/// A manual page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManualPage {
    /// The name of its file.
    pub file: String,
    /// Its text, in the language of roff.
    pub text: String,
}

/// A page for the program, and one for each of its commands that its help lists. They bear no date, so that the same program writes the
/// same bytes.
pub fn pages(command: Command, about: &ManualSections) -> Vec<ManualPage> {
    let mut root = command.disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    gather(&root, None, about, &mut pages);
    pages
}

fn gather(command: &Command, above: Option<&str>, about: &ManualSections, pages: &mut Vec<ManualPage>) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    pages.push(ManualPage { file: format!("{name}.1"), text: page(command, name, above, about) });
    for below in shown(command) {
        gather(below, Some(name), about, pages);
    }
}

/// The commands below a command that its help lists.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set())
}

fn page(command: &Command, name: &str, above: Option<&str>, about: &ManualSections) -> String {
    let short = command.get_about().map(ToString::to_string).unwrap_or_default();
    let long = command.get_long_about().map_or_else(|| short.clone(), ToString::to_string);
    let usage = command.clone().render_usage().to_string();
    let mut out = format!(
        ".TH {} 1 \"\" \"orange {}\" \"Orange Manual\"\n",
        escaped(name),
        escaped(env!("CARGO_PKG_VERSION"))
    );
    section(&mut out, "NAME");
    out += &format!("{} \\- {}\n", escaped(name), escaped(&short));
    section(&mut out, "SYNOPSIS");
    text(&mut out, usage.trim_start_matches("Usage:").trim());
    section(&mut out, "DESCRIPTION");
    text(&mut out, &long);
    section(&mut out, "OPTIONS");
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
        term(&mut out, &bold(&typed(arg)), &help);
        values(&mut out, arg);
    }
    if shown(command).next().is_some() {
        section(&mut out, "SUBCOMMANDS");
    }
    for below in shown(command) {
        let of_one = below.get_about().map(ToString::to_string).unwrap_or_default();
        term(&mut out, &bold(&format!("{name}-{}(1)", below.get_name())), &of_one);
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (examples, notes): (Vec<_>, Vec<_>) =
        after.split("\n\n").partition(|part| part.starts_with("Example"));
    let notes: Vec<_> = notes.into_iter().filter(|note| !note.is_empty()).collect();
    match above {
        // The notes of the first page have sections of their own.
        None => tables(&mut out, about),
        Some(_) if notes.is_empty() => {}
        Some(_) => {
            section(&mut out, "NOTES");
            text(&mut out, &notes.join("\n"));
        }
    }
    for example in examples {
        // As they are typed, a line each.
        section(&mut out, "EXAMPLES");
        out += ".nf\n";
        example.lines().skip(1).for_each(|line| text(&mut out, line.trim_start()));
        out += ".fi\n";
    }
    section(&mut out, "SEE ALSO");
    let others = above.map_or_else(|| about.see_also.to_vec(), |above| vec![above]);
    let others: Vec<_> = others.iter().map(|other| bold(&format!("{other}(1)"))).collect();
    out += &others.join(", ");
    out + "\n"
}

/// An option or a value, as people type it.
fn typed(arg: &Arg) -> String {
    let short = arg.get_short().map(|letter| format!("-{letter}"));
    let long = arg.get_long().map(|word| format!("--{word}"));
    let flags: Vec<String> = short.into_iter().chain(long).collect();
    let names = arg.get_value_names().unwrap_or_default();
    let has_values = arg.is_positional() || arg.get_action().takes_values();
    let names = names.iter().filter(|_| has_values).map(|name| format!("<{name}>"));
    [flags.join(", ")].into_iter().filter(|it| !it.is_empty()).chain(names).collect::<Vec<_>>().join(" ")
}

/// The values that an argument may have, and the one that it has otherwise.
fn values(out: &mut String, arg: &Arg) {
    if !arg.get_action().takes_values() {
        return;
    }
    let possible = arg.get_possible_values();
    let names: Vec<_> = possible.iter().filter(|it| !it.is_hide_set()).map(|it| it.get_name()).collect();
    if !names.is_empty() {
        text(out, &format!("[possible values: {}]", names.join(", ")));
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|it| it.to_string_lossy()).collect();
    if !defaults.is_empty() && !arg.is_hide_default_value_set() {
        text(out, &format!("[default: {}]", defaults.join(", ")));
    }
}

fn tables(out: &mut String, about: &ManualSections) {
    for (head, rows) in about.sections {
        section(out, head);
        rows.iter().for_each(|(name, meaning)| term(out, &bold(name), meaning));
    }
}

fn section(out: &mut String, head: &str) {
    *out += &format!(".SH \"{head}\"\n");
}

fn term(out: &mut String, name: &str, meaning: &str) {
    *out += &format!(".TP\n{name}\n");
    text(out, meaning);
}

fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", escaped(text))
}

/// Lines of text; an empty one begins a paragraph.
fn text(out: &mut String, lines: &str) {
    for line in lines.lines() {
        if line.is_empty() {
            *out += ".PP\n";
        } else {
            // A point at its beginning would make it a request.
            let guard = if line.starts_with('.') { "\\&" } else { "" };
            *out += &format!("{guard}{}\n", escaped(line));
        }
    }
}

/// A text with the escapes of roff, also for characters outside of ASCII, since `groff` reads bytes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => escaped += "\\e",
            '-' => escaped += "\\-",
            '\'' => escaped += "\\(aq",
            '`' => escaped += "\\(ga",
            letter if letter.is_ascii() => escaped.push(letter),
            letter => escaped += &format!("\\[u{:04X}]", u32::from(letter)),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: ManualSections =
        ManualSections { sections: &[("FILES", &[("~/a.b", "A file")])], see_also: &["git"] };

    #[test]
    fn a_page_has_what_help_says() {
        let arguments = [
            Arg::new("to")
                .short('t')
                .long("to")
                .value_name("DIR")
                .default_value("~/it's")
                .help("Where – or\n.not"),
            Arg::new("hidden").long("hidden").hide(true),
        ];
        let below = [Command::new("run").about("Runs"), Command::new("inner").hide(true)];
        let command = Command::new("orange").about("Drives").args(arguments).subcommands(below);
        let pages = pages(command, &NOTHING);
        let files: Vec<_> = pages.iter().map(|page| page.file.as_str()).collect();
        assert_eq!(files, ["orange.1", "orange-run.1"]);
        let [first, run] = &pages[..] else { panic!("{files:?}") };
        assert!(first.text.contains("\n.SH \"NAME\"\norange \\- Drives\n"), "{}", first.text);
        let option =
            ".TP\n\\fB\\-t, \\-\\-to <DIR>\\fR\nWhere \\[u2013] or\n\\&.not\n[default: ~/it\\(aqs]\n";
        assert!(first.text.contains(option), "{}", first.text);
        assert!(
            first.text.contains(".SH \"SUBCOMMANDS\"\n.TP\n\\fBorange\\-run(1)\\fR\nRuns\n"),
            "{}",
            first.text
        );
        assert!(first.text.ends_with(".SH \"SEE ALSO\"\n\\fBgit(1)\\fR\n"), "{}", first.text);
        assert!(!first.text.contains("hidden") && !first.text.contains("inner"), "{}", first.text);
        assert!(run.text.ends_with(".SH \"SEE ALSO\"\n\\fBorange(1)\\fR\n"), "{}", run.text);
    }
}
