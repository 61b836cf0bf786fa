//! Groups of commands, into which clap looks only when one of them is called: the others cost a start nothing.

use std::fmt;
use std::ops::Deref;

use clap::builder::Resettable;
use clap::{ArgMatches, Command, Error, FromArgMatches, Subcommand};

/// A command of a group.
pub struct CommandGroup<T>(pub T);

impl<T: Subcommand> Subcommand for CommandGroup<T> {
    fn augment_subcommands(group: Command) -> Command {
        group.defer(|group| with_own_help(group, T::augment_subcommands))
    }

    fn augment_subcommands_for_update(group: Command) -> Command {
        group.defer(|group| with_own_help(group, T::augment_subcommands_for_update))
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

/// Adds its commands to a group. The docs of their type are not the help of the group.
fn with_own_help(group: Command, add: fn(Command) -> Command) -> Command {
    let about = Resettable::from(group.get_about().cloned());
    let long_about = Resettable::from(group.get_long_about().cloned());
    add(group).about(about).long_about(long_about)
}

impl<T: FromArgMatches> FromArgMatches for CommandGroup<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(CommandGroup)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(CommandGroup)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches_mut(matches)
    }
}

impl<T> Deref for CommandGroup<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for CommandGroup<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
