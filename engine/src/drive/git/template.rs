//! The template for pull requests of a repository, where GitHub looks for it.

use super::Git;
use crate::Result;

/// The folders that GitHub searches, in order; each with its `/`.
const HARNESS_FOLDERS: [&str; 3] = [".github/", "", "docs/"];

/// The name of the file, or of a folder with several.
const NAME: &str = "pull_request_template";

/// A template for pull requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestTemplate {
    /// Its path in the repository.
    pub path: String,
    pub text: String,
    /// The others in its folder, among which GitHub's page offers a choice.
    pub others: Vec<String>,
}

/// An entry of a folder in a commit.
struct FolderEntry {
    path: String,
    is_folder: bool,
}

impl Git {
    /// The template for pull requests on the default branch, as of the last fetch: a file of that name, or else the first one of a
    /// folder.
    pub fn pull_request_template(&self, default_branch: &str) -> Result<Option<PullRequestTemplate>> {
        let base = self.base(default_branch)?;
        for place in HARNESS_FOLDERS {
            let listed = self.listed(&base, place)?;
            let named = |entry: &&FolderEntry| stem(&entry.path[place.len()..]).eq_ignore_ascii_case(NAME);
            if let Some(file) = listed.iter().filter(named).find(|entry| is_text(entry)) {
                return self.template(&base, vec![file.path.clone()]).map(Some);
            }
            for folder in listed.iter().filter(named).filter(|entry| entry.is_folder) {
                let inside = self.listed(&base, &format!("{}/", folder.path))?;
                let files: Vec<String> = inside.into_iter().filter(is_text).map(|entry| entry.path).collect();
                if !files.is_empty() {
                    return self.template(&base, files).map(Some);
                }
            }
        }
        Ok(None)
    }

    fn template(&self, base: &str, mut paths: Vec<String>) -> Result<PullRequestTemplate> {
        let others = paths.split_off(1);
        let path = paths.concat();
        let blob = self.call().args(["cat-file", "blob", &format!("{base}:{path}")]).run()?.checked()?;
        Ok(PullRequestTemplate { text: String::from_utf8_lossy(&blob.stdout).into_owned(), path, others })
    }

    /// The entries of a folder, by name; none if there is no such folder.
    fn listed(&self, base: &str, folder: &str) -> Result<Vec<FolderEntry>> {
        let call = self.call().args(["ls-tree", "-z", "--full-tree", base]);
        let call = if folder.is_empty() { call } else { call.args(["--", folder]) };
        let printed = call.run()?.checked()?;
        Ok(parse(&printed.stdout))
    }
}

/// Entries as `<mode> <type> <object>\t<path>`.
fn parse(printed: &[u8]) -> Vec<FolderEntry> {
    let fields = printed.split(|byte| *byte == 0);
    let entries = fields.filter_map(|field| {
        let (about, path) = std::str::from_utf8(field).ok()?.split_once('\t')?;
        let is_folder = about.split(' ').nth(1)? == "tree";
        Some(FolderEntry { path: path.to_owned(), is_folder })
    });
    entries.collect()
}

fn is_text(entry: &FolderEntry) -> bool {
    let extension = entry.path.rsplit_once('.').map_or("", |(_, extension)| extension);
    !entry.is_folder && ["md", "txt"].iter().any(|it| extension.eq_ignore_ascii_case(it))
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
