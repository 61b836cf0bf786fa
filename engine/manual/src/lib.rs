//! The manual pages of a program, from the definitions of its commands.

use std::io;

use clap::Command;
use clap_mangen::Man;
use roff::{Roff, bold, italic, roman};

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
pub fn pages(command: Command, about: &ManualSections) -> io::Result<Vec<ManualPage>> {
    let mut root = command.disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    gather(&root, None, about, &mut pages)?;
    Ok(pages)
}

fn gather(
    command: &Command,
    above: Option<&str>,
    about: &ManualSections,
    pages: &mut Vec<ManualPage>,
) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    pages.push(ManualPage { file: format!("{name}.1"), text: page(command, above, about)? });
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        gather(below, Some(name), about, pages)?;
    }
    Ok(())
}

fn page(command: &Command, above: Option<&str>, about: &ManualSections) -> io::Result<String> {
    let man = Man::new(command.clone())
        .source(concat!("orange ", env!("CARGO_PKG_VERSION")))
        .manual("Orange Manual");
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut out)?;
    }
    let mut roff = Roff::new();
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (examples, notes): (Vec<_>, Vec<_>) =
        text.split("\n\n").partition(|part| part.starts_with("Example"));
    let notes: Vec<_> = notes.into_iter().filter(|note| !note.is_empty()).collect();
    match above {
        // The notes of the first page have sections of their own.
        None => tables(&mut roff, about),
        Some(_) if notes.is_empty() => {}
        Some(_) => paragraph(&mut roff, "NOTES", &notes.join("\n")),
    }
    for example in examples {
        shown(&mut roff, example);
    }
    roff.control("SH", ["SEE ALSO"]);
    match above {
        Some(above) => roff.text([bold(format!("{above}(1)"))]),
        None => {
            let names = about.see_also.iter().map(|it| bold(format!("{it}(1)")));
            let mut listed: Vec<_> = names.flat_map(|it| [roman(", "), it]).collect();
            roff.text(listed.split_off(1))
        }
    };
    roff.to_writer(&mut out)?;
    String::from_utf8(out).map(|page| in_ascii(&page)).map_err(io::Error::other)
}

/// A manual page with the escapes of roff for characters outside of ASCII, since `groff` reads bytes.
fn in_ascii(page: &str) -> String {
    let mut ascii = String::with_capacity(page.len());
    for letter in page.chars() {
        if letter.is_ascii() {
            ascii.push(letter);
        } else {
            ascii += &format!("\\[u{:04X}]", u32::from(letter));
        }
    }
    ascii
}

fn tables(roff: &mut Roff, about: &ManualSections) {
    for (head, rows) in about.sections {
        roff.control("SH", [*head]);
        for (term, about) in *rows {
            roff.control("TP", []);
            roff.text([if *head == "FILES" { italic(*term) } else { bold(*term) }]);
            roff.text([roman(*about)]);
        }
    }
}

fn paragraph(roff: &mut Roff, head: &str, text: &str) {
    roff.control("SH", [head]);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
}

/// The examples as they are typed, a line each.
fn shown(roff: &mut Roff, examples: &str) {
    roff.control("SH", ["EXAMPLES"]);
    roff.control("nf", []);
    for line in examples.lines().skip(1) {
        roff.text([roman(line.trim_start())]);
    }
    roff.control("fi", []);
}
