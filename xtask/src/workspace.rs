//! The repository with the manifests of its packages, as cargo describes them.

use std::path::PathBuf;

use serde::Deserialize;
pub(crate) use xtask_build::workspace::{ARE_BUILT, OwnRepository, TextFile, answer, typed};

use crate::Result;

/// The answer of `cargo metadata` about the workspace.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<MemberPackage>,
}

/// A member of the workspace.
#[derive(Deserialize)]
pub(crate) struct MemberPackage {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    /// The registries that may have it: all, if this is absent.
    pub(crate) publish: Option<Vec<String>>,
    /// Its declared dependencies.
    pub(crate) dependencies: Vec<DeclaredDependency>,
}

/// One declared dependency.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct DeclaredDependency {
    pub(crate) name: String,
    /// `dev`, `build`, or nothing for a normal one.
    pub(crate) kind: Option<String>,
    /// Its folder, unless it is from a registry.
    pub(crate) path: Option<PathBuf>,
}

/// The members of the workspace.
pub(crate) fn members(workspace: &OwnRepository) -> Result<Vec<MemberPackage>> {
    let json = answer(workspace.cargo(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Metadata = serde_json::from_str(&json)
        .map_err(|error| format!("cargo metadata cannot be understood: {error}"))?;
    Ok(metadata.packages)
}

impl MemberPackage {
    /// True if it can be published: a user of `workflow!` needs it.
    pub(crate) fn is_published(&self) -> bool {
        self.publish.is_none()
    }
}
