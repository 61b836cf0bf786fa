//! A person agrees to the `orange.toml` of a repository.

use std::path::PathBuf;

use similar::{Algorithm, ChangeTag, capture_diff_slices};

use crate::app::App;
use crate::store::projects::Project;
use crate::store::settings::{self, FILE};
use crate::store::{ports, trust};
use crate::{Error, ErrorKind, Result};

/// The content of a file that a person can agree to.
#[derive(Debug)]
pub struct TrustOffer {
    pub path: PathBuf,
    /// The SHA-256 of its content; `None` if it is gone.
    pub sha256: Option<String>,
    text: Option<String>,
    /// The content that was agreed to before.
    agreed: Option<String>,
}

impl TrustOffer {
    /// True if a person has agreed to this content already.
    pub fn is_agreed(&self) -> bool {
        self.text == self.agreed
    }

    /// The content, or how it differs from the one that was agreed to before.
    pub fn shown(&self) -> String {
        let path = self.path.display();
        match (&self.agreed, &self.text) {
            (None, Some(text)) => format!("{path}:\n\n{}", readable(text)),
            (agreed, text) => {
                let (old, new) = (agreed.as_deref().unwrap_or_default(), text.as_deref().unwrap_or_default());
                format!("{path} has changed:\n\n{}", readable(&changes(old, new)))
            }
        }
    }
}

/// Every line, those that went with `-` and those that came with `+`.
fn changes(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let changes = capture_diff_slices(Algorithm::Myers, &old, &new);
    let lines = changes.iter().flat_map(|part| part.iter_changes(&old, &new)).map(|change| {
        let mark = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        format!("{mark} {}\n", change.value())
    });
    lines.collect()
}

/// The text without what could change a terminal.
fn readable(text: &str) -> String {
    let shown = |letter: char| match letter {
        '\n' | '\t' => letter.to_string(),
        _ if letter.is_control() || is_invisible(letter) => letter.escape_unicode().to_string(),
        _ => letter.to_string(),
    };
    text.chars().map(shown).collect()
}

/// Marks that change the direction of a text, or that nobody sees.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The content of a project's file as it is now. It is read once.
///
/// # Errors
/// `not_allowed` for everybody but a person; `not_found` without a file; `corrupt` for one with an error; `refused` if its hash
/// does not begin with these digits, if it names an unknown harness, or ports that another project has.
pub fn offer(app: &App, project: &Project, digits: Option<&str>) -> Result<TrustOffer> {
    app.caller.check_person(&format!("trust {FILE}"))?;
    let path = trust::path(project);
    let agreed = trust::agreed(&app.home, &project.name)?.map(|agreed| agreed.text);
    let Some(bytes) = trust::read_file(project)? else {
        return match agreed {
            Some(agreed) => Ok(TrustOffer { path, sha256: None, text: None, agreed: Some(agreed) }),
            None => Err(Error::new(ErrorKind::NotFound, format!("there is no {}", path.display()))
                .help("a page of the documentation, docs/projects.md, says what it can have")),
        };
    };
    let settings = settings::parse(&path, &bytes)?;
    let sha256 = trust::hash(&bytes);
    if let Some(digits) = digits.filter(|digits| !sha256.starts_with(&digits.to_lowercase())) {
        let message = format!("the hash of {} is {sha256}, and does not begin with {digits}", path.display());
        return Err(Error::new(ErrorKind::Refused, message)
            .help(format!("it has changed: `orange project trust {}` shows it", project.name)));
    }
    for name in [&settings.harness, &settings.review_harness].into_iter().flatten() {
        app.harness(name)?;
    }
    if project.settings.ports.is_none() {
        settings.ports.map_or(Ok(()), |wanted| ports::check(&app.home, project, wanted))?;
    }
    let text = String::from_utf8(bytes).unwrap_or_default();
    Ok(TrustOffer { path, sha256: Some(sha256), text: Some(text), agreed })
}

/// Keeps that a person agrees to this content.
pub fn agree(app: &App, project: &Project, offer: &TrustOffer) -> Result<()> {
    app.caller.check_person(&format!("trust {FILE}"))?;
    if offer.is_agreed() { Ok(()) } else { trust::agree(&app.home, &project.name, offer.text.as_deref()) }
}
