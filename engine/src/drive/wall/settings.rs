//! The settings of git inside a wall: those of the project without what names another place, a secret, or a key.

use std::fmt::Write as _;

/// Settings of a person or a machine that change what a commit contains, or how git asks for it.
const FROM_OUTSIDE: [&str; 12] = [
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "diff.algorithm",
    "diff.renames",
    "init.defaultbranch",
    "merge.conflictstyle",
    "pull.ff",
    "pull.rebase",
    "rebase.autosquash",
    "user.email",
    "user.name",
];

/// Settings that the private repository has of its own.
const OWN: [&str; 10] = [
    "branch.autosetupmerge",
    "commit.gpgsign",
    "core.bare",
    "core.fsmonitor",
    "core.repositoryformatversion",
    "core.worktree",
    "gc.auto",
    "maintenance.auto",
    "push.gpgsign",
    "tag.gpgsign",
];

/// Sections that name a secret, a program with secrets, or a file elsewhere.
const SECRET: [&str; 7] = ["credential", "gpg", "http", "https", "imap", "include", "includeif"];

/// Extensions of the format that a copy has, too. That of the refs is of the project's repository alone.
const EXTENSIONS: [&str; 4] = [
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.relativeworktrees",
    "extensions.worktreeconfig",
];

/// The repository for which settings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingsOf {
    /// The private one, with refs in files.
    Private,
    /// The project's, which is read.
    Shared,
}

/// The text of a `config`, from the output of `git config --list --show-scope -z`.
pub(super) fn text(printed: &[u8], of: SettingsOf) -> String {
    let printed = String::from_utf8_lossy(printed).into_owned();
    let mut fields = printed.split('\0');
    let mut kept: Vec<(&str, Option<&str>)> = Vec::new();
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        let (key, value) = entry.split_once('\n').map_or((entry, None), |(key, value)| (key, Some(value)));
        if is_kept(scope, key, of) {
            kept.push((key, value));
        }
    }
    let mut text = own(of, kept.iter().any(|(key, _)| key.starts_with("extensions.")));
    for (key, value) in kept {
        let Some((section, name)) = key.rsplit_once('.') else { continue };
        let heading = match section.split_once('.') {
            Some((section, sub)) => format!("{section} \"{}\"", escaped(sub)),
            None => section.to_owned(),
        };
        // Writing into a text does not fail.
        match value {
            None => writeln!(text, "[{heading}]\n\t{name}"),
            Some(value) => {
                writeln!(text, "[{heading}]\n\t{name} = \"{}\"", escaped(&without_secret(key, value)))
            }
        }
        .unwrap_or_default();
    }
    text
}

fn own(of: SettingsOf, has_extensions: bool) -> String {
    let version = u8::from(has_extensions);
    let core =
        format!("[core]\n\trepositoryformatversion = {version}\n\tbare = false\n\tfsmonitor = false\n");
    let quiet = "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";
    // Keys stay outside, and this file cannot be written inside.
    let unsigned = "[commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n[push]\n\tgpgSign = false\n";
    match of {
        SettingsOf::Private => format!("{core}{quiet}{unsigned}[branch]\n\tautoSetupMerge = false\n"),
        SettingsOf::Shared => format!("{core}{quiet}"),
    }
}

fn is_kept(scope: &str, key: &str, of: SettingsOf) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    let is_plain = !SECRET.contains(&section) && !OWN.contains(&key);
    match scope {
        "local" if section == "extensions" => of == SettingsOf::Shared || EXTENSIONS.contains(&key),
        "local" => is_plain,
        // Filters such as that of Git LFS are set up for a person, and files need them.
        "global" | "system" => is_plain && (FROM_OUTSIDE.contains(&key) || section == "filter"),
        _ => false,
    }
}

/// A value without the name and the password of an address.
fn without_secret(key: &str, value: &str) -> String {
    let is_address = key.ends_with("url") || key.starts_with("url.") || key.ends_with("proxy");
    let Some((scheme, rest)) = value.split_once("://").filter(|_| is_address) else {
        return value.to_owned();
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match host.rsplit_once('@') {
        Some((_, host)) if scheme != "ssh" => format!("{scheme}://{host}{path}"),
        Some(_) | None => value.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use orange_system::exec::ProgramCall;

    fn printed(entries: &[(&str, &str)]) -> Vec<u8> {
        entries.iter().flat_map(|(scope, entry)| format!("{scope}\0{entry}\0").into_bytes()).collect()
    }

    #[test]
    fn no_secret_and_no_other_place_comes_inside() {
        let text = text(
            &printed(&[
                ("system", "credential.helper\nstore"),
                ("global", "user.name\nAda"),
                ("global", "user.signingkey\nABC"),
                ("global", "alias.x\n!touch /tmp/x"),
                ("global", "filter.lfs.clean\ngit-lfs clean -- %f"),
                ("local", "core.bare\nfalse"),
                ("local", "core.worktree\n/elsewhere"),
                ("local", "include.path\n../secret"),
                ("local", "http.https://x.example/.extraheader\nAUTHORIZATION: basic abc"),
                ("local", "remote.origin.url\nhttps://ada:token@x.example/r.git"),
                ("local", "commit.gpgsign\ntrue"),
                ("local", "extensions.refstorage\nreftable"),
                ("local", "extensions.objectformat\nsha256"),
                ("local", "odd.sub.with \"quotes\".key\na\\b\n\tc"),
                ("local", "flag.set"),
                ("worktree", "core.sparsecheckout\ntrue"),
                ("command", "core.fsmonitor\nfalse"),
            ]),
            SettingsOf::Private,
        );
        for secret in
            ["credential", "ABC", "touch", "elsewhere", "../secret", "basic", "token", "reftable", "sparse"]
        {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        fs::write(&file, &text).unwrap();
        let get = |key: &str| {
            let call = ProgramCall::new("git").args(["config", "--file"]).arg(&file);
            call.args(["--get", key]).run().unwrap().text_as_it_is()
        };
        assert_eq!(get("user.name"), "Ada\n");
        assert_eq!(get("core.repositoryFormatVersion"), "1\n");
        assert_eq!(get("extensions.objectFormat"), "sha256\n");
        assert_eq!(get("remote.origin.url"), "https://x.example/r.git\n");
        assert_eq!(get("commit.gpgSign"), "false\n");
        assert_eq!(get("odd.sub.with \"quotes\".key"), "a\\b\n\tc\n");
        assert_eq!(get("flag.set"), "\n");
        assert_eq!(get("filter.lfs.clean"), "git-lfs clean -- %f\n");
    }

    #[test]
    fn the_project_keeps_the_format_of_its_refs() {
        let given = printed(&[("local", "extensions.refstorage\nreftable"), ("local", "http.proxy\nx")]);
        let shared = text(&given, SettingsOf::Shared);
        assert!(shared.contains("refstorage = \"reftable\"") && !shared.contains("proxy"), "{shared}");
        assert!(text(&[], SettingsOf::Private).contains("repositoryformatversion = 0"));
    }

    #[test]
    fn addresses_lose_names_and_passwords() {
        let check = |key, value, expect| assert_eq!(without_secret(key, value), expect);
        check("remote.o.url", "https://u:p@h/x@y", "https://h/x@y");
        check("remote.o.pushurl", "https://u@h", "https://h");
        check("remote.o.url", "ssh://git@h/x", "ssh://git@h/x");
        check("remote.o.url", "git@h:x", "git@h:x");
        check("filter.x.clean", "a://b@c", "a://b@c");
    }
}
