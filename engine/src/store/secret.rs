//! The secret of a spawn, which its agent has in its environment.

use crate::Result;
use crate::store::{WorkItemDir, home};
use orange_system::files::if_found;
use orange_system::{atomic, nofollow};

/// The longest file that is read.
const LONGEST: u64 = 4096;

/// Creates the secret of a spawn, readable by its owner alone.
pub fn make(dir: &WorkItemDir, spawn: u32) -> Result<()> {
    let (secret, path) = (new()?, dir.secret(spawn));
    home::make_folder(path.parent().unwrap_or(&path))?;
    atomic::write(&path, secret.as_bytes())
}

/// The secret of a spawn; `None` after its end.
pub fn read(dir: &WorkItemDir, spawn: u32) -> Result<Option<String>> {
    let path = dir.secret(spawn);
    let secret = if_found(&path, nofollow::read(&path, LONGEST))?;
    Ok(secret.map(|secret| String::from_utf8_lossy(&secret).into_owned()))
}

/// Removes it after the end of the agent.
pub fn forget(dir: &WorkItemDir, spawn: u32) -> Result<()> {
    atomic::remove(&dir.secret(spawn))
}

/// 16 random bytes as hexadecimal digits.
pub fn new() -> Result<String> {
    Ok(format!("{:032x}", u128::from_be_bytes(orange_system::random::bytes()?)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::store::Home;

    #[test]
    fn a_secret_is_kept_for_its_owner_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let dir = Home::at(folder.path()).task("toy", "t1");
        assert_eq!(read(&dir, 1).unwrap(), None);
        let [secret, other] = [1, 2].map(|spawn| {
            make(&dir, spawn).unwrap();
            read(&dir, spawn).unwrap().unwrap()
        });
        assert!(secret.len() == 32 && secret != other);
        assert_eq!(fs::metadata(dir.secret(1)).unwrap().permissions().mode() & 0o777, 0o600);
        forget(&dir, 1).unwrap();
        forget(&dir, 1).unwrap();
        assert_eq!(read(&dir, 1).unwrap(), None);
    }
}
