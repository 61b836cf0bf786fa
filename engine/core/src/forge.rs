//! The kind of the forge that has a repository's pull requests, and the pull requests that it merges.

mod merging;

pub use merging::{AllowedMerges, AskedMerge, ForgeMergeCourse};

/// A kind of forge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum ForgeKind {
    /// GitHub, or GitHub Enterprise.
    #[default]
    GitHub,
    /// GitLab, at gitlab.com or elsewhere.
    GitLab,
}

impl ForgeKind {
    /// Every kind, in the order of the help.
    pub const ALL: [ForgeKind; 2] = [ForgeKind::GitHub, ForgeKind::GitLab];

    /// The word in settings and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            ForgeKind::GitHub => "github",
            ForgeKind::GitLab => "gitlab",
        }
    }

    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            ForgeKind::GitHub => "GitHub",
            ForgeKind::GitLab => "GitLab",
        }
    }

    /// The command line that asks it.
    pub const fn program(self) -> &'static str {
        match self {
            ForgeKind::GitHub => "gh",
            ForgeKind::GitLab => "glab",
        }
    }

    /// The kind of this word.
    pub fn parse(word: &str) -> Option<ForgeKind> {
        ForgeKind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The kind by the host in a remote's address; `None` for a path, and for a host whose name says nothing.
    pub fn of_remote(address: &str) -> Option<ForgeKind> {
        let host = host(address)?.to_ascii_lowercase();
        match host.as_str() {
            "ssh.github.com" => Some(ForgeKind::GitHub),
            "altssh.gitlab.com" => Some(ForgeKind::GitLab),
            host if host.starts_with("github.") => Some(ForgeKind::GitHub),
            host if host.starts_with("gitlab.") => Some(ForgeKind::GitLab),
            _ => None,
        }
    }
}

/// The host in the address of a remote: a URL, or `[USER@]HOST:PATH`.
fn host(address: &str) -> Option<&str> {
    let authority = match address.split_once("://") {
        Some((_, rest)) => rest.split('/').next()?,
        None => {
            let (before, _) = address.split_once(':')?;
            Some(before).filter(|before| !before.contains('/'))?
        }
    };
    let with_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    with_port.trim_start_matches('[').split(':').next().filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_remote_says_which_forge_it_is() {
        let (hub, lab) = (Some(ForgeKind::GitHub), Some(ForgeKind::GitLab));
        for (address, expect) in [
            ("https://github.com/toys/toy.git", hub),
            ("https://github.com/toys/toy", hub),
            ("https://ada:token@github.com/toys/toy.git", hub),
            ("http://GitHub.com:80/toys/toy/", hub),
            ("git@github.com:toys/toy.git", hub),
            ("github.com:toys/toy", hub),
            ("ssh://git@ssh.github.com:443/toys/toy.git", hub),
            ("git://github.example.org/toys/toy.git", hub),
            ("https://gitlab.com/toys/parts/small/toy.git", lab),
            ("git@gitlab.com:toys/parts/toy.git", lab),
            ("[git@gitlab.example.org:2222]:toys/toy.git", lab),
            ("ssh://git@gitlab.example.org:2222/toys/parts/toy.git", lab),
            ("ssh://altssh.gitlab.com:443/toys/toy.git", lab),
            ("git+ssh://git@gitlab.com/toys/toy.git", lab),
            ("https://oauth2:a:b@gitlab.com:8443/toys/toy.git", lab),
            ("https://git.example.org/gitlab.com/toy.git", None),
            ("https://github.com@git.example.org/toys/toy.git", None),
            ("https://notgitlab.com/toys/toy.git", None),
            ("git@work:github.com/toys/toy.git", None),
            ("file:///srv/gitlab.com/toy.git", None),
            ("/srv/github.com/toy.git", None),
            ("./github.com:toy", None),
            ("../toy.git", None),
            ("ssh://[::1]:22/toy.git", None),
            ("https://", None),
            ("", None),
        ] {
            assert_eq!(ForgeKind::of_remote(address), expect, "{address}");
        }
    }

    #[test]
    fn every_word_of_a_forge_is_read_back() {
        for kind in ForgeKind::ALL {
            assert_eq!(ForgeKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(ForgeKind::parse("GitHub"), None);
    }
}
