//! The wall around an agent: bubblewrap, and what it mounts.

mod bubblewrap;
mod filter;
mod home;
mod import;
pub mod inside;
mod objects;
mod profile;
mod programs;
mod proxy;
mod pump;
mod refs;
mod repository;
mod request;
mod settings;

pub use bubblewrap::Bubblewrap;
pub use home::{HomeSeed, make as make_home, make_points};
pub use import::{Import, ImportRules, MOST_PACKED};
pub use profile::{Mount, RUN, WallPlan};
pub use programs::visible;
pub use proxy::{Proxy, ProxyRules};
pub use repository::PrivateRepository;
