//! Messages to a person about what tasks and missions need. [`orange_core::notify`] decides what is sent, and when.

pub mod codes;
pub mod message;
pub mod notifier;
pub mod replies;
pub mod seen;
pub mod send;
pub mod sent;
pub mod settings;

pub use message::NeedMessage;
pub use notifier::Notifier;
pub use replies::PhoneReplies;
pub use send::send;
pub use sent::SentMessages;
pub use settings::Channel;
