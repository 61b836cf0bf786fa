//! The wall around an agent: its level, its access to git and to the network, and a person's grants.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::Role;
use crate::hash::fnv1a;
use crate::host::HostPattern;

/// The confinement of agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Level {
    /// None but that of the harness itself.
    #[default]
    Off,
    /// Namespaces of its own, in which everything is invisible that is not granted.
    Wall,
}

/// The git repository of a walled agent, from the strictest access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum GitAccess {
    /// None at all.
    None,
    /// The project's, read-only.
    Read,
    /// A private one, whose branch is imported.
    #[default]
    Own,
}

/// The network of a walled agent, from the strictest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Network {
    /// None at all.
    None,
    /// The hosts of its harness.
    #[default]
    Model,
    /// The hosts of its harness and those that a person grants.
    Listed,
    /// Every host.
    Open,
}

/// The network that a person grants to the walls of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum NetworkGrant {
    /// The hosts of a list.
    #[default]
    Listed,
    /// Every host of the internet, and those of the list.
    Open,
}

/// The worktree of a walled agent, from the strictest access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum WorktreeAccess {
    /// Read-only, but for the requests of the agent.
    Read,
    /// Readable and writable.
    #[default]
    Write,
}

/// Demand of a workflow on the confinement of an agent. It never opens anything: of several demands, the strictest of each part holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Demand {
    /// The least level.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Level::is_off"))]
    pub level: Level,
    /// The most access to a git repository.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub git: Option<GitAccess>,
    /// The most access to the network.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub network: Option<Network>,
    /// The most access to the worktree.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub worktree: Option<WorktreeAccess>,
}

/// The confinement of one walled agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// Its git repository.
    pub git: GitAccess,
    /// Its network.
    pub network: Network,
    /// Its worktree.
    pub worktree: WorktreeAccess,
}

impl Confinement {
    /// The confinement of a walled agent of this role where no workflow says more.
    pub const fn usual(role: Role) -> Confinement {
        Confinement { git: GitAccess::of(role), network: Network::Listed, worktree: WorktreeAccess::Write }
    }
}

/// The openings that a person makes in the walls of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Grants {
    /// The most network.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::is_default"))]
    pub network: NetworkGrant,
    /// Paths that are readable.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub read: Vec<String>,
    /// Paths that are writable.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub write: Vec<String>,
    /// Variables of the environment.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub env: Vec<String>,
    /// Hosts, as `host:port`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub hosts: Vec<String>,
}

impl Level {
    /// Every level, from the weakest.
    pub const ALL: [Level; 2] = [Level::Off, Level::Wall];

    /// The word in settings and journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::Wall => "wall",
        }
    }

    /// The level of this word.
    pub fn parse(word: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.as_str() == word)
    }

    /// True if it confines nothing.
    pub const fn is_off(&self) -> bool {
        matches!(self, Level::Off)
    }
}

impl GitAccess {
    /// Every access, from the strictest.
    pub const ALL: [GitAccess; 3] = [GitAccess::None, GitAccess::Read, GitAccess::Own];

    /// Its word in workflows and journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            GitAccess::None => "none",
            GitAccess::Read => "read",
            GitAccess::Own => "own",
        }
    }

    /// The access of this word.
    pub fn parse(word: &str) -> Option<GitAccess> {
        GitAccess::ALL.into_iter().find(|it| it.as_str() == word)
    }

    /// The repository of agents of this role where no workflow says more.
    pub const fn of(role: Role) -> GitAccess {
        match role {
            Role::Worker => GitAccess::Own,
            Role::Reviewer => GitAccess::Read,
        }
    }
}

impl Network {
    /// Every network, from the strictest.
    pub const ALL: [Network; 4] = [Network::None, Network::Model, Network::Listed, Network::Open];

    /// Its word in workflows and journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Network::None => "none",
            Network::Model => "model",
            Network::Listed => "listed",
            Network::Open => "open",
        }
    }

    /// The network of this word.
    pub fn parse(word: &str) -> Option<Network> {
        Network::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

impl NetworkGrant {
    /// Every grant.
    pub const ALL: [NetworkGrant; 2] = [NetworkGrant::Listed, NetworkGrant::Open];

    /// Its word in settings.
    pub const fn as_str(self) -> &'static str {
        self.network().as_str()
    }

    /// The grant of this word.
    pub fn parse(word: &str) -> Option<NetworkGrant> {
        NetworkGrant::ALL.into_iter().find(|it| it.as_str() == word)
    }

    /// The network of agents and programs of which no workflow demands less.
    pub const fn network(self) -> Network {
        match self {
            NetworkGrant::Listed => Network::Listed,
            NetworkGrant::Open => Network::Open,
        }
    }
}

impl WorktreeAccess {
    /// Every access, from the strictest.
    pub const ALL: [WorktreeAccess; 2] = [WorktreeAccess::Read, WorktreeAccess::Write];

    /// Its word in workflows and journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            WorktreeAccess::Read => "read",
            WorktreeAccess::Write => "write",
        }
    }

    /// The access of this word.
    pub fn parse(word: &str) -> Option<WorktreeAccess> {
        WorktreeAccess::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

impl Demand {
    /// No demand at all.
    pub const NONE: Demand = Demand { level: Level::Off, git: None, network: None, worktree: None };

    /// True if it demands nothing.
    pub fn is_none(&self) -> bool {
        *self == Demand::NONE
    }

    /// The demand in words, as a workflow has it: `level: wall, git: read`. Empty without one.
    pub fn words(&self) -> String {
        let level = (!self.level.is_off()).then(|| format!("level: {}", self.level.as_str()));
        let git = self.git.map(|it| format!("git: {}", it.as_str()));
        let network = self.network.map(|it| format!("network: {}", it.as_str()));
        let worktree = self.worktree.map(|it| format!("worktree: {}", it.as_str()));
        [level, git, network, worktree].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The demand that meets both.
    pub fn and(self, other: Demand) -> Demand {
        Demand {
            level: self.level.max(other.level),
            git: strictest(self.git, other.git),
            network: strictest(self.network, other.network),
            worktree: strictest(self.worktree, other.worktree),
        }
    }

    /// The demand on programs that run what these agents write: the strictest level and network. An agent that only reads the worktree
    /// writes nothing that a program runs.
    pub fn on_programs(agents: impl IntoIterator<Item = Demand>) -> Demand {
        agents.into_iter().fold(Demand::NONE, |all, agent| {
            let network = agent.network.filter(|_| agent.worktree != Some(WorktreeAccess::Read));
            all.and(Demand { level: agent.level, network, ..Demand::NONE })
        })
    }

    /// The network of an agent or a program with this demand, where a person grants so much.
    pub fn network(self, granted: NetworkGrant) -> Network {
        let most = granted.network();
        self.network.unwrap_or(most).min(most)
    }

    /// The confinement of an agent of this role in a project with this level and grant; `None` where neither demands a wall.
    pub fn confinement(self, project: Level, granted: NetworkGrant, role: Role) -> Option<Confinement> {
        match self.level.max(project) {
            Level::Off => None,
            Level::Wall => {
                let usual = Confinement::usual(role);
                Some(Confinement {
                    git: self.git.unwrap_or(usual.git).min(usual.git),
                    network: self.network(granted),
                    worktree: self.worktree.unwrap_or(usual.worktree).min(usual.worktree),
                })
            }
        }
    }
}

fn strictest<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Grants {
    /// A short digest, equal for equal grants in the same order.
    pub fn digest(&self) -> u64 {
        let mut text = String::new();
        if self.network == NetworkGrant::Open {
            text.extend(["network\0", self.network.as_str(), "\n"]);
        }
        for (name, list) in
            [("read", &self.read), ("write", &self.write), ("env", &self.env), ("hosts", &self.hosts)]
        {
            for entry in list {
                text.extend([name, "\0", entry, "\n"]);
            }
        }
        fnv1a(text.bytes())
    }
}

/// Reason for which a text is not a host of a list; `None` if it is: `registry.npmjs.org:443`, `*.example.org:443`.
pub fn flaw_of_host(text: &str) -> Option<String> {
    let flaw = || {
        Some(format!(
            "`{text}` is not a host and a port, such as registry.npmjs.org:443 or *.example.org:443"
        ))
    };
    let Some((host, port)) = text.rsplit_once(':') else { return flaw() };
    let name = host.strip_prefix("*.").unwrap_or(host);
    let is_label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        !label.is_empty() && label.len() <= 63 && label.bytes().all(plain)
    };
    // `*.org` would be half the world.
    let is_wide = name.len() != host.len() && !name.contains('.');
    let is_port = port.parse::<u16>().is_ok_and(|number| number > 0 && !port.starts_with('+'));
    let is_host = host.starts_with('[') || name.len() <= 253 && name.split('.').all(is_label) && !is_wide;
    if is_port && is_host && HostPattern::parse(text).is_ok() { None } else { flaw() }
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;
    use alloc::vec;

    use super::*;

    #[test]
    fn a_level_has_a_word_and_walls_are_stricter() {
        for level in Level::ALL {
            assert_eq!(Level::parse(level.as_str()), Some(level));
        }
        assert!(Level::Wall > Level::Off && Level::parse("own").is_none());
    }

    #[test]
    fn the_strictest_of_every_part_holds() {
        let wall = |git, network| Demand { level: Level::Wall, git, network, ..Demand::NONE };
        let (read, none) = (Some(GitAccess::Read), Some(Network::None));
        let demands = [
            Demand::NONE,
            wall(None, None),
            wall(read, Some(Network::Model)),
            wall(Some(GitAccess::None), none),
            Demand { worktree: Some(WorktreeAccess::Read), ..Demand::NONE },
        ];
        for one in demands {
            assert_eq!((one.and(Demand::NONE), one.and(one)), (one, one));
            for other in demands {
                let both = one.and(other);
                assert_eq!(both, other.and(one));
                for (project, role) in [
                    (Level::Off, Role::Worker),
                    (Level::Wall, Role::Worker),
                    (Level::Off, Role::Reviewer),
                    (Level::Wall, Role::Reviewer),
                ] {
                    let of = |demand: Demand| {
                        let [listed, open] =
                            NetworkGrant::ALL.map(|it| demand.confinement(project, it, role));
                        assert!(
                            listed.is_none_or(|it| it.network <= Network::Listed),
                            "only a person opens it"
                        );
                        assert!(listed.zip(open).is_none_or(|(listed, open)| listed.network <= open.network));
                        open
                    };
                    for part in [one, other] {
                        let Some(part) = of(part) else { continue };
                        let both = of(both).unwrap();
                        assert!(both.git <= part.git && both.network <= part.network);
                        assert!(both.worktree <= part.worktree);
                    }
                }
            }
        }
        assert_eq!(wall(read, None).and(wall(None, none)), wall(read, none));
    }

    #[test]
    fn a_wall_stands_where_project_or_workflow_demands_it() {
        let wall = Demand { level: Level::Wall, ..Demand::NONE };
        let git = |demand: Demand, project, role| {
            demand.confinement(project, NetworkGrant::Listed, role).map(|it| it.git)
        };
        for (demand, project, role, expect) in [
            (Demand::NONE, Level::Off, Role::Worker, None),
            (Demand::NONE, Level::Wall, Role::Worker, Some(GitAccess::Own)),
            (Demand::NONE, Level::Wall, Role::Reviewer, Some(GitAccess::Read)),
            (wall, Level::Off, Role::Worker, Some(GitAccess::Own)),
            (wall, Level::Off, Role::Reviewer, Some(GitAccess::Read)),
            (Demand { git: Some(GitAccess::Own), ..wall }, Level::Off, Role::Reviewer, Some(GitAccess::Read)),
            (Demand { git: Some(GitAccess::None), ..wall }, Level::Off, Role::Worker, Some(GitAccess::None)),
            (Demand { git: Some(GitAccess::Read), ..Demand::NONE }, Level::Off, Role::Worker, None),
        ] {
            assert_eq!(git(demand, project, role), expect, "{demand:?} {project:?} {role:?}");
        }
        let network = |granted, network| {
            let confinement = Demand { network, ..wall }.confinement(Level::Off, granted, Role::Worker);
            confinement.map(|it| it.network)
        };
        let [listed, open] = NetworkGrant::ALL;
        assert_eq!(network(listed, None), Some(Network::Listed));
        assert_eq!(network(listed, Some(Network::Open)), Some(Network::Listed), "a workflow opens nothing");
        assert_eq!(network(open, None), Some(Network::Open));
        for granted in [listed, open] {
            for demand in [Network::None, Network::Model, Network::Listed] {
                assert_eq!(network(granted, Some(demand)), Some(demand));
            }
        }
    }

    #[test]
    fn a_program_has_no_more_network_than_who_wrote_it() {
        let agent = |network, worktree| Demand { level: Level::Wall, network, worktree, ..Demand::NONE };
        let on = |agents: &[Demand]| {
            let demand = Demand::on_programs(agents.iter().copied());
            assert_eq!((demand.git, demand.worktree), (None, None));
            (demand.level, demand.network(NetworkGrant::Open))
        };
        let (none, model) = (agent(Some(Network::None), None), agent(Some(Network::Model), None));
        let reader = agent(Some(Network::None), Some(WorktreeAccess::Read));
        assert_eq!(on(&[]), (Level::Off, Network::Open));
        assert_eq!(on(&[Demand::NONE]), (Level::Off, Network::Open));
        assert_eq!(on(&[Demand::NONE, agent(None, None)]), (Level::Wall, Network::Open));
        assert_eq!(on(&[agent(None, None), model]), (Level::Wall, Network::Model));
        assert_eq!(on(&[none, model]), (Level::Wall, Network::None));
        assert_eq!(on(&[reader, model]), (Level::Wall, Network::Model));
        assert_eq!(on(&[reader]), (Level::Wall, Network::Open));
    }

    #[test]
    fn a_host_has_a_port_and_no_more() {
        for good in ["api.anthropic.com:443", "*.example.net:8443", "localhost:1", "10.0.0.1:80", "[::1]:443"]
        {
            assert_eq!(flaw_of_host(good), None, "{good}");
        }
        for wrong in [
            "",
            ":",
            "a",
            "a:",
            "a:0",
            "a:65536",
            "a:+1",
            "*:443",
            "*.org:443",
            "a.*.b:1",
            "a..b:1",
            "https://a:443",
            "a b:1",
            "a/b:1",
            "u@a:1",
            "[::x]:443",
            "127.1:80",
            "a:1:2",
            "ä.de:1",
        ] {
            assert!(flaw_of_host(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn other_grants_have_another_digest() {
        let of = |read: &str, env: &str| {
            Grants { read: vec![read.to_owned()], env: vec![env.to_owned()], ..Grants::default() }.digest()
        };
        assert_eq!(of("a", "b"), of("a", "b"));
        assert_ne!(of("a", "b"), of("b", "a"));
        assert_ne!(Grants::default().digest(), of("", ""));
        let open = Grants { network: NetworkGrant::Open, ..Grants::default() };
        assert_ne!(Grants::default().digest(), open.digest());
        assert!(NetworkGrant::ALL.iter().all(|it| NetworkGrant::parse(it.as_str()) == Some(*it)));
    }
}
