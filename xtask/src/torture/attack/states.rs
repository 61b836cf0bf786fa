//! States in which agents, people and killed gits leave a worktree.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use super::super::plan::Dice;
use super::super::world::World;
use super::evidence::AttackEvidence;
use crate::Result;

/// Creates a state, and records every text that must not be lost. It skips what git refuses.
type State = fn(&AttackSite<'_>, &mut AttackEvidence) -> Result<()>;

/// A worktree, and the number of the next file.
struct AttackSite<'s> {
    world: &'s World,
    folder: &'s Path,
    number: u64,
}

const STATES: [(&str, State); 19] = [
    ("edited", edited),
    ("staged", staged),
    ("sparse", sparse),
    ("filtered", filtered),
    ("cherry picked", cherry_picked),
    ("rebased", rebased),
    ("merged", merged),
    ("with submodule", with_submodule),
    ("with repositories", with_repositories),
    ("hidden", hidden),
    ("stashed", stashed),
    ("detached", detached),
    ("special", special),
    ("with worktree", with_worktree),
    ("oddly named", oddly_named),
    ("crowded", crowded),
    ("without permissions", without_permissions),
    ("killed halfway", killed_halfway),
    ("large", large),
];

/// Puts a worktree into several of these states.
pub(super) fn confuse(
    world: &World,
    folder: &Path,
    dice: &mut Dice,
    evidence: &mut AttackEvidence,
) -> Result<()> {
    for _ in 0..=dice.below(4) {
        let number = dice.below(u64::MAX);
        let (name, make) = STATES[dice.below(STATES.len() as u64) as usize];
        make(&AttackSite { world, folder, number }, evidence)?;
        evidence.tell(name);
    }
    // Git commands fail after this.
    if dice.below(12) == 0 {
        evidence.tell("without an index");
        let own = world.git(folder, &["rev-parse", "--absolute-git-dir"])?;
        fs::write(Path::new(&own).join("index"), "none").map_err(|error| error.to_string())?;
        evidence.only_files();
    }
    evidence.leave_out_lost(world)
}

impl AttackSite<'_> {
    /// A new file name.
    fn name(&self, of: &str) -> String {
        format!("{of}-{:x}", self.number % 0xff_ffff)
    }

    /// Writes a unique text, which must not be lost.
    fn write(&self, evidence: &mut AttackEvidence, name: impl AsRef<OsStr>) -> Result<()> {
        let file = self.folder.join(name.as_ref());
        let text = format!("{} {:x} {}\n", file.display(), self.number, evidence.len());
        let above = file.parent().unwrap_or(self.folder);
        // A file may be at the path of a folder, or the reverse: then there is nothing to keep.
        if fs::create_dir_all(above).and_then(|()| fs::write(&file, &text)).is_ok() {
            evidence.note(file, self.number, text);
        }
        Ok(())
    }

    /// True if this git command succeeds.
    fn git(&self, words: &[&str]) -> bool {
        self.world.git(self.folder, words).is_ok()
    }

    fn commit(&self, evidence: &mut AttackEvidence, name: &str) -> Result<bool> {
        self.write(evidence, name)?;
        let is_done =
            self.git(&["add", "--", name]) && self.git(&["commit", "--quiet", "-m", name, "--", name]);
        if !is_done {
            evidence.only_last(&self.folder.join(name));
        }
        Ok(is_done)
    }

    /// Creates a branch whose three commits write the same file as one here; false if that is impossible.
    fn diverge(&self, evidence: &mut AttackEvidence, side: &str) -> Result<bool> {
        let here = self.world.git(self.folder, &["rev-parse", "HEAD"])?;
        let name = self.name("both");
        if !self.git(&["switch", "--quiet", "--create", side]) {
            return Ok(false);
        }
        for _ in 0..3 {
            self.commit(evidence, &name)?;
        }
        let mine = format!("{side}-mine");
        Ok(self.git(&["switch", "--quiet", "--create", &mine, &here]) && self.commit(evidence, &name)?)
    }

    /// True if an unfinished operation of git has come to this commit.
    fn stands_at(&self, name: &str, commit: &str) -> bool {
        let id = |name: &str| self.world.git(self.folder, &["rev-parse", "--verify", "--quiet", name]);
        id(name).is_ok_and(|found| id(commit).as_ref() == Ok(&found))
    }
}

fn edited(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    site.write(evidence, "readme")?;
    site.write(evidence, site.name("new"))?;
    site.write(evidence, format!("{}/{}", site.name("folder"), "below"))
}

fn staged(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let (name, intended) = (site.name("staged"), site.name("intended"));
    site.write(evidence, &name)?;
    if site.git(&["add", "--sparse", "--", &name]) {
        site.write(evidence, &name)?;
    }
    site.write(evidence, &intended)?;
    site.git(&["add", "--sparse", "--intent-to-add", "--", &intended]);
    Ok(())
}

fn sparse(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let mode = ["--cone", "--no-cone"][(site.number % 2) as usize];
    site.git(&["config", "extensions.worktreeConfig", "true"]);
    site.git(&["sparse-checkout", "set", mode, "inside"]);
    site.write(evidence, "outside/tracked")?;
    site.write(evidence, format!("outside/{}", site.name("new")))
}

fn filtered(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    site.git(&["config", "filter.broken.clean", "false"]);
    site.git(&["config", "filter.broken.required", "true"]);
    let name = site.name("filtered");
    fs::write(site.folder.join(".gitattributes"), format!("{name} filter=broken\n"))
        .map_err(|error| error.to_string())?;
    site.write(evidence, name)
}

fn cherry_picked(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let side = site.name("side");
    if site.diverge(evidence, &side)? {
        site.git(&["cherry-pick", &format!("{side}~2"), &format!("{side}~1"), &side]);
        // After another unfinished operation, only the branch has them.
        if site.stands_at("CHERRY_PICK_HEAD", &format!("{side}~2")) {
            site.git(&["branch", "--quiet", "-D", &side]);
        }
    }
    Ok(())
}

fn rebased(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let side = site.name("side");
    if site.diverge(evidence, &side)? {
        site.git(&["switch", "--quiet", "--detach"]);
        site.git(&["rebase", "--quiet", &side]);
        let mine = format!("{side}-mine");
        if site.stands_at("REBASE_HEAD", &mine) {
            site.git(&["branch", "--quiet", "-D", &mine]);
        }
    }
    Ok(())
}

fn merged(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let side = site.name("side");
    if site.diverge(evidence, &side)? {
        site.git(&["merge", "--quiet", &side]);
    }
    site.write(evidence, site.name("beside"))
}

fn with_submodule(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let (name, origin) = (site.name("module"), site.world.path("toy.git"));
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--force"];
    if site.git(&[&add[..], &[&origin.to_string_lossy(), &name]].concat()) {
        let inside = AttackSite { folder: &site.folder.join(name), ..*site };
        inside.commit(evidence, "committed")?;
        for _ in 0..2 {
            inside.write(evidence, "readme")?;
            if !inside.git(&["stash", "--quiet"]) {
                evidence.only_last(&inside.folder.join("readme"));
            }
        }
        inside.write(evidence, "dirty")?;
    }
    Ok(())
}

fn with_repositories(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    for commits in 0..2 {
        let name = format!("{}-{commits}", site.name("repository"));
        site.git(&["init", "--quiet", &name]);
        let inside = AttackSite { folder: &site.folder.join(name), ..*site };
        for _ in 0..commits {
            inside.commit(evidence, "committed")?;
        }
        inside.write(evidence, "loose")?;
    }
    Ok(())
}

fn hidden(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    site.git(&["update-index", "--assume-unchanged", "readme"]);
    site.git(&["update-index", "--skip-worktree", "inside/tracked"]);
    site.write(evidence, "readme")?;
    site.write(evidence, "inside/tracked")
}

fn stashed(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    site.write(evidence, site.name("stashed"))?;
    // By its commit, since later lives push other stashes onto it.
    if site.git(&["stash", "push", "--quiet", "--include-untracked"]) {
        let kept = format!("refs/heads/{}", site.name("stash"));
        site.git(&["update-ref", &kept, "refs/stash"]);
    }
    Ok(())
}

fn detached(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    site.git(&["switch", "--quiet", "--detach"]);
    site.commit(evidence, &site.name("detached")).map(drop)
}

fn special(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let (pipe, link) = (site.folder.join(site.name("pipe")), site.folder.join(site.name("link")));
    let made = Command::new("mkfifo").arg(pipe).status().map_err(|error| error.to_string())?;
    symlink("/", link).map_err(|error| error.to_string())?;
    if made.success() { site.write(evidence, site.name("beside")) } else { Err("no pipe can be made".into()) }
}

fn with_worktree(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let name = site.name("linked");
    if site.git(&["worktree", "add", "--quiet", "--detach", &name]) {
        site.git(&["worktree", "lock", &name]);
        let inside = AttackSite { folder: &site.folder.join(name), ..*site };
        inside.commit(evidence, "committed")?;
        inside.write(evidence, "dirty")?;
    }
    Ok(())
}

fn oddly_named(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let names: [&[u8]; 7] = [b"\xff\xfe", b"README", b"ReadMe", b"new\nline", b"-rf", b"git~1", b"\"'\\"];
    names.into_iter().try_for_each(|name| site.write(evidence, OsStr::from_bytes(name)))
}

fn crowded(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let folder = site.name("crowd");
    for number in 0..200 {
        site.write(evidence, format!("{folder}/{}/{number}", number % 9))?;
        let link = site.folder.join(format!("{folder}/{}/{number}.link", number % 9));
        symlink(number.to_string(), link).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn without_permissions(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let folder = site.name("closed");
    let file = format!("{folder}/file");
    site.write(evidence, &file)?;
    for (name, mode) in [(&file, 0o000), (&folder, 0o500)] {
        fs::set_permissions(site.folder.join(name), fs::Permissions::from_mode(mode))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn killed_halfway(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let own = site.world.git(site.folder, &["rev-parse", "--absolute-git-dir"])?;
    let name = ["rebase-merge", "rebase-apply", "sequencer"][(site.number % 3) as usize];
    // It exists during such an operation.
    fs::create_dir(Path::new(&own).join(name)).unwrap_or_default();
    site.write(evidence, site.name("halfway"))
}

fn large(site: &AttackSite<'_>, evidence: &mut AttackEvidence) -> Result<()> {
    let file = site.folder.join(site.name("large"));
    let text = format!("{:x}\n", site.number).repeat(400_000);
    fs::write(&file, &text).map_err(|error| error.to_string())?;
    evidence.note(file, site.number, text);
    Ok(())
}
