//! Branches, repositories and roles as callers write them, which crabs hand to git and people read.

use super::error::ApiError;

/// The longest part of a branch's name, as file systems have it.
const LONGEST_PART: usize = 200;

/// The longest address of a repository.
const LONGEST_ADDRESS: usize = 1000;

/// The longest role.
const LONGEST_ROLE: usize = 64;

/// Schemes by which git reaches repositories on other machines. Its other helpers start programs of the caller's choice.
const SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

/// The schemes in whose addresses a user alone can be a token.
const TAKES_TOKENS: [&str; 2] = ["https", "http"];

/// The name of a branch, as git accepts it, and not an option.
///
/// # Errors
/// The answer to another one.
pub fn branch<'n>(field: &str, name: &'n str) -> Result<&'n str, ApiError> {
    let is_part = |part: &str| {
        !part.is_empty() && part.len() <= LONGEST_PART && !part.starts_with('.') && !part.ends_with(".lock")
    };
    let is_letter = |it: char| !it.is_control() && !" ~^:?*[\\".contains(it);
    let is_branch = name.split('/').all(is_part)
        && name.len() <= 2 * LONGEST_PART
        && name.chars().all(is_letter)
        && !name.starts_with('-')
        && !name.starts_with("refs/")
        && !name.ends_with('.')
        && !["..", "@{"].iter().any(|it| name.contains(it))
        && !["@", "HEAD"].contains(&name);
    match is_branch {
        true => Ok(name),
        false => Err(ApiError::bad("bad_branch", format!("`{field}` cannot be a branch: `{}`", shown(name)))
            .help("use letters, digits, `-`, `_`, `.` and `/`, and begin with a letter: fix/login-form")),
    }
}

/// A repository: an address that git reaches, or an absolute path on the machines of the crabs.
///
/// # Errors
/// The answer to another one.
pub fn repository(address: &str) -> Result<&str, ApiError> {
    let is_plain = !address.is_empty()
        && address.len() <= LONGEST_ADDRESS
        && !address.contains(char::is_control)
        && !address.starts_with('-');
    let reaches = || match address.split_once("://") {
        Some((scheme, rest)) => SCHEMES.contains(&scheme) && !rest.is_empty() && !rest.starts_with('-'),
        None => address.starts_with('/') || is_scp(address),
    };
    if is_plain && without_secret(address) != address {
        return Err(ApiError::bad(
            "bad_repository",
            "`repository` has a password or, over HTTP, a user, who can be a token, and everybody who sees the colony would read it",
        )
        .help(
            "leave that out: crabs reach the repository with a credential helper or an SSH key of their own",
        ));
    }
    match is_plain && reaches() {
        true => Ok(address),
        false => Err(ApiError::bad(
            "bad_repository",
            format!("`repository` is not a repository: `{}`", shown(address)),
        )
        .help(
            "give an address such as https://example.org/x.git or git@example.org:x.git, or an absolute path",
        )),
    }
}

/// An address as people see it: without the password that an older gateway has taken, and of HTTP without the user, since a token is
/// one, too.
pub fn without_secret(address: &str) -> String {
    let masked = || {
        let (scheme, rest) = address.split_once("://")?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (login, host) = authority.rsplit_once('@')?;
        let shown = match login.split_once(':') {
            Some(_) | None if TAKES_TOKENS.contains(&scheme) => "…".to_owned(),
            Some((user, _)) => format!("{user}:…"),
            None => return None,
        };
        Some(format!("{scheme}://{shown}@{host}{path}"))
    };
    masked().unwrap_or_else(|| address.to_owned())
}

/// `user@host:path`.
fn is_scp(address: &str) -> bool {
    let Some((host, path)) = address.split_once(':') else { return false };
    let is_host = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '_' | '@');
    !host.is_empty() && host.chars().all(is_host) && !path.is_empty() && !path.starts_with(':')
}

/// A role, compared as written.
///
/// # Errors
/// The answer to what is none.
pub fn role(role: &str) -> Result<&str, ApiError> {
    let is_role = !role.is_empty()
        && role.len() <= LONGEST_ROLE
        && role.trim() == role
        && !role.chars().any(|it| it.is_control() || it == ',');
    match is_role {
        true => Ok(role),
        false => Err(ApiError::bad("bad_role", format!("this is not a role: `{}`", shown(role)))
            .help("roles are short words, such as `worker`; several stand in the list `roles`")),
    }
}

fn shown(text: &str) -> String {
    text.chars().take(100).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_what_git_accepts() {
        for good in ["main", "fix/login-form", "orange-missions/0mgd", "a.b", "ünicode"] {
            assert_eq!(branch("branch", good).unwrap(), good);
        }
        let long = "x".repeat(201);
        for wrong in [
            "",
            "-b",
            "--upload-pack=x",
            "a b",
            "a..b",
            "a/",
            "/a",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a@{1}",
            "@",
            "HEAD",
            "refs/heads/a",
            "a.",
            "a\nb",
            &long,
        ] {
            assert_eq!(branch("branch", wrong).unwrap_err().code, "bad_branch", "{wrong}");
        }
    }

    #[test]
    fn repositories_start_no_programs() {
        for good in [
            "https://example.org/x.git",
            "ssh://git@example.org:22/x",
            "git@example.org:team/x.git",
            "example.org:x",
            "/srv/git/x.git",
            "file:///srv/x",
        ] {
            assert_eq!(repository(good).unwrap(), good);
        }
        for wrong in [
            "",
            "ext::sh -c touch% /tmp/x",
            "fd::17",
            "--upload-pack=x",
            "https://",
            "ssh://-oProxyCommand=x/y",
            "ftp://example.org/x",
            "x",
            "../x",
            "a\nb",
            "javascript://x",
        ] {
            assert_eq!(repository(wrong).unwrap_err().code, "bad_repository", "{wrong}");
        }
    }

    #[test]
    fn a_repository_with_a_secret_is_refused_and_masked() {
        for (address, shown) in [
            ("https://ada:secret@example.org/x.git", "https://…@example.org/x.git"),
            ("https://ada:p@ss@example.org", "https://…@example.org"),
            ("https://:secret@example.org/x", "https://…@example.org/x"),
            ("https://secret@example.org/x.git", "https://…@example.org/x.git"),
            ("http://secret:@example.org:8080/x", "http://…@example.org:8080/x"),
            ("ssh://git:secret@example.org:22/x", "ssh://git:…@example.org:22/x"),
        ] {
            let refused = repository(address).unwrap_err();
            assert_eq!(refused.code, "bad_repository");
            assert!(!refused.message.contains("secret") && refused.help.contains("credential helper"));
            assert_eq!(without_secret(address), shown);
        }
        for kept in [
            "https://example.org/x.git",
            "https://example.org/a:b@c",
            "ssh://git@example.org:22/x",
            "git@example.org:x.git",
            "/srv/a:b@c",
        ] {
            assert_eq!(without_secret(kept), kept);
        }
    }

    #[test]
    fn roles_are_short_words() {
        for good in ["any", "worker", "Reviewer 2", "prüferin"] {
            assert_eq!(role(good).unwrap(), good);
        }
        for wrong in ["", " worker", "worker ", "planner,worker", "a\tb", &"x".repeat(65)] {
            assert_eq!(role(wrong).unwrap_err().code, "bad_role", "{wrong}");
        }
    }
}
