//! The tasks of an `ORANGE_HOME`, from the frontmatter of their `TASK.md`.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use orange_codegen::Source;
use orange_codegen::syntax::{self, Node, NodeKind, limits};

use crate::answer::Failure;

/// The tasks in a home, and its broken files.
#[derive(Debug, Default)]
pub(crate) struct HomeTasks {
    /// The tasks, by project and id.
    pub tasks: Vec<Task>,
    /// Files that cannot be read: their path, and why.
    pub broken: Vec<(String, String)>,
}

/// A task, from its file.
#[derive(Debug)]
pub(crate) struct Task {
    /// The project that it belongs to.
    pub project: String,
    pub id: String,
    /// The workflow that it follows.
    pub workflow: String,
    /// The state that it is in.
    pub status: String,
}

/// Reads `tasks/<project>/<id>/TASK.md` of every task.
///
/// # Errors
///
/// There is no such folder, or it cannot be read.
pub(crate) fn read(folder: &Path) -> Result<HomeTasks, Failure> {
    let tasks = folder.join("tasks");
    let mut home = HomeTasks::default();
    for project in folders(&tasks).map_err(|error| no_home(folder, &error))? {
        match folders(&project) {
            Ok(tasks) => tasks.iter().for_each(|task| home.add(&project, task)),
            Err(error) => home.broken.push((project.display().to_string(), error.to_string())),
        }
    }
    Ok(home)
}

impl HomeTasks {
    fn add(&mut self, project: &Path, task: &Path) {
        let file = task.join("TASK.md");
        match text(&file).map_err(|error| error.to_string()).and_then(|text| keys(&text)) {
            Ok([workflow, status]) => {
                self.tasks.push(Task { project: name(project), id: name(task), workflow, status });
            }
            Err(why) => self.broken.push((file.display().to_string(), why)),
        }
    }
}

fn no_home(folder: &Path, error: &io::Error) -> Failure {
    Failure::new(
        format!("no tasks can be read in {}: {error}", folder.display()),
        "name the folder that `orange` keeps everything in: ORANGE_HOME, or `orange` in your home folder",
    )
}

/// The folders in a folder, sorted.
fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn text(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut text = String::new();
    fs::File::open(path)?.take(limits::MAX_BYTES as u64).read_to_string(&mut text)?;
    Ok(text)
}

/// `workflow` and `status` of the frontmatter.
fn keys(text: &str) -> Result<[String; 2], String> {
    let front = frontmatter(text).ok_or("it has no frontmatter between two lines `---`")?;
    let source = Source::new("TASK.md", front);
    let (tree, found) = syntax::parse(&source);
    let tree = tree.ok_or_else(|| {
        found.first().map_or_else(|| "its frontmatter is empty".to_owned(), |it| it.message.clone())
    })?;
    let key = |name: &str| value(&tree, name).ok_or_else(|| format!("its frontmatter has no `{name}`"));
    Ok([key("workflow")?, key("status")?])
}

fn frontmatter(text: &str) -> Option<&str> {
    let is_fence = |line: &str| line.trim_end() == "---";
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.split_inclusive('\n').next().filter(|line| is_fence(line))?;
    let rest = &text[first.len()..];
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if is_fence(line) {
            return Some(&rest[..end]);
        }
        end += line.len();
    }
    None
}

fn value(tree: &Node, name: &str) -> Option<String> {
    let text = |node: &Node| match &node.kind {
        NodeKind::Scalar(scalar) if !scalar.is_null() => Some(scalar.text.value.clone()),
        NodeKind::Scalar(_) | NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
    };
    let NodeKind::Mapping(entries) = &tree.kind else { return None };
    entries.iter().find(|(key, _)| text(key).as_deref() == Some(name)).and_then(|(_, value)| text(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<[&str; 2], &str>) {
        let expect = expect.map(|keys| keys.map(str::to_owned)).map_err(str::to_owned);
        assert_eq!(keys(text), expect, "{text:?}");
    }

    #[test]
    fn two_keys_are_read_and_the_rest_is_left_alone() {
        check(
            "---\nid: x\nworkflow: flow\nstatus: working\nsummary: \"a: b\"\n---\n\nstatus: no\n",
            Ok(["flow", "working"]),
        );
        check("\u{feff}---\r\nstatus: 'qa'\r\nworkflow: flow\r\n---\r\n", Ok(["flow", "qa"]));
        check("---\nworkflow: flow\nstatus:\n---\n", Err("its frontmatter has no `status`"));
        check("---\n- a\n---\n", Err("its frontmatter has no `workflow`"));
        check("---\nstatus: working\n", Err("it has no frontmatter between two lines `---`"));
        check("# A task\n", Err("it has no frontmatter between two lines `---`"));
        check("---\n---\n", Err("its frontmatter is empty"));
    }
}
