//! The systems that a release is for, and whether it can be built for one here.

/// A system that a release has archives for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ReleaseTarget {
    #[value(name = "aarch64-apple-darwin")]
    MacArm,
    #[value(name = "aarch64-unknown-linux-musl")]
    LinuxArm,
    #[value(name = "x86_64-apple-darwin")]
    MacIntel,
    #[value(name = "x86_64-unknown-linux-musl")]
    LinuxIntel,
}

/// Tools of this machine that decide what can be built here.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuildTools {
    pub(super) is_mac: bool,
    pub(super) has_zigbuild: bool,
    /// True if the standard library for the target is installed.
    pub(super) has_library: bool,
}

impl ReleaseTarget {
    /// All of them, in the order of their names.
    pub(super) const ALL: [ReleaseTarget; 4] =
        [ReleaseTarget::MacArm, ReleaseTarget::LinuxArm, ReleaseTarget::MacIntel, ReleaseTarget::LinuxIntel];

    /// The compiler's name for it.
    pub(super) fn triple(self) -> &'static str {
        match self {
            ReleaseTarget::MacArm => "aarch64-apple-darwin",
            ReleaseTarget::LinuxArm => "aarch64-unknown-linux-musl",
            ReleaseTarget::MacIntel => "x86_64-apple-darwin",
            ReleaseTarget::LinuxIntel => "x86_64-unknown-linux-musl",
        }
    }

    /// True if programs for it are static, linked by zig.
    pub(super) fn is_static(self) -> bool {
        match self {
            ReleaseTarget::LinuxArm | ReleaseTarget::LinuxIntel => true,
            ReleaseTarget::MacArm | ReleaseTarget::MacIntel => false,
        }
    }

    /// The reason why it cannot be built with these tools, and what to do.
    pub(super) fn obstacle(self, tools: BuildTools) -> Option<String> {
        if !self.is_static() && !tools.is_mac {
            return Some("its archives are built on macOS, where Apple's frameworks are".to_owned());
        }
        if self.is_static() && !tools.has_zigbuild {
            let remedy = "`pip install cargo-zigbuild ziglang` installs it and zig";
            return Some(format!("`cargo-zigbuild` is not on PATH; {remedy}"));
        }
        let library = format!("its standard library is missing; `rustup target add {}`", self.triple());
        (!tools.has_library).then_some(library)
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn a_target_is_named_as_the_compiler_names_it() {
        for target in ReleaseTarget::ALL {
            assert_eq!(target.to_possible_value().unwrap().get_name(), target.triple());
        }
        assert_eq!(ReleaseTarget::value_variants(), ReleaseTarget::ALL);
    }

    #[test]
    fn a_target_without_its_tools_says_what_is_missing() {
        let all = BuildTools { is_mac: true, has_zigbuild: true, has_library: true };
        let reason = |target: ReleaseTarget, tools| target.obstacle(tools).unwrap_or_default();
        for target in ReleaseTarget::ALL {
            assert_eq!(target.obstacle(all), None);
            let without = BuildTools { has_library: false, ..all };
            assert!(reason(target, without).ends_with(&format!("`rustup target add {}`", target.triple())));
        }
        let linux = BuildTools { is_mac: false, ..all };
        assert!(reason(ReleaseTarget::MacArm, linux).contains("on macOS"));
        assert_eq!(ReleaseTarget::LinuxArm.obstacle(linux), None);
        let plain = BuildTools { has_zigbuild: false, ..all };
        assert!(reason(ReleaseTarget::LinuxIntel, plain).contains("pip install cargo-zigbuild"));
        assert_eq!(ReleaseTarget::MacIntel.obstacle(plain), None);
    }
}
