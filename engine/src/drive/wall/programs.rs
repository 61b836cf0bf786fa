//! The programs that an agent sees: the folders of its `PATH` that are not of the system, and the files that links in them lead to.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::profile::SYSTEM;
use orange_system::files::real;

/// The folder of packages of node, which need each other.
const MODULES: &str = "node_modules";

/// The file at the top of a virtual environment of Python.
const ENVIRONMENT: &str = "pyvenv.cfg";

/// The folders and files outside of the system that this `PATH` and these further programs lead to. Nothing at or above one of the
/// `kept` places is among them.
pub fn visible(path: &OsStr, further: &[PathBuf], kept: &[PathBuf]) -> Vec<PathBuf> {
    let is_own = |place: &Path| {
        place.is_absolute() && !is_of_system(place) && !kept.iter().any(|kept| kept.starts_with(place))
    };
    let mut found = BTreeSet::new();
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        let folder = real(&folder);
        // A folder that cannot be read has no links to follow.
        let entries = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        let is_link = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
        // A link to a folder is not a program.
        for link in entries.filter(is_link).map(|link| link.path()).filter(|link| link.is_file()) {
            found.insert(home_of_program(&link, &is_own));
        }
        found.insert(folder);
    }
    for program in further {
        found.insert(program.clone());
        found.insert(home_of_program(program, &is_own));
    }
    // A folder comes before those in it. A folder that is there by its name and not by its real one has both.
    let named = std::env::split_paths(path).filter(|folder| folder.is_absolute() && folder.is_dir());
    found.extend(named);
    found.into_iter().filter(|place| is_own(place) && place.exists()).collect()
}

/// The needs of a program beside its folder of `PATH`: its file, and of packages that need each other, those.
fn home_of_program(program: &Path, is_own: &dyn Fn(&Path) -> bool) -> PathBuf {
    let file = real(program);
    let mut modules = PathBuf::new();
    for part in file.components() {
        modules.push(part);
        if part == Component::Normal(OsStr::new(MODULES)) && is_own(&modules) {
            return modules;
        }
    }
    let environment =
        file.parent().and_then(Path::parent).filter(|folder| folder.join(ENVIRONMENT).is_file());
    environment.filter(|folder| is_own(folder)).map_or_else(|| file.clone(), Path::to_owned)
}

fn is_of_system(place: &Path) -> bool {
    SYSTEM.iter().any(|system| place.starts_with(system))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_of_a_path_lead_to_what_is_visible() {
        let folder = tempfile::tempdir().unwrap();
        let home = real(folder.path());
        let at = |name: &str| home.join(name);
        for made in [
            "venv/bin",
            ".local/bin",
            ".local/share/claude/versions",
            "nvm/bin",
            "nvm/lib/node_modules/x/bin",
            "bin",
            "Documents",
        ] {
            fs::create_dir_all(at(made)).unwrap();
        }
        for made in [
            "venv/pyvenv.cfg",
            "venv/bin/py",
            ".local/share/claude/versions/2",
            "nvm/lib/node_modules/x/bin/x.js",
            "tool.sh",
            ".ssh",
        ] {
            fs::write(at(made), "").unwrap();
        }
        symlink(at(".local/share/claude/versions/2"), at(".local/bin/claude")).unwrap();
        symlink("../lib/node_modules/x/bin/x.js", at("nvm/bin/x")).unwrap();
        symlink("../tool.sh", at("bin/tool")).unwrap();
        symlink("../venv/bin/py", at("bin/py")).unwrap();
        symlink(at("Documents"), at("bin/notes")).unwrap();
        symlink("/usr/bin/env", at("bin/env")).unwrap();
        symlink("/nowhere/x", at("bin/gone")).unwrap();
        let text = [".local/bin", "nvm/bin", "bin", ""].map(|name| at(name).display().to_string()).join(":");
        let path = format!("{text}:/usr/bin:node_modules/.bin:/");
        let mut expect = [
            ".local/bin",
            ".local/share/claude/versions/2",
            "bin",
            "nvm/bin",
            "nvm/lib/node_modules",
            "tool.sh",
            "venv",
        ]
        .map(at);
        expect.sort();
        assert_eq!(visible(OsStr::new(&path), &[], std::slice::from_ref(&home)), expect);
    }

    #[test]
    fn a_program_by_its_path_is_visible() {
        let folder = tempfile::tempdir().unwrap();
        let home = real(folder.path());
        fs::write(home.join("agent"), "").unwrap();
        let program = home.join("agent");
        let found =
            visible(OsStr::new("/usr/bin"), std::slice::from_ref(&program), std::slice::from_ref(&home));
        assert_eq!(found, [program]);
    }
}
