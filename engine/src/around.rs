//! The surroundings of an agent: the home of its user, variables, and whether that user is root.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::{Error, ErrorKind, Result};

/// It is read once, and a plain value in tests.
#[derive(Clone, Debug, Default)]
pub struct Around {
    home: PathBuf,
    variables: BTreeMap<String, String>,
    is_root: bool,
}

impl Around {
    /// The surroundings of this process.
    pub fn read() -> Result<Around> {
        let home = std::env::home_dir().filter(|home| home.is_absolute()).ok_or_else(|| {
            Error::new(ErrorKind::Environment, "HOME is not set").help("set it to your home folder")
        })?;
        let text =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        Ok(Around {
            home,
            variables: std::env::vars_os().filter_map(text).collect(),
            is_root: rustix::process::geteuid().is_root(),
        })
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The folder that a variable names, or this one in the home.
    pub fn folder(&self, variable: &str, default: &str) -> PathBuf {
        let named = self.variable(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
        named.unwrap_or_else(|| self.home.join(default))
    }

    /// A file of the home.
    pub fn in_home(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    /// True if the user is root.
    pub fn is_root(&self) -> bool {
        self.is_root
    }

    #[cfg(test)]
    pub(crate) fn at(home: &std::path::Path, variables: &[(&str, &str)], is_root: bool) -> Around {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Around { home: home.to_owned(), variables: variables.iter().map(owned).collect(), is_root }
    }
}
