//! The formula of a release for Homebrew.

use super::archive;
use super::target::ReleaseTarget;

/// The name of its file in a tap.
pub(super) const FORMULA: &str = "orange.rb";

/// Description of a release for the formula.
pub(super) struct Described<'d> {
    pub(super) version: &'d str,
    /// The address of the repository.
    pub(super) repository: &'d str,
    /// The sum of the archive for each target.
    pub(super) sums: &'d [(ReleaseTarget, String)],
}

/// The address of a file of a release.
pub(super) fn address(repository: &str, version: &str, file: &str) -> String {
    format!("{repository}/releases/download/v{version}/{file}")
}

/// The formula, or the targets without an archive.
pub(super) fn rendered(release: &Described<'_>) -> Result<String, Vec<&'static str>> {
    let missing: Vec<_> = ReleaseTarget::ALL
        .into_iter()
        .filter(|target| release.sums.iter().all(|(known, _)| known != target))
        .map(ReleaseTarget::triple)
        .collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let Described { version, repository, .. } = release;
    let on = |system: &str, arm, intel| {
        format!(
            "  on_{system} do\n    on_arm do\n{}    end\n    on_intel do\n{}    end\n  end\n",
            release.source(arm),
            release.source(intel)
        )
    };
    Ok(format!(
        "\
# This file is written by `cargo xtask release`.
class Orange < Formula
  desc \"Compiler and runner for workflows of coding agents\"
  homepage \"{repository}\"
  version \"{version}\"
  license any_of: [\"MIT\", \"Apache-2.0\"]

  depends_on \"tmux\"

{}{}
  def install
    bin.install Dir[\"bin/*\"]
    man1.install Dir[\"share/man/man1/*\"]
    bash_completion.install Dir[\"share/bash-completion/completions/*\"]
    zsh_completion.install Dir[\"share/zsh/site-functions/*\"]
    fish_completion.install Dir[\"share/fish/vendor_completions.d/*\"]
  end

  def caveats
    \"Run `orange setup` next.\"
  end

  test do
    assert_match version.to_s, shell_output(\"#{{bin}}/orange --version\")
  end
end
",
        on("linux", ReleaseTarget::LinuxArm, ReleaseTarget::LinuxIntel),
        on("macos", ReleaseTarget::MacArm, ReleaseTarget::MacIntel),
    ))
}

impl Described<'_> {
    /// The lines about one target's archive.
    fn source(&self, target: ReleaseTarget) -> String {
        let sum = self.sums.iter().find(|(known, _)| *known == target).map_or("", |(_, sum)| sum);
        let file = archive::name("orange", self.version, target.triple());
        let url = address(self.repository, self.version, &file);
        format!("      url \"{url}\"\n      sha256 \"{sum}\"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_has_each_archive_with_its_sum() {
        let sums = ReleaseTarget::ALL.map(|target| (target, archive::sum(target.triple().as_bytes())));
        let release =
            |sums| Described { version: "1.2.3", repository: "https://forge.example/o/orange", sums };
        let formula = rendered(&release(&sums)).unwrap();
        for (target, sum) in &sums {
            let lines = format!(
                "      url \"https://forge.example/o/orange/releases/download/v1.2.3/orange-1.2.3-{}.tar.gz\"\n      \
                 sha256 \"{sum}\"\n",
                target.triple()
            );
            assert_eq!(formula.matches(&lines).count(), 1, "{formula}");
        }
        let mac = formula.split_once("on_macos do").unwrap().1;
        assert!(mac.contains("apple-darwin") && !mac.contains("linux"), "{formula}");
        assert_eq!(formula.matches(" do\n").count() + 3, formula.matches("end\n").count(), "{formula}");
        assert_eq!(rendered(&release(&sums[1..])), Err(vec!["aarch64-apple-darwin"]));
    }
}
